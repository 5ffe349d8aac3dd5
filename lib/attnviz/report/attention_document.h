// Everything a picture or a document says of some attention: tokens, model, run, patterns, and how
// they are drawn. What the numbers of patterns are: the weights of attention, or a step on the way
// to or from them. Which of an encoder-decoder's attentions a pattern is of.
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

/// The only token whose attention is drawn: what it looks at, or as a key: who looks at it.
struct Focus {
  std::size_t token = 0;
  bool as_key = false;
};

/// The head that an overview of all heads shows large.
struct HeadChoice {
  HeadId head;
  std::string reason;  // in words
};

/// How weights become colours. Part of the document, so that its picture can be made again.
struct Drawing {
  ColorScale scale;
  PoolKind pool = PoolKind::kAuto;
  bool drop_sink = false;            // leave the first key out; its rows' rest sums to 1 again
  bool no_special = false;           // leave out what the tokenizer added; rows stay as they are
  bool plain_labels = false;         // without signs for spaces
  bool transposed = false;           // keys as rows, unless one token is in focus
  std::optional<std::string> title;  // in place of the usual one
  std::optional<Focus> focus;
  std::vector<std::string> side_by_side;  // names of the documents that are drawn together
  std::optional<HeadChoice> overview;     // every head as a thumbnail and this one large
};

/// What the cells of a pooled picture are, drawn so.
Pooling pooling_of(const Drawing& drawing) noexcept;
/// The same of thumbnails cut so: see is_coarse().
Pooling thumbnail_pooling_of(const Drawing& drawing, const PoolGrid& grid) noexcept;

/// One head's weights, or what was made of several heads'.
struct DocumentPattern {
  HeadId head;              // of a mean: 0 on the axis that was averaged; of a rollout: 0.0
  ConstMatrix weights;      // [n_queries, n_keys]
  std::string title = {};   // "L0 mean of 4 heads"; empty: the head's name
  ConstMatrix scores = {};  // those given, of weights that were made of scores; else empty
  // [n_queries]: what each of them gives to no key, where the head has a learned sink; or empty.
  std::vector<float> sink = {};

  /// Whether a mask has made the score of this cell minus infinity, or that which its weight was
  /// made of. `kind` is the document's.
  bool is_masked_score(PatternKind kind, std::size_t query, std::size_t key) const noexcept {
    constexpr float kMasked = -std::numeric_limits<float>::infinity();
    return is_before_softmax(kind) ? weights(query, key) == kMasked
                                   : !scores.empty() && scores(query, key) == kMasked;
  }
};

/// Says that every pattern is a mean, or that the only one is a rollout.
struct DocumentAverage {
  AverageOver over = AverageOver::kHeads;
  std::vector<HeadId> heads;                   // all that went into them
  std::optional<RolloutRequest> rollout = {};  // in place of a mean over kAll
};

/// Says that the patterns are those of B less those of A.
struct DocumentDifference {
  std::string a;  // what they are: texts or models
  std::string b;
  bool of_models = false;
};

/// Says that what is called tokens are words, each of one token or several of the text.
struct DocumentWords {
  struct Source {
    std::size_t begin = 0;  // bytes of the text; empty where a tokenizer added the token
    std::size_t end = 0;
    std::vector<TokenId> ids;
  };
  Fold fold = Fold::kWords;     // or what the words are in place of words
  std::vector<Source> sources;  // of each word; empty: not known
  std::optional<Mask> mask;     // between tokens, where it is another than that between words
};

/// Views into `storage`, or into the patterns that it was made from.
struct AttentionDocument {
  std::optional<std::string> text;        // what was read; valid UTF-8, as all strings here
  std::vector<std::string> query_tokens;  // [n_queries]
  std::vector<std::string> key_tokens;  // [n_keys]; the same tokens unless this is cross-attention
  std::vector<TokenId> token_ids;       // of the queries; may be empty
  std::vector<TokenTurn> turns;         // of the queries, of a chat
  TokenMarks marks;                     // of the queries, and of the keys unless these are others
  TokenMarks key_marks;                 // of the keys where they are
  std::optional<ModelFacts> model;
  RunFacts run;
  std::vector<std::string> notes;  // whatever else a reader must know, one line each
  PatternKind kind = PatternKind::kWeights;
  std::vector<DocumentPattern> patterns;  // at least one, all of one shape, by layer, then head
  std::optional<DocumentAverage> average;
  std::optional<DocumentWords> words;
  std::optional<DocumentDifference> difference;
  std::optional<TurnAttention> turn_attention;  // of `turns`
  std::vector<RoutedLayer> router;              // what experts the tokens get, by layer
  std::optional<Continuation> continuation;     // the last tokens
  std::optional<Predictions> predictions;
  std::vector<Predictions> all_predictions;  // at every place, in their order
  // Of an encoder-decoder: which of its attentions this is, and all three, in the order of
  // AttentionPart; null where this one is alone.
  std::optional<AttentionPart> part;
  std::shared_ptr<const std::vector<AttentionDocument>> parts;
  Drawing drawing;
  std::shared_ptr<const void> storage;

  /// Whether its keys are tokens of the text that its queries are of.
  bool is_of_one_text() const noexcept {
    return part != AttentionPart::kCross && key_tokens == query_tokens;
  }
  /// Of the keys, wherever these are from.
  const TokenMarks& marks_of_keys() const noexcept { return is_of_one_text() ? marks : key_marks; }

  /// Whom a query sees through several layers that hide what comes behind it, or nothing.
  static Mask through_layers(const Mask& mask) noexcept {
    return mask.looks_ahead() ? Mask{MaskKind::kNone} : Mask{};
  }

  /// Who sees whom in the pattern of one head: the window of its layer, else the run's mask; absent
  /// where it is not known, or not laid on yet. Words and means over layers have that of the run; a
  /// rollout reaches through several layers, and so all that came before.
  std::optional<Mask> mask_of(HeadId head) const;

  /// Edges that are hidden in every head that the patterns of `heads` are made of. None in a
  /// rollout, which reaches through other layers, and where no mask is laid on yet.
  std::vector<KnockOut> edges_hidden_in(std::span<const HeadId> heads) const;

  /// What heads have in common whose mean is one pattern: a layer, a place in layers, or nothing.
  std::size_t mean_of(HeadId head) const noexcept {
    return average->over == AverageOver::kHeads    ? head.layer
           : average->over == AverageOver::kLayers ? head.head
                                                   : 0;
  }

  /// The model's heads that the patterns of `heads` are made of.
  std::vector<HeadId> heads_behind(std::span<const HeadId> heads) const;

  /// Who sees whom in the patterns of all of `heads`, at least one: what the mask of the first lets
  /// through, every key where none is known, less hidden edges; between words those that are hidden
  /// between all of their tokens.
  Visibility visibility_of(std::span<const HeadId> heads) const;
  Visibility visibility_of(HeadId head) const { return visibility_of(std::span(&head, 1)); }

  /// Whether the mask lets `query` see `key`; true where no mask is known.
  bool sees(std::size_t query, std::size_t key) const noexcept {
    return !run.mask || is_before_mask(kind) ||
           (is_rollout() ? through_layers(*run.mask) : *run.mask).visible(query, key);
  }

  bool is_rollout() const noexcept { return average && average->rollout; }

  /// Whether heads have learned sinks, whose weights are known.
  bool has_sinks() const noexcept {
    return std::ranges::any_of(patterns,
                               [](const DocumentPattern& one) { return !one.sink.empty(); });
  }
};

/// Its visibility_of() for many heads: those that miss the same edges share them.
class DocumentVisibilities {
 public:
  /// `document` must outlive it, and stay what it is.
  explicit DocumentVisibilities(const AttentionDocument& document);

  Visibility of(std::span<const HeadId> heads);
  Visibility of(HeadId head) { return of(std::span(&head, 1)); }

  /// The hidden edges in words: "hidden from token 3: token 1"; empty: there are none.
  const std::string& edges_note(HeadId head) { return hidden(std::span(&head, 1)).note; }

 private:
  struct Hidden {
    Visibility visibility;  // of no mask
    std::string note;
  };
  const Hidden& hidden(std::span<const HeadId> heads);

  const AttentionDocument& document_;
  VisibilityCache cache_;
  HeadsByEdges numbers_;
  std::map<std::size_t, std::set<std::size_t>> numbers_of_means_;
  std::map<std::set<std::size_t>, Hidden> hidden_;  // by the numbers of the model's heads
};

/// Those of `heads` together whose queries see the same keys.
std::vector<MaskedHeads> heads_by_mask(const AttentionDocument& document,
                                       const std::vector<HeadId>& heads);

/// Of the patterns, in their order.
std::vector<HeadId> heads_of(const AttentionDocument& document);

/// Keeps the patterns of `heads`, at least one, and of a mean what went into them.
void keep_patterns(AttentionDocument& document, std::span<const HeadId> heads);

/// The document of a run whose wanted heads `patterns` has kept, drawn as usual.
AttentionDocument attention_document(const Model& model, const TokenizedText& text,
                                     const AttentionRequest& request, const PatternStore& patterns);

/// The same of a run whose weights nobody keeps, of `heads` by layer, then head: the patterns have
/// none.
AttentionDocument attention_document(const Model& model, const TokenizedText& text,
                                     const AttentionRequest& request,
                                     const std::vector<HeadId>& heads);

/// The same of a run whose heads `means` has averaged; takes the means out of it.
AttentionDocument attention_document(const Model& model, const TokenizedText& text,
                                     const AttentionRequest& request, AverageSink& means,
                                     AverageOver over);

/// The same of a rollout over `heads`, by layer, then head. Layers without a residual are noted.
AttentionDocument attention_document(const Model& model, const TokenizedText& text,
                                     const AttentionRequest& request,
                                     const std::vector<HeadId>& heads,
                                     const RolloutRequest& rollout, MatrixBuffer pattern);

/// How the patterns of a run differ from those of another, over the same heads: B less A.
AttentionDocument attention_document(const Model& model, const TokenizedText& text,
                                     const AttentionRequest& request, const PatternStore& a,
                                     const PatternStore& b, DocumentDifference difference);

/// Names words, or other units that a text was folded to, in place of its tokens. A mask that hides
/// more than what comes behind a query does so between tokens; between words it is causal.
void name_words(AttentionDocument& document, const TokenizedText& text, const FoldedText& folded);

/// Puts means in the place of the patterns; the sums are in double precision. Throws Error{kUsage}
/// when the patterns are means already, and for heads that average_groups() refuses.
void average_patterns(AttentionDocument& document, AverageOver over);

/// Gives the patterns of an averaged document their titles.
void name_means(AttentionDocument& document);

}  // namespace attnviz
