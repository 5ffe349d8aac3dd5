// Attention too large to be kept: written, and drawn together into pictures, while it is computed.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "attnviz/attention/pattern_sink.h"
#include "attnviz/model/model.h"
#include "attnviz/text/tokenized_text.h"
#include "commands/prediction.h"
#include "options/options.h"
#include "outputs/outputs.h"
#include "outputs/streamed_picture.h"

namespace attnviz::app {

/// Whether the patterns are so large that keeping them would cost more than doing without, and what
/// is asked for can do without: everything but means, single tokens and variants side by side.
bool should_stream(const ShowOptions& options, std::size_t n_heads, std::size_t n_tokens) noexcept;

/// What is shown.
struct StreamedText {
  const Model& model;
  const TokenizedText& text;
  const std::vector<HeadId>& heads;
  const std::optional<Continuation>& continuation;
};

/// What show does for one text, without patterns in memory. `picture` has not been planned yet.
/// Files are left to be committed.
/// `tells_flat`: whether a nearly flat picture is worth a note; returns whether it was told.
/// Throws Error{kUsage} before any work when there is not enough memory, or heads do not fit a
/// format; and whatever attention and outputs throw.
bool show_streamed(const ShowOptions& options, const StreamedText& shown, Predictor& predictor,
                   StreamedPicture& picture, bool tells_flat, Outputs& outputs);

}  // namespace attnviz::app
