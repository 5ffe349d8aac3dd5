// Texts that tell what heads do: random tokens, said again and again. Whether two runs had the same
// model, the same tokenizer and the same lines.
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

/// The token that begins a text, where there is one, and `length` different random tokens, written
/// `repeats` times; `count` such texts.
struct ProbeShape {
  std::size_t length = 25;
  std::size_t repeats = 4;
  std::size_t count = 4;
  std::uint64_t seed = 42;
  bool bos = true;  // the beginning, or the [CLS] that stands for it
};

/// The texts, the same on every machine. Tokens with a meaning of their own are left out, and by
/// their ids, which tokenizers give in order of frequency, the most common tenth and the rarest
/// quarter. Of a model that looks pieces up: pieces of its vocabulary, or where any piece will do
/// invented ones.
///
/// `tokenizer` may be null. Throws Error{kUsage} when there are not as many different tokens, or a
/// text would be longer than the model's context.
std::vector<TokenizedText> make_probes(const Model& model, const ModelTokenizer* tokenizer,
                                       const ProbeShape& shape);

/// What scores ask of such a text; of two copies also what was copied.
ScoredTokens probe_tokens(const TokenizedText& probe, const ProbeShape& shape, std::size_t band);

/// 16 hexadecimal digits made of the model's shape and of the first row of each of its matrices:
/// models that were trained apart have others; the name and the place of the files change nothing.
std::string model_fingerprint(const Model& model);

/// The same of a tokenizer: its kind, and every piece with its id.
std::string tokenizer_fingerprint(const Tokenizer& tokenizer);

/// The lines of an input so far, of which only their number and the same of them are kept.
class LinesRead {
 public:
  /// The next line, without its end.
  void add(std::string_view line) noexcept;

  std::size_t count() const noexcept { return count_; }
  std::string fingerprint() const;

 private:
  RandomBits bits_{};
  std::size_t count_ = 0;
};

}  // namespace attnviz
