// Everything that a picture or a document shows of a run's attention: tokens, model, run, patterns,
// and how they are drawn. Which numbers a pattern holds: attention weights, or a step before or
// after them. Which attention of an encoder-decoder a pattern shows.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/analysis/pooled_patterns.h"
#include "attnviz/analysis/rollout.h"
#include "attnviz/analysis/run_stores.h"
#include "attnviz/analysis/token_roles.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/attention/visibility.h"
#include "attnviz/color/colormap.h"
#include "attnviz/core/choices.h"
#include "attnviz/core/tensor.h"
#include "attnviz/report/heatmap.h"
#include "attnviz/report/report_requests.h"
#include "attnviz/report/run_facts.h"
#include "attnviz/text/tokenized_text.h"
#include "attnviz/text/units.h"

namespace attnviz {

/// The subject of a picture of these numbers.
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
      return "experts for each token";
    case PatternKind::kDecay:
      return "state decay";
    case PatternKind::kWeights:
      break;
  }
  return "attention";
}

/// The name of one of these numbers.
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
      return "weight of the expert";
    case PatternKind::kDecay:
      return "share that remains";
    case PatternKind::kWeights:
      break;
  }
  return "attention weight";
}

/// The only token whose attention is drawn: as a query, the tokens it attends to; as a key, the
/// tokens that attend to it.
struct Focus {
  std::size_t token = 0;
  bool as_key = false;
};

/// The head drawn large in an overview of all heads.
struct HeadChoice {
  HeadId head;
  std::string reason;  // in words
};

/// How weights become colours. Part of the document, so that its picture can be drawn again.
struct Drawing {
  ColorScale scale;
  PoolKind pool = PoolKind::kAuto;
  bool drop_sink = false;            // leave out the first key and scale its rows to sum to 1
  bool no_special = false;           // leave out tokens the tokenizer added; rows stay unscaled
  bool plain_labels = false;         // without signs for spaces
  bool transposed = false;           // keys as rows, unless one token is in focus
  std::optional<std::string> title;  // replaces the usual one
  std::optional<Focus> focus;
  std::vector<std::string> side_by_side;  // names of the documents drawn together
  std::optional<HeadChoice> overview;     // every head as a thumbnail, this one large
};

/// How cells of a pooled picture combine their weights.
Pooling pooling_of(const Drawing& drawing) noexcept;
/// The same for thumbnails cut into this grid: see is_coarse().
Pooling thumbnail_pooling_of(const Drawing& drawing, const PoolGrid& grid) noexcept;

/// The weights of one head, or a combination of several heads.
struct DocumentPattern {
  HeadId head;              // for a mean: 0 on the averaged axis; for a rollout: 0.0
  ConstMatrix weights;      // [n_queries, n_keys]
  std::string title = {};   // "L0 mean of 4 heads"; empty: the head's name
  ConstMatrix scores = {};  // the given scores that weights were computed from; else empty
  // [n_queries]: the weight that each query puts on a learned sink; empty: the head has none.
  std::vector<float> sink = {};

  /// Whether a mask has set the score of this cell, or the score that its weight was computed from,
  /// to minus infinity. `kind` is the document's.
  bool is_masked_score(PatternKind kind, std::size_t query, std::size_t key) const noexcept {
    constexpr float kMasked = -std::numeric_limits<float>::infinity();
    return is_before_softmax(kind) ? weights(query, key) == kMasked
                                   : !scores.empty() && scores(query, key) == kMasked;
  }
};

/// Marks every pattern as a mean, or the only one as a rollout.
struct DocumentAverage {
  AverageOver over = AverageOver::kHeads;
  std::vector<HeadId> heads;                   // all heads averaged
  std::optional<RolloutRequest> rollout = {};  // set for a rollout; `over` is then kAll
};

/// Marks the patterns as differences, B minus A.
struct DocumentDifference {
  std::string a;  // names of the texts or models
  std::string b;
  bool of_models = false;
};

/// Marks the tokens as words, each made of one or several tokens of the text.
struct DocumentWords {
  struct Source {
    std::size_t begin = 0;  // byte range in the text; empty for a token that the tokenizer added
    std::size_t end = 0;
    std::vector<TokenId> ids;
  };
  Fold fold = Fold::kWords;     // the unit that tokens are folded to
  std::vector<Source> sources;  // one per word; empty: unknown
  std::optional<Mask> mask;     // between tokens, where it differs from the mask between words
};

/// Holds views into `storage`, or into the patterns that it was made from.
struct AttentionDocument {
  std::optional<std::string> text;        // the input; valid UTF-8, like all strings here
  std::vector<std::string> query_tokens;  // [n_queries]
  std::vector<std::string> key_tokens;    // [n_keys]; the same tokens except in cross-attention
  std::vector<TokenId> token_ids;         // of the queries; may be empty
  std::vector<TokenTurn> turns;           // of the queries; empty unless the text is a chat
  TokenMarks marks;      // of the queries, and of the keys if these are the same tokens
  TokenMarks key_marks;  // of the keys, if these are other tokens
  std::optional<ModelFacts> model;
  RunFacts run;
  std::vector<std::string> notes;  // anything else a reader must know, one line each
  PatternKind kind = PatternKind::kWeights;
  std::vector<DocumentPattern> patterns;  // at least one, all of one shape, by layer, then head
  std::optional<DocumentAverage> average;
  std::optional<DocumentWords> words;
  std::optional<DocumentDifference> difference;
  std::optional<TurnAttention> turn_attention;  // of `turns`
  std::vector<RoutedLayer> router;              // the experts chosen for each token, by layer
  std::optional<Continuation> continuation;     // the last tokens, if the model wrote them
  std::optional<Predictions> predictions;
  std::vector<Predictions> all_predictions;  // at every position, in order
  // Which attention of an encoder-decoder this is, and all three in the order of AttentionPart;
  // null where this one is alone.
  std::optional<AttentionPart> part;
  std::shared_ptr<const std::vector<AttentionDocument>> parts;
  Drawing drawing;
  std::shared_ptr<const void> storage;

  /// Whether keys and queries are tokens of the same text.
  bool is_of_one_text() const noexcept {
    return part != AttentionPart::kCross && key_tokens == query_tokens;
  }
  /// The marks of the keys, for keys of the same text or of another one.
  const TokenMarks& marks_of_keys() const noexcept { return is_of_one_text() ? marks : key_marks; }

  /// The mask of several layers together: none if each lets a query see later tokens, else causal.
  static Mask through_layers(const Mask& mask) noexcept {
    return mask.looks_ahead() ? Mask{MaskKind::kNone} : Mask{};
  }

  /// The mask of one head's pattern: the window of its layer, else the run's mask; absent where it
  /// is unknown or not applied yet. Words and means over layers have the run's mask; a rollout
  /// reaches through several layers, and so to all earlier tokens.
  std::optional<Mask> mask_of(HeadId head) const;

  /// The edges hidden in every head that the patterns of `heads` are made of. None in a rollout,
  /// which reaches through other layers, or before the mask is applied.
  std::vector<KnockOut> edges_hidden_in(std::span<const HeadId> heads) const;

  /// The number that groups heads into one mean: their layer, their index within layers, or 0 for
  /// all.
  std::size_t mean_of(HeadId head) const noexcept {
    return average->over == AverageOver::kHeads    ? head.layer
           : average->over == AverageOver::kLayers ? head.head
                                                   : 0;
  }

  /// The heads of the model that the patterns of `heads` are made of.
  std::vector<HeadId> source_heads(std::span<const HeadId> heads) const;

  /// The visible cells in the patterns of all of `heads`, at least one: the mask of the first head
  /// (all keys if it is unknown) minus hidden edges. An edge between words is hidden if it is
  /// hidden between all of their tokens.
  Visibility visibility_of(std::span<const HeadId> heads) const;
  Visibility visibility_of(HeadId head) const { return visibility_of(std::span(&head, 1)); }

  /// Whether the mask lets `query` see `key`; true where the mask is unknown.
  bool sees(std::size_t query, std::size_t key) const noexcept {
    return !run.mask || is_before_mask(kind) ||
           (is_rollout() ? through_layers(*run.mask) : *run.mask).visible(query, key);
  }

  bool is_rollout() const noexcept { return average && average->rollout; }

  /// Whether heads have learned sinks with known weights.
  bool has_sinks() const noexcept {
    return std::ranges::any_of(patterns,
                               [](const DocumentPattern& one) { return !one.sink.empty(); });
  }
};

/// AttentionDocument::visibility_of() for many heads; heads with the same hidden edges share one
/// result.
class DocumentVisibilities {
 public:
  /// `document` must outlive this object and must not change.
  explicit DocumentVisibilities(const AttentionDocument& document);

  Visibility of(std::span<const HeadId> heads);
  Visibility of(HeadId head) { return of(std::span(&head, 1)); }

  /// The hidden edges in words: "hidden from token 3: token 1"; empty: none.
  const std::string& edges_note(HeadId head) { return hidden(std::span(&head, 1)).note; }

 private:
  struct Hidden {
    Visibility visibility;  // without a mask
    std::string note;
  };
  const Hidden& hidden(std::span<const HeadId> heads);

  const AttentionDocument& document_;
  VisibilityCache cache_;
  HeadsByEdges numbers_;
  std::map<std::size_t, std::set<std::size_t>> numbers_of_means_;
  std::map<std::set<std::size_t>, Hidden> hidden_;  // by the numbers of the model's heads
};

/// Groups `heads` by the keys that their queries see.
std::vector<MaskedHeads> heads_by_mask(const AttentionDocument& document,
                                       const std::vector<HeadId>& heads);

/// The heads of the patterns, in order.
std::vector<HeadId> heads_of(const AttentionDocument& document);

/// Keeps the patterns of `heads`, at least one, and for means the heads averaged into them.
void keep_patterns(AttentionDocument& document, std::span<const HeadId> heads);

/// The document of a run whose requested heads are in `patterns`, with the default drawing.
AttentionDocument attention_document(const Model& model, const TokenizedText& text,
                                     const AttentionRequest& request, const PatternStore& patterns);

/// The same for a run whose weights are not kept, with `heads` by layer, then head: the patterns
/// have no weights.
AttentionDocument attention_document(const Model& model, const TokenizedText& text,
                                     const AttentionRequest& request,
                                     const std::vector<HeadId>& heads);

/// The same for a run whose heads `means` has averaged; moves the means out of it.
AttentionDocument attention_document(const Model& model, const TokenizedText& text,
                                     const AttentionRequest& request, AverageSink& means,
                                     AverageOver over);

/// The same for a rollout over `heads`, by layer, then head. A note lists layers without a
/// residual.
AttentionDocument attention_document(const Model& model, const TokenizedText& text,
                                     const AttentionRequest& request,
                                     const std::vector<HeadId>& heads,
                                     const RolloutRequest& rollout, MatrixBuffer pattern);

/// The difference between the patterns of two runs over the same heads: B minus A.
AttentionDocument attention_document(const Model& model, const TokenizedText& text,
                                     const AttentionRequest& request, const PatternStore& a,
                                     const PatternStore& b, DocumentDifference difference);

/// Replaces the names of tokens by those of words, or of other units that the text was folded to. A
/// mask that hides more than later keys still applies between tokens; between words it is causal.
void name_words(AttentionDocument& document, const TokenizedText& text, const FoldedText& folded);

/// Replaces the patterns by means, summed in double precision. Throws Error{kUsage} if the patterns
/// are means already, or for heads that average_groups() refuses.
void average_patterns(AttentionDocument& document, AverageOver over);

/// Sets the titles of the patterns of an averaged document.
void name_means(AttentionDocument& document);

}  // namespace attnviz
