// Texts that show what heads do: random tokens, repeated several times. Whether two runs used the
// same model, the same tokenizer and the same lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/analysis/heads/head_scores.h"
#include "attnviz/core/random_bits.h"
#include "attnviz/model/model.h"
#include "attnviz/text/tokenized_text.h"
#include "attnviz/text/tokenizers/model_tokenizer.h"

namespace attnviz {

/// `count` texts, each of the beginning-of-text token, if there is one, and `length` different
/// random tokens, written `repeats` times.
struct ProbeShape {
  std::size_t length = 25;
  std::size_t repeats = 4;
  std::size_t count = 4;
  std::uint64_t seed = 42;
  bool bos = true;  // the beginning-of-text token, or the [CLS] that replaces it
};

/// Returns the texts, the same on every machine. Special tokens are left out, and so are the most
/// common tenth and the rarest quarter, judging by ids, which tokenizers assign by frequency. For
/// models that look pieces up, the tokens are pieces of the vocabulary, or invented ones where any
/// piece will do.
///
/// `tokenizer` may be null. Throws Error{kUsage} if there are too few different tokens, or if a
/// text would exceed the model's context.
std::vector<TokenizedText> make_probes(const Model& model, const ModelTokenizer* tokenizer,
                                       const ProbeShape& shape);

/// What scores need to know about a probe; for two copies, also which tokens were copied.
ScoredTokens probe_tokens(const TokenizedText& probe, const ProbeShape& shape, std::size_t band);

/// 16 hexadecimal digits from the model's shape and the first row of each of its matrices. Models
/// trained separately differ; names and locations of files do not matter.
std::string model_fingerprint(const Model& model);

/// The same for a tokenizer, from its kind and every piece with its id.
std::string tokenizer_fingerprint(const Tokenizer& tokenizer);

/// The lines of an input so far; only their number and fingerprint are kept.
class LinesRead {
 public:
  /// Adds the next line, without its line end.
  void add(std::string_view line) noexcept;

  std::size_t count() const noexcept { return count_; }
  std::string fingerprint() const;

 private:
  RandomBits bits_{};
  std::size_t count_ = 0;
};

}  // namespace attnviz
