#include "attnviz/text/tokenizers/pre_tokenizers.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "attnviz/text/tokenizers/aligned_text.h"
#include "attnviz/text/tokenizers/byte_level.h"
#include "support/json.h"

namespace attnviz {
namespace {

// The words of a text, one character per byte.
std::vector<std::string> cut(std::string_view name, std::string_view text) {
  const SplitPattern* pattern = find_split_pattern(name);
  REQUIRE(pattern != nullptr);
  WordCut cut{AlignedText(text, 0), {{0, text.size()}}};
  byte_level_words (*pattern)(cut);
  std::vector<std::string> words;
  words.reserve(cut.words.size());
  for (const ByteRange& word : cut.words) {
    words.emplace_back(cut.text.text(word));
  }
  return words;
}

}  // namespace

TEST_CASE("every split pattern compiles, and loses no text") {
  const std::string text = "It's 1234 déjà-vu,\n\n  l'Été HelloWorld \t 你好 x ";
  std::string whole;
  for (const std::string& word : cut("gpt-2", text)) {
    whole += word;
  }
  for (const std::string& name : split_pattern_names()) {
    CAPTURE(name);
    std::string joined;
    for (const std::string& word : cut(name, text)) {
      joined += word;
    }
    CHECK(joined == whole);
  }
}

TEST_CASE("split patterns, each where it differs from the others") {
  using Words = std::vector<std::string>;
  CHECK(cut("gpt-2", "It's 1234") == Words{"It", "'s", "Ġ1234"});
  CHECK(cut("llama-bpe", "IT'S 1234") == Words{"IT", "'S", "Ġ", "123", "4"});
  CHECK(cut("qwen2", "(a) 12") == Words{"(a", ")", "Ġ", "1", "2"});
  CHECK(cut("smollm", " 12a") == Words{"Ġ", "1", "2", "a"});
  CHECK(cut("gpt-4o", "HelloWorld's 1234") == Words{"Hello", "World's", "Ġ", "123", "4"});
  CHECK(cut("tekken", "HelloWorld 12") == Words{"Hello", "World", "Ġ", "1", "2"});
  CHECK(cut("deepseek-v3", "a.b 1234") == Words{"a", ".b", "Ġ", "123", "4"});
  CHECK(cut("deepseek-coder", "a\n\n12") == Words{"a", "Ċ", "Ċ", "1", "2"});
  CHECK(cut("falcon", "a==12345") == Words{"a", "==", "123", "45"});
  CHECK(cut("bloom", "a, b") == Words{"a", ",", "Ġb"});
  CHECK(cut("seed-coder", "a;\n1") == Words{"a", ";", "Ċ", "1"});
  CHECK(cut("default", "a<1234") == Words{"a", "<", "123", "4"});
  CHECK(cut("exaone-moe", "ab cd12;\n") == Words{"abĠcd", "1", "2", ";Ċ"});
}

// Made by tests/reference/split_patterns.py, which runs the models' own patterns.
TEST_CASE("kimi-k2, youtu, tiny_aya and superbpe split texts like the models' own patterns") {
  const auto reference = test::read_json(ATTNVIZ_SOURCE_DIR "/tests/reference/split_patterns.json");
  for (const auto& [name, splits] : reference["splits"].items()) {
    const SplitPattern* const pattern = find_split_pattern(name);
    REQUIRE(pattern != nullptr);
    for (std::size_t i = 0; i < splits.size(); ++i) {
      const std::string text = reference["texts"][i];
      const std::string& model = name;
      CAPTURE(model);
      CAPTURE(text);
      WordCut cut{AlignedText(text, 0), {{0, text.size()}}};
      byte_level_words (*pattern)(cut);
      std::vector<std::string> words;
      for (const ByteRange& word : cut.words) {
        const ByteRange source = cut.text.source(word);
        words.push_back(text.substr(source.begin, source.size()));
      }
      CHECK(words == splits[i].get<std::vector<std::string>>());
    }
  }
  CHECK(find_split_pattern("cohere2moe")->patterns.data() ==
        find_split_pattern("tiny_aya")->patterns.data());
}

}  // namespace attnviz
