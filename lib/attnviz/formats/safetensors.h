// The safetensors format: named tensors in one file, read in place.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/formats/tensor_index.h"

namespace attnviz {

/// The tensors of one file. Does not read their numbers.
class Safetensors {
 public:
  /// `bytes` of a whole file, which must outlive the object; messages begin with `file`.
  ///
  /// Throws Error{kMalformed} when the header is not a JSON object of tensors or names one twice,
  /// when a tensor's bytes do not fit its shape and type, and when tensors overlap, leave gaps, or
  /// do not end where the file does; Error{kUnsupported} for a header of more than 32 MB. Numbers
  /// of unknown types are kept as bytes.
  ///
  /// Source  https://huggingface.co/docs/safetensors, "Format".
  Safetensors(std::string_view bytes, std::string_view file);

  /// Null when no tensor has that name.
  const StoredTensor* find(std::string_view name) const noexcept;

  /// All tensors, sorted by name.
  std::vector<const StoredTensor*> tensors() const;

 private:
  struct Entry {
    std::vector<std::size_t> shape;
    std::string other_type;
    StoredTensor tensor;
  };
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace attnviz
