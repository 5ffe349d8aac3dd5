// Which of transformers' tokenizers reads a folder's files: files of one form differ by it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "attnviz/core/mapped_file.h"
#include "attnviz/text/files/tokenizer_settings.h"

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

}  // namespace attnviz
