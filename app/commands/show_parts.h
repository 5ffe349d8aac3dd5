// show of encoder-decoders: the attention of the encoder, of the decoder, and between them.
#pragma once

#include "attnviz/model/model.h"
#include "commands/input.h"
#include "commands/shown_text.h"
#include "options/options.h"

namespace attnviz::app {

/// Throws Error{kUsage} for what only encoder-decoders have, where the model is none; for what is
/// not drawn of them; and where nothing says what the decoder reads.
void check_stacks(const ShowOptions& options, const Model& model);

/// Draws and writes what was asked for of one text. Precondition: the model has an encoder, and
/// check_stacks().
void show_parts(ShowSetup& setup, const InputText& input);

}  // namespace attnviz::app
