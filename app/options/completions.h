// What a shell can propose, made from the option definitions: the program says it, and a few lines
// in each shell's language ask for it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "options/command_line.h"
#include "options/option_parser.h"

namespace attnviz::app {

/// A line with a word to complete.
struct CompletedLine {
  std::string word = {};
  std::string before = {};  // the word before it
  std::string text = {};    // TEXT, if there is one
  bool is_first = false;    // of the line: it may be a command
};

/// Candidates, a line each, whether or not they fit what was typed of the word: some with a
/// tabulator and a description; "<models>" and "<files>" stand for those that the shell looks for.
std::string completion_lines(const std::vector<CommandDescription>& commands,
                             const OptionList& options, const CompletedLine& line);

extern const char* const kBashCompletion;
extern const char* const kZshCompletion;
extern const char* const kFishCompletion;

}  // namespace attnviz::app
