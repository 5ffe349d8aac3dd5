// Tokens that the settings beside a tokenizer add to it.
#pragma once

#include "attnviz/text/files/tokenizer_settings.h"
#include "attnviz/text/tokenizers/tokenizer_parts.h"

namespace attnviz {

/// Beside a file of a vocabulary alone: tokens with ids take the place of those that the file's own
/// names suggest; then those that are only named, with their id in the vocabulary or the next one
/// behind it. `lstrip_of_mask` as TokenizerSettings::named_tokens() has it.
void add_own_tokens(TokenizerParts& parts, const TokenizerSettings& settings,
                    bool lstrip_of_mask = false);

/// Beside a tokenizer.json: those that it lacks, as transformers' PreTrainedTokenizerFast adds
/// them; for those that it has, the flags (lstrip and such) that added_tokens_decoder says. Flags
/// of tokens that are only named are of no account: transformers 5 takes tokenizer.json's for them
/// (PreTrainedTokenizerBase._from_pretrained()). Throws Error{kUnsupported} where the settings give
/// one another id than that would have.
void add_missing_tokens(TokenizerParts& parts, const TokenizerSettings& settings);

}  // namespace attnviz
