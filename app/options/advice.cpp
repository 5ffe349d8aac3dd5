#include "options/advice.h"

#include <algorithm>
#include <string_view>

#include "options/shell_words.h"

namespace attnviz::app {

namespace {

constexpr std::string_view kModelOptions[] = {"-m", "--model", "-w", "--weights"};

bool takes_model(std::string_view word) {
  return std::ranges::find(kModelOptions, word) != std::end(kModelOptions);
}

// How many characters stand before a model's name in a word: 8 of "--model=out", 2 of "-mout".
std::size_t size_of_option(std::string_view word, std::string_view name) {
  const std::size_t size = word.size() - std::min(word.size(), name.size());
  const std::string_view option = word.substr(0, size);
  return word.ends_with(name) && (takes_model(option) || (option.ends_with('=') &&
                                                          takes_model(option.substr(0, size - 1))))
             ? size
             : 0;
}

}  // namespace

std::vector<std::string> OtherModelsError::lines(const std::vector<std::string>& words) const {
  std::vector<std::size_t> places;
  std::vector<std::size_t> texts;  // the same word elsewhere: `attnviz info out`
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == word_) {
      (i > 0 && takes_model(words[i - 1]) ? places : texts).push_back(i);
    } else if (size_of_option(words[i], word_) > 0) {
      places.push_back(i);
    }
  }
  if (places.empty() && !texts.empty()) {
    places.push_back(texts.front());
  }
  std::vector<std::string> lines;
  for (const std::string& other : others_) {
    std::string line = "attnviz";
    for (std::size_t i = 0; i < words.size(); ++i) {
      const bool is_replaced = std::ranges::find(places, i) != places.end();
      const std::size_t size = size_of_option(words[i], word_);
      line += ' ' + typed_word(is_replaced ? words[i].substr(0, size) + other : words[i]);
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace attnviz::app
