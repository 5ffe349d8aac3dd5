#include "options/usage_suggestion.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "attnviz/core/choices.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "options/option_definitions.h"
#include "options/shell_words.h"

namespace attnviz::app {

namespace {

using Words = std::vector<std::string>;

bool has_space(const std::string& word) {
  return word.find(' ') != std::string::npos;
}

// A line to copy. Texts that would be read as options, or as the command, go behind --.
std::string line_of(const TypedLine& line, const Words& before, const Words& texts) {
  std::string typed = "attnviz";
  const auto add = [&typed](const std::string& word) { typed += ' ' + typed_word(word); };
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

Words texts_of(const TypedLine& line) {
  Words texts;
  for (const char* name : {kText, kSecondText}) {
    if (line.parsed.given.has(name)) {
      texts.push_back(line.parsed.given.word(name));
    }
  }
  texts.insert(texts.end(), line.parsed.extras.begin(), line.parsed.extras.end());
  return texts;
}

// What was meant, and the line to type.
Advice meant(const TypedLine& line, const NamesModel& names_model) {
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
      return {"; -m takes a model",
              {line_of(line, before, {fmt::format("{}", fmt::join(others, " "))})}};
    }
  }
  for (const std::string& text : texts) {
    if (text.starts_with('-') && line.options.find(text.substr(0, text.find('='))) != nullptr) {
      return {fmt::format("; behind -- {} is a text: options go before --", text)};
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
          {line_of(line, command, {fmt::format("{}", fmt::join(texts, " "))})}};
}

}  // namespace

void fail_two_texts(const TypedLine& line, const NamesModel& names_model) {
  const Words texts = texts_of(line);
  Advice advice = meant(line, names_model);
  advice.message =
      fmt::format("more than one TEXT, {} and {}{}{}", attnviz::quoted(texts[0]),
                  attnviz::quoted(texts[1]), advice.message, advice.lines.empty() ? "" : ":");
  throw AdviceError(ErrorKind::kUsage, std::move(advice));
}

void check_lone_word(const TypedLine& line) {
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

}  // namespace attnviz::app
