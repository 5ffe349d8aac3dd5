// What show has before attention is computed: what its options come to for all texts, and each of
// these ready to be run. One such run.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "attnviz/analysis/run_stores.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/document/attention_document.h"
#include "attnviz/text/fold.h"
#include "attnviz/text/tokenized_text.h"
#include "attnviz/text/tokenizer.h"
#include "commands/attention_run.h"
#include "commands/input.h"
#include "commands/prediction.h"
#include "options/options.h"

namespace attnviz::app {

/// For all texts.
struct ShowSetup : AttentionSetup {
  explicit ShowSetup(const ShowOptions& options);

  const ShowOptions& options;
  std::unique_ptr<Tokenizer> tokenizer;
  std::vector<HeadId> heads;  // with --show decay states, with --show router layers with experts
};

/// One of them: its tokens, also those that the model has written after it, and which of them were
/// asked for.
struct PreparedText {
  /// Says what a person should hear of the text. Throws what its parts throw.
  PreparedText(ShowSetup& setup, const InputText& input);
  PreparedText(const PreparedText&) = delete;
  PreparedText& operator=(const PreparedText&) = delete;

  /// What stands beside the pictures.
  const TokenizedText& shown() const noexcept { return folded ? folded->text : tokens; }

  TokenizedText tokens;
  AttentionRequest request;
  std::optional<Continuation> continuation;
  std::optional<FoldedText> folded;  // to what patterns are to be over, in place of tokens
  std::optional<Focus> focus;
  Predictor predictor;
};

/// One run over a text for the weights of the chosen heads, and what it gives besides.
class TextRun {
 public:
  /// All must outlive it.
  TextRun(const ShowSetup& setup, PreparedText& text, const AttentionRequest& request);

  /// Hands the weights over what is shown to `patterns`.
  void attend(PatternSink& patterns, const TalkOptions& talk);

  /// Adds to a document of these heads, once they have attended, what stands beside its weights.
  void add_to(AttentionDocument& document);

 private:
  const ShowSetup& setup_;
  PreparedText& text_;
  const AttentionRequest& request_;
  RouterStore router_;
  SinkStore sinks_;
  std::optional<TurnAttention> turns_;
};

/// Warns when nearly all of a picture has one colour, and says what helps, unless its scale was
/// asked for. Weights that were not kept are judged by the cells of `grid`.
void tell_flat(ShowSetup& setup, const ShownAttention& shown,
               const std::optional<PoolGrid>& grid = std::nullopt);

}  // namespace attnviz::app
