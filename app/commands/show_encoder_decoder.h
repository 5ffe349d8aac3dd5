// show of encoder-decoders: the attention of the encoder, of the decoder, and between them.
#pragma once

#include "attnviz/document/attention_document.h"
#include "attnviz/model/model.h"
#include "commands/input.h"
#include "commands/prepared_text.h"
#include "options/options.h"

namespace attnviz::app {

/// Throws Error{kUsage} for what only encoder-decoders have, where the model is none; for what is
/// not drawn of them; and where nothing says what the decoder reads.
void check_architecture(const ShowOptions& options, const Model& model);

/// Runs the model over one text and what its decoder has read or writes: the part that was asked
/// for, beside the others where a document is written, and the token in focus in its drawing.
/// Throws Error{kUsage} before any work when there is not enough memory, and what its parts throw.
/// Precondition: the model has an encoder, and check_architecture().
AttentionDocument encoder_decoder_document(ShowSetup& setup, const InputText& input);

}  // namespace attnviz::app
