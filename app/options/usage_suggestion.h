// A command line that makes no sense: what it is to be, where that is near.
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

/// What was typed, taken apart; all of it must outlive this.
struct TypedLine {
  std::string command;  // empty: none, which is the default one
  const OptionList& options;
  const ParsedWords& parsed;
  const std::vector<std::string>& commands;  // their names
};

/// Throws Error{kUsage} for a line with more than one TEXT, with the line to type: a model goes
/// behind -m, the command comes first, options go before --, two sentences are compared by diff,
/// and a sentence is quoted.
[[noreturn]] void fail_two_texts(const TypedLine& line, const NamesModel& names_model);

/// Throws Error{kUsage} for a line of one word that is a command's name and an s: "lessons".
void check_lone_word(const TypedLine& line);

}  // namespace attnviz::app
