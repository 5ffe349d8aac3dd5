// Shell completions, made from the option definitions. The first command is the default one. What a
// shell can propose behind an option, of how it is defined.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "options/command_line.h"
#include "options/option_parser.h"

namespace attnviz::app {

/// All of these that apply are proposed.
struct CompletionValues {
  std::vector<std::string>
      words;  // "causal", "window:": behind the latter something is to be typed
  bool files = false;
  bool models = false;  // their names, which the program knows
  bool tokens = false;  // words of the text that stands on the line

  bool operator==(const CompletionValues&) const = default;
  bool empty() const noexcept { return words.empty() && !files && !models && !tokens; }
};

/// Of an option's value, or of a positional argument. What stands for something ("TOKEN", "N") is
/// none of the words.
CompletionValues completion_values(const OptionSpec& option);

/// Whether `word` ends in what a value follows.
inline bool is_open_ended(std::string_view word) noexcept {
  return word.ends_with(':') || word.ends_with('=');
}

/// `text` for single quotes, with `quote_inside` for those in it.
std::string in_single_quotes(std::string_view text, std::string_view quote_inside);

/// With a space between them.
std::string names_of_commands(const std::vector<CommandDescription>& commands);

/// The words of a text that a token can be named by, once each; one that comes again as "cat#2",
/// too. Words that a shell would not take as they are stay away.
std::vector<std::string> token_words(std::string_view text);

std::string bash_completion(const std::vector<CommandDescription>& commands);
std::string zsh_completion(const std::vector<CommandDescription>& commands);
std::string fish_completion(const std::vector<CommandDescription>& commands);

}  // namespace attnviz::app
