// One text on its way through show: what is made of it before its attention is computed.
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

}  // namespace attnviz::app
