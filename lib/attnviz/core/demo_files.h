// The embedded demo model as files: those of assets/demo/model, added by the build.
#pragma once

#include <span>
#include <string_view>

#include "attnviz/core/mapped_file.h"

namespace attnviz {

extern const std::span<const unsigned char> kDemoConfig;           // config.json
extern const std::span<const unsigned char> kDemoWeights;          // model.safetensors
extern const std::span<const unsigned char> kDemoTokenizer;        // tokenizer.json
extern const std::span<const unsigned char> kDemoTokenizerConfig;  // tokenizer_config.json

inline NamedBytes demo_file(std::span<const unsigned char> bytes, std::string_view name) noexcept {
  return {{reinterpret_cast<const char*>(bytes.data()), bytes.size()}, name};
}

}  // namespace attnviz
