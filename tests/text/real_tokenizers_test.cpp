// Tokenizers of real models against the ids that other projects' tests expect.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/text/files/load_tokenizer.h"
#include "support/json.h"

namespace attnviz {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Ids = std::vector<TokenId>;

const fs::path kReference = fs::path(ATTNVIZ_SOURCE_DIR) / "../shared/reference";

bool is_missing(const std::string& what) {
  if (fs::exists(kReference / what)) {
    return false;
  }
  MESSAGE("SKIPPED: no ../shared/reference/" << what);
  return true;
}

struct Suite {
  const char* suite;
  const char* name;
  const char* file;  // in tok/
  bool add_special_tokens;
};

constexpr Suite kSuites[] = {
    {"transformers_js", "Xenova/gpt2", "gpt2", true},
    {"transformers_js", "Xenova/llama-tokenizer", "llama2", true},
    {"transformers_js", "Xenova/llama3-tokenizer", "llama3", false},
    {"transformers_js", "Xenova/llama3-tokenizer-new", "llama3", true},
    {"transformers_js", "Xenova/Qwen1.5-0.5B-Chat", "qwen2", true},
    {"transformers_js", "Xenova/bert-base-uncased", "bert-uncased", true},
    {"llama_cpp", "gpt-2", "gpt2", false},
    {"llama_cpp", "llama-spm", "llama2", false},
    {"llama_cpp", "llama-bpe", "llama3", false},
    {"llama_cpp", "qwen2", "qwen2", false},
    {"llama_cpp", "bert-bge", "bert-uncased", false},
};

// Every case of one suite with one tokenizer; special tokens in a text are parsed as in
// transformers.
void check_suite(const Json& expected, const Suite& suite, const fs::path& file) {
  const auto tokenizer = load_tokenizer(file);
  std::size_t n_cases = 0;
  for (const Json& item : expected.at(suite.suite).at(suite.name)) {
    const std::string text = item.at("text");
    CAPTURE(file.string());
    CAPTURE(suite.name);
    CAPTURE(text);
    TokenizeOptions options;
    options.add_special_tokens = suite.add_special_tokens;
    options.parse_special = std::string_view(suite.suite) == "transformers_js";
    std::string second;
    if (item.contains("text_pair") && !item.at("text_pair").is_null()) {
      second = item.at("text_pair");
      options.pair = second;
    }
    CHECK(tokenizer->tokenize(text, options).ids() == item.at("ids").get<Ids>());
    ++n_cases;
  }
  CHECK(n_cases >= 25);
}

}  // namespace

TEST_CASE("real tokenizers give the ids that transformers.js and llama.cpp expect") {
  if (is_missing("tok/expected.json")) {
    return;
  }
  const Json expected = test::read_json(kReference / "tok/expected.json");
  std::size_t n_suites = 0;
  for (const auto& [name, suites] : expected.items()) {
    n_suites += suites.size();
  }
  CHECK(n_suites == std::size(kSuites));
  for (const Suite& suite : kSuites) {
    check_suite(expected, suite, kReference / "tok" / suite.file);
  }
}

TEST_CASE("real tokenizers: older files next to tokenizer.json give the same ids") {
  if (is_missing("tok/expected.json")) {
    return;
  }
  const Json expected = test::read_json(kReference / "tok/expected.json");
  check_suite(expected, {"transformers_js", "Xenova/gpt2", "", true},
              kReference / "tok/gpt2/vocab.json");
  check_suite(expected, {"llama_cpp", "gpt-2", "", false}, kReference / "tok/gpt2/merges.txt");
  check_suite(expected, {"transformers_js", "Xenova/bert-base-uncased", "", true},
              kReference / "tok/bert-uncased/vocab.txt");
  check_suite(expected, {"llama_cpp", "bert-bge", "", false},
              kReference / "tok/bert-uncased/vocab.txt");
  check_suite(expected, {"transformers_js", "Xenova/llama-tokenizer", "", true},
              kReference / "tok/llama2/tokenizer.model");
  check_suite(expected, {"llama_cpp", "llama-spm", "", false},
              kReference / "tok/llama2/tokenizer.model");
}

TEST_CASE("real tokenizers: stories260k gives the ids of llama.cpp, with and without BOS") {
  if (is_missing("gguf/tok/stories-spm.json")) {
    return;
  }
  const auto tokenizer = load_tokenizer(kReference / "models/stories260k");
  CHECK(tokenizer->vocabulary_size() == 512);
  CHECK(tokenizer->tokenize("a").tokens.front().id == tokenizer->special_ids().bos);
  const Json expected = test::read_json(kReference / "gguf/tok/stories-spm.json");
  CHECK(expected.at("cases").size() == 154);
  for (const Json& item : expected.at("cases")) {
    const std::string text = item.at("text");
    CAPTURE(text);
    CHECK(tokenizer->tokenize(text).ids() == item.at("ids_full").get<Ids>());
    TokenizeOptions options;
    options.bos = false;
    CHECK(tokenizer->tokenize(text, options).ids() == item.at("ids").get<Ids>());
    options.parse_special = true;
    options.bos = true;
    CHECK(tokenizer->tokenize(text, options).ids() == item.at("ids_special").get<Ids>());
  }
}

}  // namespace attnviz
