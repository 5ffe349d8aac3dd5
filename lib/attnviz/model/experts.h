// Experts in an MLP's place: many MLPs, of which a router gives each token a few.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "attnviz/model/transformer_parts.h"

namespace attnviz {

/// What the numbers that a router gives become; z = x · gate, one for each expert.
enum class RouterKind {
  kSoftmax,        // softmax over all experts (Fedus et al. 2022)
  kChosenSoftmax,  // softmax over those that are chosen, by z itself (Mixtral, Jiang et al. 2024)
  kSigmoid,        // of each by itself (DeepSeek-V3 2024)
};

/// Chooses each token's experts and says what their outputs are multiplied by: the factor.
struct Router {
  Projection gate;  // [d_model, n_experts]
  RouterKind kind = RouterKind::kSoftmax;
  std::size_t n_used = 0;  // experts that a token gets, at most n_experts
  // [n_experts], or empty: added where experts are chosen, and no part of their factors.
  std::span<const float> choice_bias = {};
  // Groups of as many experts as follow one another, of which n_used_groups are looked at: those
  // with the largest sum of their n_group_best best ones (DeepSeek-V2 2024). 1: no groups.
  std::size_t n_groups = 1;
  std::size_t n_used_groups = 1;
  std::size_t n_group_best = 1;
  bool normed = false;                       // factors add up to 1 before they are scaled
  float scale = 1.0f;                        // of the factors
  std::span<const float> expert_scale = {};  // [n_experts]: of each one's factors, or empty
  Norm norm =
      {};  // of the stream itself, which it looks at then (Gemma 4); absent: as the MLP does

  std::size_t n_experts() const noexcept { return gate.d_out(); }
};

/// A matrix of MXFP4 numbers as OpenAI's files have them: of each stored row blocks of 16 bytes for
/// 32 numbers, two that follow one another in a byte, and a byte of scale. Scales lie apart from
/// their blocks (Hugging Face) or in front of each (Ollama).
struct SplitBlocks {
  const std::uint8_t* blocks = nullptr;
  const std::uint8_t* scales = nullptr;
  std::size_t block_step = 16;  // bytes from one to the next
  std::size_t scale_step = 1;
};

/// What each token gets beside, or in place of, an MLP that all share: Σ factor · expert(x).
struct Experts {
  Router router;
  std::vector<Mlp> each;  // to compute with: at()
  // In the place of the numbers of `each`, whose matrices have shapes alone then; or empty.
  std::vector<SplitBlocks> split_up = {}, split_down = {};
  Projection shared_gate = {};  // [d_model, 1]: the MLP that all share times σ(x · it); or empty
  // For experts that work on a narrower stream: [d_model, d] and [d, d_model], or empty. They read
  // x · latent_in, and (Σ factor · expert) · latent_out is added (Nemotron 3, NVIDIA 2025).
  Projection latent_in = {}, latent_out = {};
  // Of layers whose experts stand apart from the MLP that all share (Gemma 4): n'(mlp(y)) +
  // after_norm(Σ factor · expert(norm(x))), x the stream. Absent: none, and experts look at y.
  Norm norm = {}, after_norm = {};
  Norm after_shared_norm = {};  // n'

  bool present() const noexcept { return !each.empty(); }

  /// What blocks and scales are brought together in.
  struct Memory {
    std::vector<std::uint8_t> up, down;
  };
  /// One of them, with numbers: views into the file, or into `memory`, where its blocks are split.
  Mlp at(std::size_t expert, Memory& memory) const;
};

}  // namespace attnviz
