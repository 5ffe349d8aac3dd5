// Faults of prompts that were made by hand.
#pragma once

#include <string>

#include "attnviz/text/tokenized_text.h"
#include "attnviz/text/tokenizers/model_tokenizer.h"

namespace attnviz {

/// What is probably wrong with a text for a model that has chats, in a line; empty when nothing
/// is:
///
/// - it begins with BOS twice: one was written, and the tokenizer put another one in front;
/// - signs of turns ("<|im_start|>", "[INST]", "<start_of_turn>", …) stand in it as plain text,
///   because they were not recognised as tokens, or are no tokens of this model at all.
///
/// Texts whose turns were rendered are looked at for the first alone: who writes signs of turns in
/// a message means them.
std::string prompt_fault(const TokenizedText& text, const ModelTokenizer& tokenizer);

}  // namespace attnviz
