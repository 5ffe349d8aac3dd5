// Any bytes as a text, through a tokenizer of each kind and the merging of its tokens: ranges
// ascend and lie within the text, and lossless tokenizers restore the text.

#include <array>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/utf8.h"
#include "attnviz/text/files/load_tokenizer.h"
#include "attnviz/text/files/tokenizer_files.h"
#include "attnviz/text/token_choice.h"
#include "attnviz/text/tokenizers/tokenizer_parts.h"
#include "attnviz/text/units.h"
#include "fuzz/fuzz_checks.h"
#include "fuzz/fuzz_target.h"

namespace attnviz {

namespace {

using test::require;

void fold(const TokenizedText& text) {
  for (const Fold by : {Fold::kWords, Fold::kLines, Fold::kSentences}) {
    const FoldedText units = folded(text, by);
    require(units.numbers.size() == text.size());
    require(text.tokens.empty() ? units.text.tokens.empty()
                                : units.numbers.back() + 1 == units.text.size());
    test::require_ranges(units.text);
  }
  const TokenizedText shorter = truncated(text, text.size() / 2 + 3, TruncateSide::kLeft);
  require(shorter.size() <= text.size());
}

// Words, characters and bytes have the text's own bytes.
void cut_plainly(std::string_view text) {
  for (const char* name : {"words", "chars", "bytes"}) {
    const std::unique_ptr<Tokenizer> tokenizer = make_tokenizer(name);
    const TokenizedText tokens = tokenizer->tokenize(text);
    std::string all;
    for (const Token& token : tokens.tokens) {
      require(token.text == text.substr(token.begin, token.end - token.begin));
      all += token.text;
    }
    test::require_ranges(tokens);
    require(all == text || std::string_view(name) == "words");
    fold(tokens);
  }
}

struct NamedTokenizer {
  std::unique_ptr<ModelTokenizer> tokenizer;
  bool keeps_bytes = false;
};

std::unique_ptr<ModelTokenizer> of_file(const char* path) {
  return load_tokenizer(std::filesystem::path(ATTNVIZ_SOURCE_DIR) / "tests/reference" / path);
}

std::unique_ptr<ModelTokenizer> of_sentencepiece(const char* path, bool is_t5) {
  const std::string bytes = test::reference_file(path);
  return std::make_unique<ModelTokenizer>(is_t5 ? read_t5_model(bytes, "fuzz", 3)
                                                : read_sentencepiece_model(bytes, "fuzz", false));
}

const std::vector<NamedTokenizer>& tokenizers() {
  static const std::vector<NamedTokenizer> all = [] {
    std::vector<NamedTokenizer> list;
    list.push_back({of_file("gguf/models/gpt2-all-bytes.gguf"), true});
    list.push_back({of_file("gguf/models/bert-pair.gguf")});
    list.push_back({of_file("experts/t5-v1.1/t5-v1.1.gguf")});
    list.push_back({of_sentencepiece("sentencepiece/bpe-extra-prefix-bytes.model", false)});
    list.push_back({of_sentencepiece("sentencepiece/unigram-suffix-extra.model", true)});
    list.push_back({demo_tokenizer()});
    return list;
  }();
  return all;
}

void cut(std::string_view text) {
  cut_plainly(text);
  for (const NamedTokenizer& one : tokenizers()) {
    TokenizeOptions options;
    options.add_special_tokens = false;
    const TokenizedText tokens = one.tokenizer->tokenize(text, options);
    test::require_ranges(tokens);
    fold(tokens);
    const std::string back = one.tokenizer->from_ids(tokens.ids()).source;
    require(!one.keeps_bytes || back == text);
    test::use(back);
    options = {};
    options.parse_special = true;
    options.pair = text;
    test::require_ranges(one.tokenizer->tokenize(text, options));
  }
  std::size_t last = 0;
  for (const Sentence& sentence : sentences(text, 3)) {
    require(last <= sentence.begin && sentence.begin < sentence.end && sentence.end <= text.size());
    last = sentence.end;
  }
  require(is_utf8(printable(text)) && is_utf8(printable_message(text)) &&
          is_utf8(valid_utf8(text)));
  require(is_ascii(printable_ascii(text)));
}

}  // namespace

namespace test {

std::vector<std::string> fuzz_seeds() {
  return {"The cat sat on the mat. It didn't move.\n\n# Then\n- a dog came, 3.14 m away!",
          "<s>[INST] {\"a\": 1}\t</s> Ġthe ▁the ##ing <|endoftext|>",
          "猫は座った。「はい」と言った。 ﷺ שלום עולם مرحبا",
          "e\u0301 \u1112\u1161\u11AB 👨\u200D👩\u200D👧 🇩🇪 \u202Eevil\u202C \uFEFF \u00AD",
          "\xFF\xFE \xF0\x9F\x90 \xED\xA0\x80 \xC0\xAF",
          std::string("\0\x1B[31m\x7F\x85\u2028", 10),
          "ＡＢＣ ﬁ ① Å İ ß ǅ \u0345\u03B9"};
}

void fuzz_input(std::string_view bytes) {
  cut(bytes);
}

}  // namespace test

}  // namespace attnviz
