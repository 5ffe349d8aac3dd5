// Requests for reports and pictures as plain values, so that option parsing need not depend on the
// code that makes these.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/analysis/analysis_requests.h"
#include "attnviz/analysis/heads/head_scores.h"
#include "attnviz/color/colormap.h"
#include "attnviz/core/choices.h"

namespace attnviz {

/// Which numbers a pattern holds: one row per query, one column per key.
enum class PatternKind {
  kWeights,      // after softmax; rows sum to 1
  kScores,       // q·k, including keys that the mask will hide
  kScaled,       // the same times 1 / (√d_head · temperature)
  kMasked,       // the input of softmax: capped, with biases; -inf where hidden
  kValueShares,  // each weight times the norm of its key's transformed value, rows rescaled to sum
                 // to 1. Source: Kobayashi et al. 2020, "Attention is Not Only a Weight"
  kRouter,       // not attention: a column per expert, the factor of its output
  kDecay,        // not attention: the share of a key's input left in the state at the query
};

inline constexpr std::array kPatternKinds = {Choice{"weights", PatternKind::kWeights},
                                             Choice{"scores", PatternKind::kScores},
                                             Choice{"scaled", PatternKind::kScaled},
                                             Choice{"masked", PatternKind::kMasked},
                                             Choice{"values-shares", PatternKind::kValueShares},
                                             Choice{"router", PatternKind::kRouter},
                                             Choice{"decay", PatternKind::kDecay}};

/// Whether these numbers have either sign and rows without a fixed sum.
constexpr bool is_before_softmax(PatternKind kind) noexcept {
  return kind == PatternKind::kScores || kind == PatternKind::kScaled ||
         kind == PatternKind::kMasked;
}

/// Whether these numbers do not come from attention heads.
constexpr bool is_no_attention(PatternKind kind) noexcept {
  return kind == PatternKind::kRouter || kind == PatternKind::kDecay;
}

/// Whether the mask is not applied yet.
constexpr bool is_before_mask(PatternKind kind) noexcept {
  return kind == PatternKind::kScores || kind == PatternKind::kScaled;
}

/// Which attention of an encoder-decoder a pattern shows.
enum class AttentionPart {
  kEncoder,  // the encoder's: source by source
  kDecoder,  // the decoder's: target by target
  kCross,    // the decoder's over the encoder's output: target by source
};

/// In the order of the enumerators.
inline constexpr std::array kPartChoices = {Choice{"encoder", AttentionPart::kEncoder},
                                            Choice{"decoder", AttentionPart::kDecoder},
                                            Choice{"cross", AttentionPart::kCross}};

/// Values [low, high].
struct ValueRange {
  float low = 0.0f;
  float high = 0.0f;

  bool operator==(const ValueRange&) const = default;
};

/// How to draw attention; absent fields are chosen.
struct DrawingRequest {
  std::optional<std::string> colormap;
  std::optional<ScaleKind> scale;   // linear
  bool automatic_range = false;     // the range of the data, if `range` is absent
  std::optional<ValueRange> range;  // for ScaleKind::kRowMax of shares of the row's largest value
  std::optional<PoolKind> pool;     // auto
  bool drop_sink = false;
  bool no_special = false;
  bool plain_labels = false;
  bool transposed = false;
  std::optional<std::string> title;
};

/// Tokens for a file that has none, or instead of its own.
struct GivenTokens {
  std::optional<std::vector<std::string>> queries;
  std::optional<std::vector<std::string>> keys;  // absent: same as queries, if as many
};

/// How to compute weights from given scores.
struct SoftmaxRequest {
  float temperature = 1.0f;  // > 0
  float divide_by = 1.0f;    // > 0, such as √d_head

  bool divides() const noexcept { return temperature != 1.0f || divide_by != 1.0f; }
};

/// The steps of attention, in the order in which a head computes them.
enum class InspectionStep {
  kX,
  kNorm,
  kLatents,
  kQuery,
  kKeys,
  kQueryKeyNorm,
  kRope,
  kScores,
  kScale,
  kCap,
  kMask,
  kSoftmax,
  kValues,
  kContext,
  kOutput,
  kResidual,
};

/// Order and selection of the rows of a table.
struct HeadRanking {
  std::optional<Score> sort;  // the largest first; absent: by best name, else by layer and head
  std::vector<std::pair<Score, double>> at_least;  // drops heads below any of these
};

/// The scores shown to people.
struct HeadsTableChoice {
  HeadRanking ranking;
  std::vector<Score> columns;  // empty: the most informative ones
  std::size_t top = 12;        // rows; 0: all
};

/// A shell command that options can be inserted into, before the text.
struct ShellCommand {
  std::string words = {};                // "attnviz -m demo"; may be empty
  std::optional<std::string> text = {};  // not quoted
  std::vector<std::string> names = {};   // of all commands, so that a text is not mistaken for one
};

}  // namespace attnviz
