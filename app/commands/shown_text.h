// One text on its way through show: what is made of it before its attention is computed. Attention
// too large to be kept: written, and drawn together into pictures, while it is computed.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

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

/// What show's options come to, for all of its texts.
struct ShowSetup : AttentionSetup {
  explicit ShowSetup(const ShowOptions& options);

  const ShowOptions& options;
  std::unique_ptr<Tokenizer> tokenizer;
  std::vector<HeadId> heads;
};

/// One of them: its tokens, also those that the model has written behind it, and which of them were
/// asked for.
struct ShownText {
  /// Says what a person should hear of the text. Throws what its parts throw.
  ShownText(ShowSetup& setup, const InputText& input);
  ShownText(const ShownText&) = delete;
  ShownText& operator=(const ShownText&) = delete;

  /// What stands beside the pictures.
  const TokenizedText& shown() const noexcept { return folded ? folded->text : tokens; }

  TokenizedText tokens;
  AttentionRequest request;
  std::optional<Continuation> continuation;
  std::optional<FoldedText> folded;  // to what patterns are to be over, in place of tokens
  std::optional<Focus> focus;
  Predictor predictor;
};

/// Says that a picture that is drawn is nearly of one colour, and what helps, unless its scale was
/// asked for. Weights that nobody kept are judged by the cells of `grid`.
void tell_flat(ShowSetup& setup, const ShownAttention& shown,
               const std::optional<PoolGrid>& grid = std::nullopt);

/// Whether a text is shown so: its overview, for which no pattern is needed whole; and patterns so
/// large that keeping them would cost more than doing without. Not where what is asked for cannot
/// do without: means, words, single tokens, variants side by side.
bool should_stream(const ShowSetup& setup, const ShownText& text);

/// What show does for one text, without patterns in memory. Throws Error{kUsage} before any work
/// when there is not enough memory, or heads do not fit a format; and whatever attention and
/// outputs throw.
void show_streamed(ShowSetup& setup, ShownText& text);

}  // namespace attnviz::app
