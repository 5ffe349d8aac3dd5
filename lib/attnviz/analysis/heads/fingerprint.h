// Whether two runs had the same model, the same tokenizer and the same lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "attnviz/core/random_bits.h"
#include "attnviz/model/model.h"
#include "attnviz/text/tokenizers/model_tokenizer.h"

namespace attnviz {

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
