// The first two stages of a tokenizer: a text is normalized and cut into words, which pieces never
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

/// Words are ranges of the text in order, none empty; text between them is dropped.
struct WordCut {
  AlignedText text;
  std::vector<ByteRange> words;
};

/// Cuts words further, and may change the text. An empty function does nothing.
using PreTokenizer = std::function<void(WordCut& cut)>;

/// What happens to the matches at which a word is cut.
enum class CutBehavior {
  kRemoved,
  kIsolated,
  kMergedWithPrevious,
  kMergedWithNext,
  kContiguous,  // adjacent matches are one word
};

// kFirst: only at the beginning of the source, unless a normalizer removed something there.
enum class PrependScheme { kAlways, kFirst, kNever };

/// GPT-2's pattern, for the ByteLevel stage.
inline constexpr const char* kGpt2Pattern =
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

/// With `invert`, the text between matches counts as the matches.
PreTokenizer regex_cut(Regex pattern, CutBehavior behavior, bool invert);
PreTokenizer string_cut(std::string pattern, CutBehavior behavior, bool invert);
/// The matches are single characters for which `is_place` is true.
PreTokenizer character_cut(bool (*is_place)(char32_t), CutBehavior behavior);
/// Words are runs of characters of one class; characters of class 0 are between words.
PreTokenizer class_cut(int (*class_of)(char32_t));

/// Cuts where the script changes; Hiragana and Katakana count as Han, and a space matches any
/// script. Drops spaces at the beginning of a text, as Hugging Face's tokenizers do.
PreTokenizer script_cut();

/// BERT's words: white space is removed, and punctuation isolated.
PreTokenizer bert_cut();

/// Cuts by GPT-2's pattern unless `use_regex` is false, then writes every byte as its character.
PreTokenizer byte_level(bool add_prefix_space, bool use_regex);
/// Replaces spaces by `replacement` and adds one in front as `scheme` says; with `split`, words
/// begin with it.
PreTokenizer metaspace(std::string replacement, PrependScheme scheme, bool split);
/// Cuts before each run of marks.
PreTokenizer mark_cut(std::string mark);
PreTokenizer sequence_cut(std::vector<PreTokenizer> stages);

// How byte-level tokenizers of known models cut a text into words, under llama.cpp's names.

struct SplitPattern {
  /// Applied one after the other: a match is a word, and so is the text between matches.
  std::span<const char* const> patterns;
  bool ignore_merges = false;  // a word of the vocabulary is one token
  bool adds_bos = false;       // unless the file says otherwise
};

/// Whether `regex` is one of these patterns and reads each part of a text only a few times.
bool is_linear_split_pattern(std::string_view regex);

/// Null for an unknown name. Sources: the tokenizer.json of the models;
/// https://github.com/ggml-org/llama.cpp/blob/master/src/llama-vocab.cpp for the names and for
/// "default".
const SplitPattern* find_split_pattern(std::string_view name);

std::vector<std::string> split_pattern_names();

/// Cuts by the patterns, then writes every byte as its character.
PreTokenizer byte_level_words(const SplitPattern& pattern);

// The first stage of a tokenizer: a text is normalized, and each byte still knows its source.

/// Changes a text. An empty function does nothing. All of them keep invalid bytes.
using Normalizer = std::function<void(AlignedText& text)>;

enum class UnicodeForm { kNfc, kNfd, kNfkc, kNfkd };

struct BertNormalization {
  bool clean_text = true;            // removes controls, white space to spaces
  bool handle_chinese_chars = true;  // spaces around each
  bool strip_accents = true;
  bool lowercase = true;
};

/// UAX 15. A character and its marks change together; more than 256 characters change in parts.
Normalizer unicode_normalizer(UnicodeForm form);
Normalizer lowercase_normalizer();
Normalizer strip_accents_normalizer();  // removes marks
Normalizer strip_normalizer(bool left, bool right);
/// Adds `prefix` unless the text is empty.
Normalizer prepend_normalizer(std::string prefix);
Normalizer replace_normalizer(std::string from, std::string to);
Normalizer replace_normalizer(Regex from, std::string to);

/// SentencePiece's treatment of U+0020 (Normalizer::Normalize). Trailing `space`s are removed with
/// the extra ones, regardless of their origin.
struct SpaceNormalization {
  std::string space = " ";  // replaces each space; not empty
  bool removes_extra = false;
  bool adds_prefix = false;
  bool only_at_beginning = false;  // prefix only where the source begins, even after removals
  bool adds_suffix = false;
};
Normalizer space_normalizer(SpaceNormalization options);
Normalizer bert_normalizer(const BertNormalization& options);
Normalizer nmt_normalizer();         // removes controls, unusual spaces to spaces
Normalizer byte_level_normalizer();  // bytes as GPT-2's characters
Normalizer sequence_normalizer(std::vector<Normalizer> stages);

}  // namespace attnviz
