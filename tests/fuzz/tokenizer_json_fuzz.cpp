// A tokenizer.json, a NUL, a tokenizer_config.json, a NUL, and a text, which is tokenized and
// decoded, or the files are refused with an Error.

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attnviz/text/files/load_tokenizer.h"
#include "fuzz/fuzz_checks.h"
#include "fuzz/fuzz_target.h"

namespace attnviz {

namespace {

void read(std::string_view input) {
  const std::vector<std::string_view> parts = test::parts_of(input, 3);
  const std::string_view config = parts[1].empty() ? "{}" : parts[1];
  test::refused_or_done([&] {
    test::run_tokenizer(*load_tokenizer({parts[0], "fuzz"}, {config, "fuzz"}), parts[2]);
  });
}

}  // namespace

namespace test {

std::vector<std::string> fuzz_seeds() {
  using Json = nlohmann::ordered_json;
  constexpr std::size_t kMost = 8 << 10;
  constexpr const char* kConfig =
      R"({"tokenizer_class":"LlamaTokenizer","add_bos_token":true,"add_eos_token":false,)"
      R"("bos_token":"<s>","eos_token":{"content":"</s>"},"unk_token":null,"legacy":false,)"
      R"("added_tokens_decoder":{"40":{"content":"<|x|>","special":true,"lstrip":true}},)"
      R"("chat_template":"{{ bos_token }}{{ messages[0].content }}"})";
  std::vector<std::string> seeds;
  for (const Json& one : Json::parse(reference_file("tokenizer_stages.json"))) {
    Json tokenizer = Json::parse(
        R"({"added_tokens":[],"model":{"type":"WordLevel","vocab":{"a":0,"x":1},"unk_token":"x"}})");
    for (const char* stage : {"normalizer", "pre_tokenizer"}) {
      if (one.contains(stage)) {
        tokenizer[stage] = one[stage];
      }
    }
    const std::string json = one.contains("tokenizer") ? one["tokenizer"].dump() : tokenizer.dump();
    const std::string text = one["texts"][0].get<std::string>();
    if (json.size() < kMost) {
      const char* config = seeds.size() % 8 == 0 ? kConfig : "{}";
      std::string seed = json;
      for (const std::string_view part : {std::string_view(config), std::string_view(text)}) {
        seed += '\0';
        seed += part;
      }
      seeds.push_back(std::move(seed));
    }
  }
  return seeds;
}

void fuzz_input(std::string_view bytes) {
  read(bytes);
}

}  // namespace test

}  // namespace attnviz
