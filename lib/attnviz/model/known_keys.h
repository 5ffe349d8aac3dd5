// Keys of model files that change nothing of attention, whatever family the model is of. Names of
// parameters that configs of language models have.
#pragma once

#include <span>
#include <string_view>

#include "attnviz/formats/harmless_key.h"

namespace attnviz {

/// Of a GGUF file, after the architecture's name.
std::span<const HarmlessKey> gguf_keys() noexcept;
/// Of a GGUF file, whole names.
std::span<const HarmlessKey> other_gguf_keys() noexcept;
/// Of a config.json, or of the text's in it.
std::span<const HarmlessKey> config_keys() noexcept;
/// Of what scales rotary positions in it.
std::span<const HarmlessKey> rope_keys() noexcept;

/// Whether a config class for language models, in transformers or in the code published with models
/// of its families, has a parameter of this name. Such a parameter may change what is computed;
/// other keys of a config.json are notes of its author.
///
/// Source  github.com/huggingface/transformers, src/transformers/models/*/configuration_*.py, of
///         versions 4.0 to 5.3: 137 of these files were compared with the list in 2026, the rest
///         and the code of others only in part. Left out: what only pictures, sound, training and
///         generation have.
bool is_config_parameter(std::string_view name);

/// The same for names in rope_scaling and rope_parameters, modeling_rope_utils.py.
bool is_rope_parameter(std::string_view name);

}  // namespace attnviz
