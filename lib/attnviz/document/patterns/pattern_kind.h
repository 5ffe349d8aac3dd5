// What the numbers of patterns are: the weights of attention, or a step on the way to or from them.
#pragma once

#include <array>
#include <string_view>

#include "attnviz/core/choices.h"

namespace attnviz {

/// One row a query, one column a key.
enum class PatternKind {
  kWeights,      // after softmax; rows sum to 1
  kScores,       // q·k, also of keys that the mask will hide
  kScaled,       // the same times 1 / (√d_head · temperature)
  kMasked,       // what softmax takes: capped, with biases; -inf where the key is hidden
  kValueShares,  // each weight times the norm of its key's transformed value, rows made to sum to 1
                 // again. Source: Kobayashi et al. 2020, "Attention is Not Only a Weight"
  kRouter,       // no attention: a column an expert, what its output is multiplied by
  kDecay,        // no attention: how much of what a state took in at the key is left at the query
};

inline constexpr std::array kPatternKinds = {Choice{"weights", PatternKind::kWeights},
                                             Choice{"scores", PatternKind::kScores},
                                             Choice{"scaled", PatternKind::kScaled},
                                             Choice{"masked", PatternKind::kMasked},
                                             Choice{"values-shares", PatternKind::kValueShares},
                                             Choice{"router", PatternKind::kRouter},
                                             Choice{"decay", PatternKind::kDecay}};

/// Whether they are numbers of either sign, whose rows sum to nothing in particular.
constexpr bool is_before_softmax(PatternKind kind) noexcept {
  return kind == PatternKind::kScores || kind == PatternKind::kScaled ||
         kind == PatternKind::kMasked;
}

/// Whether they have nothing to do with heads of attention.
constexpr bool is_no_attention(PatternKind kind) noexcept {
  return kind == PatternKind::kRouter || kind == PatternKind::kDecay;
}

/// Whether no key is hidden yet.
constexpr bool is_before_mask(PatternKind kind) noexcept {
  return kind == PatternKind::kScores || kind == PatternKind::kScaled;
}

/// What a picture of them is of.
constexpr std::string_view subject_of(PatternKind kind) noexcept {
  switch (kind) {
    case PatternKind::kScores:
      return "attention scores";
    case PatternKind::kScaled:
      return "scaled attention scores";
    case PatternKind::kMasked:
      return "masked attention scores";
    case PatternKind::kValueShares:
      return "shares of values";
    case PatternKind::kRouter:
      return "experts of each token";
    case PatternKind::kDecay:
      return "state decay";
    case PatternKind::kWeights:
      break;
  }
  return "attention";
}

/// What one of the numbers is.
constexpr std::string_view value_name_of(PatternKind kind) noexcept {
  switch (kind) {
    case PatternKind::kScores:
      return "score q · k";
    case PatternKind::kScaled:
      return "scaled score";
    case PatternKind::kMasked:
      return "score before softmax";
    case PatternKind::kValueShares:
      return "share of ‖weight · value‖";
    case PatternKind::kRouter:
      return "factor of the expert";
    case PatternKind::kDecay:
      return "share that is left";
    case PatternKind::kWeights:
      break;
  }
  return "attention weight";
}

}  // namespace attnviz
