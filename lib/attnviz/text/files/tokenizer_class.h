// Which of transformers' tokenizers reads a folder's files: files of one form differ by it. Tokens
// that the settings beside a tokenizer add to it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "attnviz/core/mapped_file.h"
#include "attnviz/text/files/tokenizer_settings.h"
#include "attnviz/text/tokenizers/tokenizer_parts.h"

namespace attnviz {

/// Files that hold less than a tokenizer.json.
enum class VocabularyForm {
  kByteLevelBpe,   // vocab.json with merges.txt
  kWordPiece,      // vocab.txt
  kSentencePiece,  // tokenizer.model
  kT5,             // spiece.model
};

struct TokenizerClass {
  std::string name;   // "RobertaTokenizer", also for …TokenizerFast; empty when nobody says it
  std::string where;  // in front of messages: "config.json: model_type: "

  /// RoBERTa, BART and their like: <s> … </s> around a text, and a <mask> that takes the space
  /// before it.
  bool is_like_roberta() const;
};

/// As AutoTokenizer does: tokenizer_class of tokenizer_config.json, that of config.json, the class
/// of config.json's model_type. Throws Error{kUnsupported}, naming the key, for a class whose
/// tokenizer makes other ids of such files than those that attnviz knows.
TokenizerClass find_tokenizer_class(const std::filesystem::path& folder,
                                    const TokenizerSettings& settings, VocabularyForm form,
                                    OpenFiles& files);

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
