#include "options/shown_command.h"

#include <algorithm>
#include <array>

#include "options/shell_words.h"

namespace attnviz::app {

std::string computing_command(const std::string& name, const ParsedWords& parsed) {
  constexpr std::array kGroups = {"Input", "Model", "Attention", "Prediction"};
  constexpr std::array kDrawn = {"--lines", "--json-lines", "--query", "--predict",
                                 "--at",    "--layer",      "--head"};
  const bool has_own_texts = name == "render" || name == "diff";
  const bool has_own_name = has_own_texts || name == "rollout";
  const bool is_of_several = name == "rollout" || parsed.given.has("--average");
  const std::size_t n_drawn = kDrawn.size() - (is_of_several ? 2 : 0);  // heads make the pattern
  // Readers of such a page type texts, and none goes beside a file.
  const bool is_live = parsed.given.has("--live");
  std::string command = has_own_name ? "attnviz " + name : "attnviz";
  const bool has_dash = std::ranges::any_of(parsed.options, [](const auto& option) {
    return option.first->is_positional() && option.second.back().starts_with('-') &&
           option.second.back() != "-";
  });
  // What begins with a - would be an option.
  const char* const before = !has_dash ? "" : name == "diff" ? "--text=" : "./";
  for (const auto& [option, words] : parsed.options) {
    const std::string& own = option->names.back();
    if (option->is_positional()) {
      command += has_own_texts ? " " + shell_word(before + words.back()) : "";
    } else if (is_live && own == "--file") {
      continue;
    } else if (std::ranges::find(kGroups, option->group) != kGroups.end() &&
               std::find(kDrawn.begin(), kDrawn.begin() + n_drawn, own) ==
                   kDrawn.begin() + n_drawn) {
      const std::string shown =
          std::ranges::find(option->names, "-m") != option->names.end() ? "-m" : own;
      for (const std::string& word : words) {
        command += " " + shown + " " + shell_word(word);
      }
      command += option->is_flag() ? " " + shown : "";
    }
  }
  return command;
}

}  // namespace attnviz::app
