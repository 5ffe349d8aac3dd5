// The second stage of a tokenizer: a text cut into words, which pieces never cross.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "attnviz/text/tokenizers/aligned_text.h"
#include "attnviz/text/tokenizers/regex.h"

namespace attnviz {

/// Words are ranges of the text in order, none empty; what lies between them is left out.
struct WordCut {
  AlignedText text;
  std::vector<ByteRange> words;
};

/// Cuts words further, and may change the text. Empty: nothing to do.
using PreTokenizer = std::function<void(WordCut& cut)>;

/// What becomes of the places where a word is cut.
enum class CutBehavior {
  kRemoved,
  kIsolated,
  kMergedWithPrevious,
  kMergedWithNext,
  kContiguous,  // neighbouring places are one word
};

// kFirst: where the source begins, unless a normalizer left something out there.
enum class PrependScheme { kAlways, kFirst, kNever };

/// GPT-2's pattern, for the ByteLevel stage.
inline constexpr const char* kGpt2Pattern =
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

/// With `invert` the places are what does not match.
PreTokenizer regex_cut(Regex pattern, CutBehavior behavior, bool invert);
PreTokenizer string_cut(std::string pattern, CutBehavior behavior, bool invert);
/// Places are single characters for which `is_place` is true.
PreTokenizer character_cut(bool (*is_place)(char32_t), CutBehavior behavior);
/// Words are runs of characters of one class; those of class 0 lie between words.
PreTokenizer class_cut(int (*class_of)(char32_t));

/// Cuts where the script changes; Hiragana and Katakana count as Han, and a space matches any
/// script. Drops spaces at the beginning of a text, as Hugging Face's tokenizers do.
PreTokenizer script_cut();

/// Words of BERT: white space is removed, and punctuation isolated.
PreTokenizer bert_cut();

/// Cut by GPT-2's pattern unless `use_regex` is false, then every byte as its character.
PreTokenizer byte_level(bool add_prefix_space, bool use_regex);
/// Spaces become `replacement`, one is put in front where `scheme` says, and words begin with it
/// when `split`.
PreTokenizer metaspace(std::string replacement, PrependScheme scheme, bool split);
/// Before each run of marks.
PreTokenizer mark_cut(std::string mark);
PreTokenizer sequence_cut(std::vector<PreTokenizer> stages);

}  // namespace attnviz
