// Keys of model files that change nothing of attention, whatever family the model is of.
#pragma once

#include <span>

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

}  // namespace attnviz
