// The keys of GGUF files that llama.cpp has names for.
#pragma once

#include <string_view>

namespace attnviz {

/// Whether llama.cpp reads a key of this name in files of some architecture: of an architecture's
/// own the part behind its name, "rope.freq_base"; of a tokenizer's all, "tokenizer.ggml.pre".
///
/// Source  llama.cpp, src/llama-arch.cpp, LLM_KV_NAMES, 2026.
bool is_llama_cpp_key(std::string_view key);

}  // namespace attnviz
