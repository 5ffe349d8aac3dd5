// A command line with a word that nothing takes: which one was probably meant, to be typed as it
// is.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "options/advice.h"
#include "options/option_parser.h"

namespace attnviz::app {

/// Whether a word names a model, on this machine or among those that many people know.
/// `beside_sentence`: what stands next to it can only be the text, so that names that are words of
/// a language, too, count.
using NamesModel = std::function<bool(const std::string& word, bool beside_sentence)>;

/// A command's name, and its options as they are to be read: made when they are asked for, which
/// only mistaken lines do.
struct KnownCommand {
  std::string name;
  std::function<void(OptionList&)> define;

  OptionList options() const {
    OptionList list;
    define(list);
    return list;
  }
};

/// What was typed, taken apart; all of it must outlive this.
struct TypedLine {
  std::string command;  // empty: none, which is the default one
  const OptionList& options;
  const ParsedWords& parsed;
  const std::vector<KnownCommand>& commands;  // the default one first
};

/// Throws Error{kUsage} that says what more than one TEXT was probably meant as, each time with the
/// line to type.
[[noreturn]] void fail_two_texts(const TypedLine& line, const NamesModel& names_model);

/// Throws Error{kUsage} for a line of more words than are taken, options among those behind "--",
/// with the line to type: all of them in front of it. `words` are those behind the command.
void check_options_in_front(const TypedLine& line, const std::vector<std::string>& words);

/// Throws Error{kUsage} for a line of one word that is a command's name and an s: "lessons".
void check_lone_word(const TypedLine& line);

/// Sizes of random weights where a choice of heads was meant: throws Error{kUsage} with the line to
/// type for one beside a model, and for one that is no size but such a choice.
void check_sizes_meant(const TypedLine& line);

/// The same of a size alone, which makes random weights: what chooses among the heads of the
/// embedded model, with the line to type; empty for all others.
Advice choice_meant(const TypedLine& line);

}  // namespace attnviz::app
