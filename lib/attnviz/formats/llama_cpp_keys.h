// The keys of GGUF files that llama.cpp has names for. Tokens of a GGUF file's vocabulary that
// llama.cpp knows by their names alone.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace attnviz {

/// Whether llama.cpp reads a key of this name in files of some architecture. Keys of an
/// architecture are given without its name, "rope.freq_base"; those of a tokenizer in full,
/// "tokenizer.ggml.pre".
///
/// Source  llama.cpp, src/llama-arch.cpp, LLM_KV_NAMES, 2026.
bool is_llama_cpp_key(std::string_view key);

struct GgufNamedToken {
  std::uint32_t id = 0;
  bool ends_text = false;  // or a turn of a talk: what a model writes ends with it
};

/// Those of a vocabulary, pieces by id, in order of their ids: special ones although converters
/// have called them normal; of several with one name the last. <|end|> ends no text beside <|call|>
/// and <|return|>, and </s> is a piece like others beside <|tool_response>. Source: llama.cpp,
/// llama_vocab::impl::load().
std::vector<GgufNamedToken> gguf_named_tokens(std::span<const std::string_view> pieces);

}  // namespace attnviz
