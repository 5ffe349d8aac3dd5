// The families of models that are read, whatever their files' form.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attnviz {

struct KnownFamily {
  std::string_view name;      // `model_type` of a config.json
  bool hugging_face = false;  // whether its folders are read
  std::vector<std::string_view>
      gguf;                   // `general.architecture` of GGUF files that are; may be empty
  std::string_view left_out;  // parts of such models that are not read; may be empty
};

/// By name.
std::vector<KnownFamily> known_families();

/// Whether models of a `general.architecture` or of a `model_type` are read.
bool reads_gguf_architecture(std::string_view name);
bool reads_model_type(std::string_view name);

/// `model_type "qwen3_moe": not one of the families that are read; near it: qwen3, qwen3_vl`:
/// `key` says what the name stands behind.
std::string unknown_family(std::string_view key, std::string_view name);

}  // namespace attnviz
