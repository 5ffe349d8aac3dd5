// The keys of GGUF files that llama.cpp has names for.
#pragma once

#include <string_view>

namespace attnviz {

/// Whether llama.cpp reads a key of this name in files of some architecture. Keys of an
/// architecture are given without its name, "rope.freq_base"; those of a tokenizer in full,
/// "tokenizer.ggml.pre".
///
/// Source  llama.cpp, src/llama-arch.cpp, LLM_KV_NAMES, 2026.
bool is_llama_cpp_key(std::string_view key);

}  // namespace attnviz
