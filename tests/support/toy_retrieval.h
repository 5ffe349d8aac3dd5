// A hand-made model that answers a key with the value that followed it in the text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace attnviz::test {

/// Sentences "The k3 v7 is .": each names a key and its value. Given a key, the model answers with
/// the value that one of the sentences gives it.
struct NeedleText {
  std::vector<std::uint32_t> ids;      // the sentences, then the requested key
  std::vector<std::size_t> sentences;  // where each begins, and the end of the last one
  std::size_t needle = 0;              // the sentence with that key
  std::uint32_t answer = 0;            // its value
  std::string words;                   // the same as text, the key after a blank line
};

inline constexpr std::size_t kNeedleSentences = 20;

/// A different one for each seed.
NeedleText needle_text(std::uint64_t seed);

/// Writes the model as a Hugging Face folder: GPT-2's architecture, two layers of one head and MLPs
/// of zeros. In layer 0 a token looks at the previous one and copies it; in layer 1 it looks at
/// tokens that follow earlier occurrences of itself, and copies them: an induction head.
void write_retrieval_model(const std::filesystem::path& folder);

}  // namespace attnviz::test
