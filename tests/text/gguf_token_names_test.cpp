// Tokens of GGUF files that are special by their names, regardless of the type given by a
// converter.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "attnviz/formats/gguf_metadata.h"
#include "attnviz/text/files/tokenizer_files.h"
#include "attnviz/text/tokenizers/model_tokenizer.h"
#include "support/gguf_writer.h"

namespace attnviz {
namespace {

using Ids = std::vector<TokenId>;
constexpr TokenId kNamed = 3;

// Tokens of "a<name>b" by a byte-level BPE with one more piece, of type normal or without a type.
Ids ids_around(const std::string& name, const std::string& further = "x", bool has_types = true) {
  test::GgufWriter writer;
  writer.text("tokenizer.ggml.model", "gpt2")
      .texts("tokenizer.ggml.tokens", {"a", "b", further, name})
      .texts("tokenizer.ggml.merges", {});
  if (has_types) {
    writer.i32s("tokenizer.ggml.token_type", {1, 1, 1, 1});
  }
  const std::string file = writer.file();
  const Gguf gguf(file, "tiny.gguf");
  const ModelTokenizer tokenizer(read_gguf_tokenizer(GgufMetadata(gguf)));
  TokenizeOptions options;
  options.add_special_tokens = false;
  options.parse_special = true;
  return tokenizer.tokenize("a" + name + "b", options).ids();
}

bool is_found(const std::string& name, const std::string& further = "x") {
  const Ids ids = ids_around(name, further);
  return std::ranges::find(ids, kNamed) != ids.end();
}

}  // namespace

// libllama finds these as whole tokens if all pieces are of type 1.
TEST_CASE("GGUF: special tokens marked as normal by a converter are found by their names") {
  for (const char* name : {"</s>",
                           "<eos>",
                           "<EOT>",
                           "_<EOT>",
                           "[EOT]",
                           "[EOS]",
                           "<|eom_id|>",
                           "<|return|>",
                           "<|call|>",
                           "<|calls|>",
                           "<|flush|>",
                           "<end_of_utterance>",
                           "<turn|>",
                           "<｜end▁of▁sentence｜>",
                           "<|fim_prefix|>",
                           "<fim-prefix>",
                           "<fim_prefix>",
                           "<PRE>",
                           "<|fim_suffix|>",
                           "<|fim_middle|>",
                           "<|fim_pad|>",
                           "<|repo_name|>",
                           "<|file_sep|>",
                           "<｜fim▁begin｜>",
                           "<|code_prefix|>",
                           "<|tool_response>",
                           "<|eot_id|>",
                           "<|im_end|>",
                           "<|end|>",
                           "<end_of_turn>",
                           "<|end_of_text|>",
                           "<|endoftext|>"}) {
    CAPTURE(std::string(name));
    CHECK(ids_around(name) == Ids{0, kNamed, 1});
    CHECK(ids_around(name, "x", /*has_types=*/false) == Ids{0, kNamed, 1});
  }
}

// It does not find these.
TEST_CASE("GGUF: other names do not determine a type") {
  for (const char* name : {"<file_sep>", "[PREFIX]", "<eot>", "<|eot|>", "<|im_start|>", "<s>"}) {
    CAPTURE(std::string(name));
    CHECK_FALSE(is_found(name));
  }
  CHECK_FALSE(is_found("</s>", "<|tool_response>"));  // in Gemma 4 it is HTML
}

}  // namespace attnviz
