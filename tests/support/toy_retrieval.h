// A model made by hand that answers a key with the value that followed it in the text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace attnviz::test {

/// Sentences "The k3 v7 is .": each names a key and its value. Asked with a key the model says the
/// value that some sentence gives it.
struct NeedleText {
  std::vector<std::uint32_t> ids;      // the sentences, then the key that is asked for
  std::vector<std::size_t> sentences;  // where each begins, and the end of the last one
  std::size_t needle = 0;              // the sentence with that key
  std::uint32_t answer = 0;            // its value
  std::string words;                   // the same as text, the key behind a blank line
};

inline constexpr std::size_t kNeedleSentences = 20;

/// Another one for each seed.
NeedleText needle_text(std::uint64_t seed);

/// Writes the model, a folder as Hugging Face has them: GPT-2's form, two layers of one head and
/// MLPs of zeros. In layer 0 a token looks at the one before it and takes it along; in layer 1 at
/// those that come behind what it is itself, and copies them: an induction head.
void write_retrieval_model(const std::filesystem::path& folder);

}  // namespace attnviz::test
