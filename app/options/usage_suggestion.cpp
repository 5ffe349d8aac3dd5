#include "options/command_line.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "attnviz/core/choices.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "options/advice.h"
#include "options/option_groups.h"

namespace attnviz::app {

namespace {

using Words = std::vector<std::string>;

bool has_space(const std::string& word) {
  return word.find(' ') != std::string::npos;
}

// A line to copy. Texts that would be read as options or as the command go after --.
std::string line_of(const CommandLineWords& line, const Words& before, const Words& texts) {
  std::string typed = "attnviz";
  const auto add = [&typed](const std::string& word) { typed += ' ' + shell_quoted(word); };
  std::ranges::for_each(before, add);
  if (std::ranges::any_of(texts, [&](const std::string& text) {
        return (text.starts_with('-') && text != "-") ||
               (before.empty() && std::ranges::count(line.commands, text) > 0);
      })) {
    add("--");
  }
  std::ranges::for_each(texts, add);
  return typed;
}

Words texts_of(const CommandLineWords& line) {
  Words texts;
  for (const char* name : {kText, kSecondText}) {
    if (line.parsed.given.has(name)) {
      texts.push_back(line.parsed.given.word(name));
    }
  }
  texts.insert(texts.end(), line.parsed.extras.begin(), line.parsed.extras.end());
  return texts;
}

// The probable intention, and the line to type.
Advice meant(const CommandLineWords& line, const NamesModel& names_model) {
  const Words texts = texts_of(line);
  const Words command = line.command.empty() ? Words() : Words{line.command};
  const bool takes_model =
      line.options.find("--model") != nullptr && !line.parsed.given.has("--model");
  for (const bool is_first : {true, false}) {
    const std::string& word = is_first ? texts.front() : texts.back();
    const Words others(texts.begin() + (is_first ? 1 : 0), texts.end() - (is_first ? 0 : 1));
    const bool is_beside = others.size() == 1 && has_space(others.front());
    if (takes_model && !has_space(word) && (is_first || is_beside) &&
        names_model(word, is_beside)) {
      Words before = command;
      before.insert(before.end(), {"-m", word});
      return {"; -m takes a model", {line_of(line, before, {joined_by(others, " ")})}};
    }
  }
  for (const std::string& text : texts) {
    if (text.starts_with('-') && line.options.find(text.substr(0, text.find('='))) != nullptr) {
      return {fmt::format("; after --, {} is read as a text: put options before --", text)};
    }
  }
  if (texts.size() == 2 && std::ranges::count(line.commands, texts.back()) > 0) {
    return {"; the command comes first", {line_of(line, {texts.back()}, {texts.front()})}};
  }
  if (texts.size() == 2 && std::ranges::all_of(texts, has_space)) {
    return {"; to compare them", {line_of(line, {"diff"}, texts)}};
  }
  const std::string near = command.empty() ? did_you_mean(texts.front(), line.commands) : "";
  const std::string option = "--" + texts.front();
  return {near + (line.options.find(option) != nullptr ? fmt::format(" ({} is an option)", option)
                                                       : "; quote the sentence"),
          {line_of(line, command, {joined_by(texts, " ")})}};
}

constexpr std::string_view kWordCharacters = "abcdefghijklmnopqrstuvwxyz_";

// "--d-model" for d_model, "--heads" for n_heads.
std::string option_of(std::string_view parameter) {
  std::string option(parameter.substr(parameter.starts_with("n_") ? 2 : 0));
  std::ranges::replace(option, '_', '-');
  return "--" + option;
}

}  // namespace

void fail_two_texts(const CommandLineWords& line, const NamesModel& names_model) {
  const Words texts = texts_of(line);
  Advice advice = meant(line, names_model);
  advice.message =
      fmt::format("more than one TEXT, {} and {}{}{}", in_quotes(texts[0]), in_quotes(texts[1]),
                  advice.message, advice.lines.empty() ? "" : ":");
  throw AdviceError(ErrorKind::kUsage, std::move(advice));
}

void check_lone_word(const CommandLineWords& line) {
  const Words texts = texts_of(line);
  if (!line.command.empty() || texts.size() != 1) {
    return;
  }
  for (const std::string& command : line.commands) {
    if (texts.front() == command + "s") {
      throw AdviceError(ErrorKind::kUsage,
                        {fmt::format("{} is not a command (did you mean attnviz {}?); as a text:",
                                     texts.front(), command),
                         {line_of(line, {"show"}, texts)}});
    }
  }
}

namespace {

// Whether a terminal could interpret it or does not show it literally.
bool is_hidden(std::string_view text) {
  return printable_line(text) != text;
}

// Words that begin with = or % need quotes: zsh expands =ls, fish %self.
bool is_plain(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,@%+-";
  return !word.empty() && word.front() != '=' && word.front() != '%' &&
         word.find_first_not_of(kPlain) == std::string_view::npos;
}

// Quotes and backslashes go outside the single quotes: inside, shells read them differently.
std::string in_single_quotes(std::string_view word) {
  std::string quoted;
  bool is_open = false;
  for (const char byte : word) {
    if (const bool is_bare = byte == '\'' || byte == '\\'; is_bare == is_open) {
      quoted += '\'';
      is_open = !is_open;
    }
    quoted += byte == '\'' ? "\"'\"" : byte == '\\' ? "\\\\" : std::string(1, byte);
  }
  return quoted.empty() ? "''" : is_open ? quoted + '\'' : quoted;
}

// Writes bytes that a terminal, printf or a shell could interpret in octal.
std::string printed(std::string_view word) {
  // Before version 5, bash expands ! here too; fish has its own rules for $ in double quotes.
  constexpr std::string_view kRead = "'\\!$`\"()";
  std::string format;
  for (const std::string_view sign : grapheme_clusters(word)) {
    const bool is_escaped = is_hidden(sign);
    for (const char byte : sign) {  // a combining mark may follow a quote
      const bool is_option = format.empty() && byte == '-';
      if (is_escaped || is_option || kRead.find(byte) != kRead.npos) {
        format += fmt::format("\\{:03o}", static_cast<unsigned char>(byte));
      } else {
        format += byte == '%' ? "%%" : std::string(1, byte);
      }
    }
  }
  return "\"$(printf '" + format + "')\"";
}

}  // namespace

std::string shell_word(const std::string& word) {
  if (is_plain(word)) {
    return word;
  }
  if (!is_hidden(word)) {
    return in_single_quotes(word);
  }
  // Shells strip line feeds from the end of the output of $(…).
  const std::size_t end = word.find_last_not_of('\n') + 1;
  return (end > 0 ? printed(std::string_view(word).substr(0, end)) : std::string()) +
         (end < word.size() ? '\'' + word.substr(end) + '\'' : std::string());
}

std::string shell_quoted(const std::string& word) {
  constexpr std::string_view kSpecial = "\"\\$`!";  // special to a shell even in double quotes
  const bool is_simple = word.find_first_of(kSpecial) == std::string::npos && !is_hidden(word);
  return is_simple && !is_plain(word) ? '"' + word + '"' : shell_word(word);
}

std::string computing_command(std::string_view name, const ParsedWords& parsed) {
  constexpr std::array kGroups = {"Input", "Model", "Attention", "Prediction"};
  constexpr std::array kDrawn = {"--lines", "--json-lines", "--query", "--predict",
                                 "--at",    "--layer",      "--head"};
  const bool has_own_texts = name == "render" || name == "diff";
  const bool has_own_name = has_own_texts || name == "rollout";
  const bool is_of_several = name == "rollout" || parsed.given.has("--average");
  const std::size_t n_drawn = kDrawn.size() - (is_of_several ? 2 : 0);  // heads make the pattern
  // Readers of a live page type their own texts, which exclude a file.
  const bool is_live = parsed.given.has("--live");
  std::string command = has_own_name ? fmt::format("attnviz {}", name) : "attnviz";
  const bool has_dash = std::ranges::any_of(parsed.options, [](const auto& option) {
    return option.first->is_positional() && option.second.back().starts_with('-') &&
           option.second.back() != "-";
  });
  // A word that begins with - would be read as an option.
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

std::string in_option_names(std::string message, std::string_view parameter) {
  if (parameter.empty() || message.empty()) {
    return message;
  }
  const std::vector<CommandDescription> commands = describe_commands();
  const auto is_option = [&commands](const std::string& name) {
    return std::ranges::any_of(commands, [&name](const CommandDescription& command) {
      return std::ranges::any_of(command.options, [&name](const OptionSpec& option) {
        return std::ranges::find(option.names, name) != option.names.end();
      });
    });
  };
  // The first word may be the parameter; elsewhere its name is an ordinary word, unless it has an
  // underscore.
  for (std::size_t begin = 0; begin < message.size();) {
    const std::size_t end =
        std::min(message.find_first_not_of(kWordCharacters, begin), message.size());
    const std::string word = message.substr(begin, end - begin);
    const std::string option = option_of(word);
    const bool is_parameter = begin == 0 ? word == parameter : word.find('_') != std::string::npos;
    if (is_parameter && is_option(option)) {
      message.replace(begin, word.size(), option);
      begin += option.size();
    } else {
      begin = std::max(end, begin + 1);
    }
  }
  std::vector<std::string> to_type;
  for (const CommandDescription& command : commands) {
    for (const OptionSpec& option : command.options) {
      for (const auto& [about, words] : option.parameters) {
        if (about == parameter && message.find(words) == std::string::npos &&
            std::ranges::find(to_type, words) == to_type.end()) {
          to_type.push_back(words);
        }
      }
    }
  }
  return to_type.empty() ? message : fmt::format("{} ({})", message, joined_by(to_type, ", "));
}

}  // namespace attnviz::app
