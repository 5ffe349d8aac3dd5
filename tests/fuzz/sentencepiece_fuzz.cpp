// Any bytes as a SentencePiece model, read as those of Llama, T5 and Marian: texts are tokenized
// and decoded, or the model is refused with an Error.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/text/files/tokenizer_files.h"
#include "attnviz/text/tokenizers/tokenizer_parts.h"
#include "fuzz/fuzz_checks.h"
#include "fuzz/fuzz_target.h"

namespace attnviz {

namespace {

using test::refused_or_done;
using test::run_tokenizer;

constexpr std::string_view kVocabulary =
    R"({"</s>":0,"<unk>":1,"▁the":2,"▁":3,"a":4,"t":5,"▁c":6,">>de<<":7,"<pad>":8})";

void read(std::string_view bytes) {
  for (const bool legacy : {false, true}) {
    refused_or_done(
        [&] { run_tokenizer(ModelTokenizer(read_sentencepiece_model(bytes, "fuzz", legacy))); });
  }
  refused_or_done([&] { run_tokenizer(ModelTokenizer(read_t5_model(bytes, "fuzz", 3))); });
  refused_or_done([&] {
    run_tokenizer(
        ModelTokenizer(read_marian_model({bytes, "fuzz"}, {kVocabulary, "fuzz vocab.json"})));
  });
}

}  // namespace

namespace test {

std::vector<std::string> fuzz_seeds() {
  return files_below("sentencepiece", ".model");
}

void fuzz_input(std::string_view bytes) {
  read(bytes);
}

}  // namespace test

}  // namespace attnviz
