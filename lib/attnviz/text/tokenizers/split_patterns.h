// How byte-level tokenizers of known models cut a text into words, by the name that llama.cpp
// gives each way.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/text/tokenizers/pre_tokenizers.h"

namespace attnviz {

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

}  // namespace attnviz
