// The first two stages of a tokenizer: a text made regular, and cut into words, which pieces never
// cross.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
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

// How byte-level tokenizers of known models cut a text into words, by the name that llama.cpp
// gives each way.

struct SplitPattern {
  /// One after the other: what matches is a word, and so is what lies between.
  std::span<const char* const> patterns;
  bool ignore_merges = false;  // a word of the vocabulary is one token
  bool adds_bos = false;       // unless the file says otherwise
};

/// Whether `regex` is one of theirs that goes over each part of a text a few times at most.
bool is_linear_split_pattern(std::string_view regex);

/// Null for a name that is not known. Sources: the tokenizer.json of the models;
/// https://github.com/ggml-org/llama.cpp/blob/master/src/llama-vocab.cpp for the names and for
/// "default".
const SplitPattern* find_split_pattern(std::string_view name);

std::vector<std::string> split_pattern_names();

/// Cuts by the patterns, then every byte becomes its character.
PreTokenizer byte_level_words(const SplitPattern& pattern);

// The first stage of a tokenizer: a text made regular, each byte still knowing its source.

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
