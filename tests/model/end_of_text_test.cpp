// Which tokens end a text, according to a GGUF file.
#include <doctest/doctest.h>

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "attnviz/model/stored_model.h"
#include "support/gguf_builder.h"
#include "support/run_program.h"
#include "support/tiny_gguf.h"

namespace attnviz {
namespace {

using test::GgufBuilder;
using Ids = std::vector<std::uint32_t>;

// The end tokens of a model with these pieces and a key for the first of them.
Ids ends_of(std::initializer_list<std::string_view> pieces) {
  GgufBuilder file = test::tiny_model("llama");
  file.add("tokenizer.ggml.tokens", GgufType::kArray,
           file.array(GgufType::kString, pieces.size(), file.strings(pieces)));
  file.add_u32("tokenizer.ggml.eos_token_id", 0);
  const test::TemporaryFolder folder;
  test::write_file(folder.file("tiny.gguf"), file.bytes());
  return load_gguf(folder.file("tiny.gguf")).config.end_of_text;
}

}  // namespace

// llama.cpp: llama_vocab_is_eog().
TEST_CASE("GGUF: tokens may also end a text by their names") {
  for (const std::string_view name : {"<|eot_id|>",
                                      "<|im_end|>",
                                      "<|end|>",
                                      "<end_of_turn>",
                                      "<|endoftext|>",
                                      "<|eom_id|>",
                                      "<EOT>",
                                      "_<EOT>",
                                      "[EOT]",
                                      "[EOS]",
                                      "<|end_of_text|>",
                                      "<end_of_utterance>",
                                      "</s>",
                                      "<eos>",
                                      "<turn|>",
                                      "<|return|>",
                                      "<|call|>",
                                      "<|tool_response>",
                                      "<|fim_pad|>",
                                      "<|repo_name|>",
                                      "<|file_sep|>",
                                      "<｜end▁of▁sentence｜>"}) {
    CAPTURE(std::string(name));
    CHECK(ends_of({"a", "b", name}) == Ids{0, 2});
  }
  CHECK(ends_of({"<|im_end|>", "<|endoftext|>", "<|im_start|>"}) == Ids{0, 1});
  CHECK(ends_of({"a", "<|end|>", "<|end|>"}) == Ids{0, 2});
  for (const std::string_view name : {"<|im_start|>", "<s>", "<eot>", "<|fim_prefix|>", "end"}) {
    CAPTURE(std::string(name));
    CHECK(ends_of({"a", "b", name}) == Ids{0});
  }
}

TEST_CASE("GGUF: <|end|> of gpt-oss ends a message, and </s> of Gemma 4 is an HTML tag") {
  CHECK(ends_of({"<|return|>", "<|call|>", "<|end|>"}) == Ids{0, 1});
  CHECK(ends_of({"<|flush|>", "<|calls|>", "<|end|>"}) == Ids{0, 1});
  CHECK(ends_of({"a", "<|return|>", "<|end|>"}) == Ids{0, 1, 2});
  // Even if a key names it, like that of the first token here.
  CHECK(ends_of({"<|end|>", "<|return|>", "<|call|>"}) == Ids{1, 2});
  CHECK(ends_of({"a", "<|tool_response>", "</s>"}) == Ids{0, 1});
}

}  // namespace attnviz
