// What Ollama's files say in other words than those of llama.cpp's converter.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/formats/gguf.h"

namespace attnviz {

/// What a file means.
struct GgufDialect {
  struct Meant {
    std::string_view key;   // as llama.cpp writes it
    std::string_view said;  // the file's own key; empty: `value` is meant
    GgufValue value = {};
    bool overrides = false;  // what the file says at `key`; else only where it says nothing
  };
  std::vector<Meant> meant;
  /// The file's own name of its architecture, in front of keys, where another one is meant.
  std::string_view architecture;
  struct Renamed {
    std::string_view name;  // as llama.cpp writes it
    std::string_view said;
  };
  std::vector<Renamed> tensors;
  /// The vocabulary's pieces behind these have no embeddings.
  std::size_t most_tokens = std::numeric_limits<std::size_t>::max();
  std::shared_ptr<const std::string> made;  // what values look at that lie in no file
};

/// Told by what the file holds, whatever wrote it. Nothing is meant that is not said where the file
/// is one of llama.cpp's.
///
/// Source  https://github.com/ollama/ollama/blob/main/llama/compat/llama-ollama-compat.cpp
GgufDialect gguf_dialect(const Gguf& gguf);

}  // namespace attnviz
