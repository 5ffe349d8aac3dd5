// A GGUF model small enough to load in no time; all of its weights are 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "support/gguf_builder.h"

namespace attnviz::test {

/// Dimensions innermost first.
inline void add_zeros(GgufBuilder& file, const std::string& name,
                      const std::vector<std::uint64_t>& dimensions) {
  std::size_t size = sizeof(float);
  for (const std::uint64_t dimension : dimensions) {
    size *= dimension;
  }
  file.tensors.push_back({name, dimensions, 0, std::string(size, '\0')});
}

/// A model of an architecture whose keys and tensors are Llama's: 3 tokens, 2 layers.
inline GgufBuilder tiny_model(const std::string& architecture) {
  GgufBuilder file;
  file.add_string("general.architecture", architecture);
  for (const auto& [key, value] :
       {std::pair("block_count", 2U), std::pair("context_length", 8U),
        std::pair("embedding_length", 4U), std::pair("feed_forward_length", 4U),
        std::pair("attention.head_count", 1U)}) {
    file.add_u32(architecture + "." + key, value);
  }
  file.add(architecture + ".attention.layer_norm_rms_epsilon", GgufType::kF32, file.number(1e-5F));
  add_zeros(file, "token_embd.weight", {4, 3});
  add_zeros(file, "output_norm.weight", {4});
  for (const std::string layer : {"blk.0.", "blk.1."}) {
    for (const char* norm : {"attn_norm.weight", "ffn_norm.weight"}) {
      add_zeros(file, layer + norm, {4});
    }
    for (const char* matrix :
         {"attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"}) {
      add_zeros(file, layer + matrix + ".weight", {4, 4});
    }
  }
  return file;
}

}  // namespace attnviz::test
