// What people ask of reports and pictures, as plain values: for options, which know nothing of how
// these are made.
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

/// What the numbers of a pattern are: one row a query, one column a key.
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

/// Which of an encoder-decoder's attentions a pattern is of.
enum class AttentionPart {
  kEncoder,  // the encoder's: source by source
  kDecoder,  // the decoder's: target by target
  kCross,    // what the decoder looks at of what the encoder gives: target by source
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

/// How attention is to be drawn; what is absent is chosen.
struct DrawingRequest {
  std::optional<std::string> colormap;
  std::optional<ScaleKind> scale;   // linear
  bool automatic_range = false;     // the range of the data, where none is given
  std::optional<ValueRange> range;  // for ScaleKind::kRowMax shares of the row's largest value
  std::optional<PoolKind> pool;     // auto
  bool drop_sink = false;
  bool no_special = false;
  bool plain_labels = false;
  bool transposed = false;
  std::optional<std::string> title;
};

/// Tokens for a file that has none, or in place of its own.
struct GivenTokens {
  std::optional<std::vector<std::string>> queries;
  std::optional<std::vector<std::string>> keys;  // absent: as the queries, when as many
};

/// What makes weights of given scores.
struct SoftmaxRequest {
  float temperature = 1.0f;  // > 0
  float divide_by = 1.0f;    // > 0, as √d_head

  bool divides() const noexcept { return temperature != 1.0f || divide_by != 1.0f; }
};

/// The steps of attention in the order in which a head takes them.
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

/// Which rows of a table stand where.
struct HeadRanking {
  std::optional<Score> sort;  // the largest first; nothing: what is named best first, on other
                              // sources than probes by layer and head
  std::vector<std::pair<Score, double>> at_least;  // heads below any of these are left out
};

/// Which scores people see.
struct HeadsTableChoice {
  HeadRanking ranking;
  std::vector<Score> columns;  // empty: the most informative ones
  std::size_t top = 12;        // rows; 0: all
};

/// A line for a shell, to which options may be added between its words and the text.
struct ShellCommand {
  std::string words = {};                // "attnviz -m demo"; may be empty
  std::optional<std::string> text = {};  // as it is, not quoted
  std::vector<std::string> names = {};   // of all commands: a text must not be taken for one
};

}  // namespace attnviz
