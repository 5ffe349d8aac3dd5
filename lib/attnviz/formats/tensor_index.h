// The tensors of several files, by name.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string_view>
#include <vector>

#include "attnviz/formats/stored_tensor.h"

namespace attnviz {

/// A tensor, and where messages say that it is.
struct FoundTensor {
  const StoredTensor* tensor = nullptr;  // null: there is none of that name
  std::string_view file;

  explicit operator bool() const noexcept { return tensor != nullptr; }
};

/// Views of tensors, which others own.
class TensorIndex {
 public:
  /// Throws Error{kMalformed} `file: name: also in …` when there is one of that name.
  void add(const StoredTensor& tensor, std::string_view file);

  FoundTensor find(std::string_view name) const noexcept;
  std::size_t size() const noexcept { return tensors_.size(); }
  /// All of them, by name.
  std::vector<FoundTensor> all() const;

 private:
  std::map<std::string_view, FoundTensor, std::less<>> tensors_;
};

}  // namespace attnviz
