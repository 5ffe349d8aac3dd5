// The functions between two linear maps.
#pragma once

#include <span>

#include "attnviz/core/tensor.h"

namespace attnviz::kernels {

enum class Activation {
  kGelu,         ///< x · Φ(x), with the normal distribution's Φ
  kGeluTanh,     ///< x / 2 · (1 + tanh(√(2/π) · (x + 0.044715 · x³)))
  kSilu,         ///< x / (1 + e^-x)
  kRelu,         ///< max(x, 0)
  kReluSquared,  ///< max(x, 0)²
  kTanh,
  kSigmoid,  ///< 1 / (1 + e^-x)
};

/// x = f(x), element by element, within 2e-6 of the exact value, or of its size where that is above
/// 1. NaN stays NaN, and infinities give the limits.
void activate(Activation activation, Matrix x) noexcept;

/// gate = f(gate) · up, element by element. Same shape; no overlap.
void activate_gated(Activation activation, ConstMatrix up, Matrix gate) noexcept;

/// gate = g · σ(1.702 g) · (u + 1), g = min(gate, limit), u = up cut to [-limit, limit]; limit > 0.
/// Source: gpt-oss (OpenAI 2025), its reference implementation. Same shape; no overlap.
void activate_limited(float limit, ConstMatrix up, Matrix gate) noexcept;

/// x = cap · tanh(factor · x / cap), for scores, whose softmax takes factor 1 then, and for logits.
/// cap > 0. Source: Gemma 2 (Gemma Team 2024), section 2, "logit soft-capping".
void soft_cap(std::span<float> x, float cap, float factor = 1.0f) noexcept;

}  // namespace attnviz::kernels
