// What is said of the commands: by --help, and in the manual page.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "options/command_line.h"
#include "options/option_parser.h"

namespace attnviz::app {

/// Help of the command `name`, lines of at most 80 columns, examples first. The first of `commands`
/// also lists the others.
std::string help_text(const std::vector<CommandDescription>& commands, std::string_view name);

/// At most 24 lines of at most 80 columns: how the command is used, and its most used options.
std::string short_help(const std::vector<CommandDescription>& commands, std::string_view name);

/// attnviz(1) in man(7) markup. `date` is YYYY-MM-DD.
std::string man_page(const std::vector<CommandDescription>& commands, std::string_view version,
                     std::string_view date);

// What a shell can propose, made from the option definitions: the program says it, and a few lines
// in each shell's language ask for it.

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
