// The first stage of a tokenizer: a text made regular, each byte still knowing its source.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "attnviz/text/tokenizers/aligned_text.h"
#include "attnviz/text/tokenizers/regex.h"

namespace attnviz {

/// Changes a text. Empty: nothing to do. Bytes that are no UTF-8 are kept by all of them.
using Normalizer = std::function<void(AlignedText& text)>;

enum class UnicodeForm { kNfc, kNfd, kNfkc, kNfkd };

struct BertNormalization {
  bool clean_text = true;            // controls left out, white space to spaces
  bool handle_chinese_chars = true;  // spaces around each
  bool strip_accents = true;
  bool lowercase = true;
};

/// UAX 15. A character with its marks changes as a whole; longer than 256 characters, in parts.
Normalizer unicode_normalizer(UnicodeForm form);
Normalizer lowercase_normalizer();
Normalizer strip_accents_normalizer();  // leaves marks out
Normalizer strip_normalizer(bool left, bool right);
/// Unless the text is empty.
Normalizer prepend_normalizer(std::string prefix);
Normalizer replace_normalizer(std::string from, std::string to);
Normalizer replace_normalizer(Regex from, std::string to);

/// What SentencePiece does with U+0020 (Normalizer::Normalize). Trailing `space`s go with the extra
/// ones, whatever they were made of.
struct SpaceNormalization {
  std::string space = " ";  // in the place of each; not empty
  bool removes_extra = false;
  bool adds_prefix = false;
  bool only_at_beginning = false;  // the prefix: where the source begins, whatever was left out
  bool adds_suffix = false;
};
Normalizer space_normalizer(SpaceNormalization options);
Normalizer bert_normalizer(const BertNormalization& options);
Normalizer nmt_normalizer();         // controls left out, unusual spaces made spaces
Normalizer byte_level_normalizer();  // bytes as GPT-2's characters
Normalizer sequence_normalizer(std::vector<Normalizer> stages);

}  // namespace attnviz
