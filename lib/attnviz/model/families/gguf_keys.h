// What the readers of GGUF architectures share.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "attnviz/formats/gguf_metadata.h"
#include "attnviz/model/transformer_parts.h"
#include "attnviz/model/weight_reader.h"

namespace attnviz {

/// The keys of a file's architecture: key("block_count") is "llama.block_count".
class GgufKeys {
 public:
  explicit GgufKeys(const GgufMetadata& metadata)
      : prefix_(std::string(metadata.text("general.architecture")) + ".") {}
  std::string operator()(std::string_view key) const { return prefix_ + std::string(key); }

 private:
  std::string prefix_;
};

/// In front of messages.
std::string gguf_where(const GgufMetadata& metadata);

/// A size that the file may give for each layer. Throws Error{kUnsupported} when they differ.
std::size_t size_of_layers(const GgufMetadata& metadata, const std::string& key);

/// What an architecture knows of its rotary positions; metadata may say otherwise.
struct GgufRopeFacts {
  std::size_t d_head = 0;
  std::size_t n_ctx = 0;
  RopePairing pairing = RopePairing::kHalves;
  bool has_factors = false;  // files may have tensors of them: Llama, Phi-3
};

/// "rope.dimension_count", "rope.freq_base" and "rope.scaling.*" of types none, linear, yarn and
/// longrope; the tensors rope_freqs (Llama 3) and rope_factors_short and _long (Phi-3) hold factors
/// that the inverse frequencies are divided by. Of the architecture "llama" whole heads rotate.
///
/// Throws Error{kMalformed} for numbers that are missing or out of range, Error{kUnsupported} for
/// another type, a Llama that rotates a part of its heads, other scaling beside rope_factors_*, and
/// two factors on cosines and sines.
std::shared_ptr<const Rope> read_gguf_rope(const GgufMetadata& metadata, WeightReader& weights,
                                           const GgufRopeFacts& facts);

}  // namespace attnviz
