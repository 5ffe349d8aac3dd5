// Stages against Hugging Face's own tokenizers: tests/reference/tokenizer_stages.mjs.
#include <doctest/doctest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "attnviz/formats/json_tree.h"
#include "attnviz/text/files/load_tokenizer.h"
#include "attnviz/text/files/stages_json.h"
#include "attnviz/text/tokenizers/pre_tokenizers.h"
#include "attnviz/text/tokenizers/regex.h"
#include "support/json.h"
#include "text/stage_runs.h"

namespace attnviz {
namespace {

using nlohmann::json;

const std::string kPieceModels = ATTNVIZ_SOURCE_DIR "/tests/reference/sentencepiece/";

const json& cases() {
  static const json read = [] {
    const char* const other = std::getenv("ATTNVIZ_TOKENIZER_STAGES");  // a longer list, by hand
    return test::read_json(
        other != nullptr ? other : ATTNVIZ_SOURCE_DIR "/tests/reference/tokenizer_stages.json");
  }();
  return read;
}

json ids(const Tokenizer& tokenizer, const std::string& text, bool parse_special) {
  TokenizeOptions options;
  options.add_special_tokens = false;
  options.parse_special = parse_special;
  json out = json::array();
  for (const Token& token : tokenizer.tokenize(text, options).tokens) {
    out.push_back(token.id);
  }
  return out;
}

json ids(const json& tokenizer, const std::string& text) {
  const std::string bytes = tokenizer.dump();
  return ids(*load_tokenizer({bytes, "tokenizer.json"}, {"{}", "tokenizer_config.json"}), text,
             true);
}

json made(const json& one, const std::string& text) {
  if (one.contains("normalizer")) {
    return test::normalized(one["normalizer"].dump(), text);
  }
  return one.contains("pre_tokenizer") ? json(test::words(one["pre_tokenizer"].dump(), text))
                                       : ids(one["tokenizer"], text);
}

}  // namespace

TEST_CASE("patterns of known models match the same when their steps are counted") {
  std::vector<std::string> texts;
  for (const json& one : cases()) {
    for (const json& text : one["texts"]) {
      texts.push_back(text);
    }
  }
  for (const std::string& name : split_pattern_names()) {
    for (const char* pattern : find_split_pattern(name)->patterns) {
      CAPTURE(pattern);
      const Regex known(pattern, "");
      const Regex other("(?:" + std::string(pattern) + ")", "");
      for (const std::string& text : texts) {
        CAPTURE(text);
        CHECK((known.find_all(text) == other.find_all(text)));
      }
    }
  }
}

TEST_CASE("stages agree with the Rust tokenizers on random texts in twenty scripts") {
  REQUIRE(cases().size() > 50);
  for (const json& one : cases()) {
    json stage = one;
    stage.erase("texts");
    stage.erase("expected");
    CAPTURE(stage.dump());
    for (std::size_t i = 0; i < one["texts"].size(); ++i) {
      const auto text = one["texts"][i].get<std::string>();
      CAPTURE(text);
      CHECK(made(one, text).dump() == one["expected"][i].dump());
    }
  }
}

TEST_CASE("SentencePiece models agree with SentencePiece on random texts") {
  for (const json& one : test::read_json(kPieceModels + "cases.json")) {
    const auto model = one["model"].get<std::string>();
    CAPTURE(model);
    const auto tokenizer = load_tokenizer(kPieceModels + model);
    for (std::size_t i = 0; i < one["texts"].size(); ++i) {
      const auto text = one["texts"][i].get<std::string>();
      CAPTURE(text);
      CHECK(ids(*tokenizer, text, false).dump() == one["expected"][i].dump());
    }
  }
}

}  // namespace attnviz
