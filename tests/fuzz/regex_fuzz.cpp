// A line as a pattern of tokenizer.json, the rest as a text: it is refused with an Error, or finds
// matches that lie in the text one after the other, in a few seconds.

#include <algorithm>
#include <array>
#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/text/tokenizers/pre_tokenizers.h"
#include "attnviz/text/tokenizers/regex.h"
#include "fuzz/fuzz_checks.h"
#include "fuzz/fuzz_target.h"

namespace attnviz {

namespace {

using test::require;

void read(std::string_view input) {
  const std::size_t end = std::min(input.find('\n'), input.size());
  const std::string_view text = input.substr(std::min(end + 1, input.size()));
  try {
    std::size_t last = 0;
    for (const ByteRange& range : Regex(input.substr(0, end), "fuzz: ").find_all(text)) {
      require(last <= range.begin && range.begin <= range.end && range.end <= text.size());
      last = range.end;
    }
  } catch (const Error& error) {
    require(error.kind() == ErrorKind::kUnsupported);
    require(std::string_view(error.what()).starts_with("fuzz: "));
  }
}

}  // namespace

namespace test {

namespace {

template <std::size_t n>
std::string some_of(const std::array<const char*, n>& parts, std::mt19937& random) {
  std::string all;
  for (std::size_t left = 1 + random() % 20; left > 0; --left) {
    all += parts[random() % n];
  }
  return all;
}

// Closes all open brackets.
std::string closed(std::string_view pattern) {
  std::string all;
  std::size_t open = 0;
  for (const char c : pattern) {
    if (c != ')' || open > 0) {
      open += c == '(' ? 1 : 0;
      open -= c == ')' ? 1 : 0;
      all += c;
    }
  }
  return all + std::string(open, ')');
}

}  // namespace

// Patterns of known models, and constructs that make searches long or classes odd, combined at
// random.
std::vector<std::string> fuzz_seeds() {
  constexpr std::array kOfPatterns = {"a",
                                      "b",
                                      "é",
                                      "猫",
                                      ".",
                                      "\\p{L}",
                                      "\\p{^Lu}",
                                      "\\s",
                                      "\\S",
                                      "[^a]",
                                      "[[a-z]&&[^b]]",
                                      "[[:alpha:][:^punct:]]",
                                      "[é\\d]",
                                      "(a",
                                      "(?:b",
                                      "(?:\\s",
                                      "(?=a",
                                      "(?!é",
                                      "(?<=b",
                                      "(?<!a",
                                      "(?>\\p{L}",
                                      "(?i)a",
                                      "(?i:b",
                                      "|a",
                                      "|",
                                      "*",
                                      "+",
                                      "?",
                                      "+?",
                                      "*+",
                                      "{2,3}",
                                      "{300}",
                                      "{,9}",
                                      "{1000,}",
                                      "^",
                                      "$",
                                      "\\b",
                                      "\\G",
                                      "\\K",
                                      "(?<n>a)\\k<n>",
                                      "(a|b)\\1",
                                      "(?~ab)",
                                      "(b)?(?(1)a|é)",
                                      "\\X",
                                      "\\R",
                                      "\\x{4E00}",
                                      "\\u00e9",
                                      "(?#b)",
                                      "(?x) a",
                                      ")",
                                      ")",
                                      ")"};
  constexpr std::array kOfTexts = {"a",  "aaaaaaaaaaaaaaaa", "b",    "B1", " ",      "\n", "é",
                                   "猫", "e\u0301",          "\xFF", "'s", "\u200D", "x{"};
  std::mt19937 random(1);
  std::vector<std::string> seeds;
  for (const std::string& name : split_pattern_names()) {
    for (const char* pattern : find_split_pattern(name)->patterns) {
      seeds.push_back(std::string(pattern) + '\n' + some_of(kOfTexts, random));
    }
  }
  for (int i = 0; i < 2000; ++i) {
    seeds.push_back(closed("a" + some_of(kOfPatterns, random)) + '\n' + some_of(kOfTexts, random));
  }
  return seeds;
}

void fuzz_input(std::string_view bytes) {
  read(bytes);
}

}  // namespace test

}  // namespace attnviz
