#include "attnviz/formats/tensor_index.h"

#include <fmt/core.h>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"

namespace attnviz {

void TensorIndex::add(const StoredTensor& tensor, std::string_view file) {
  const auto [place, is_new] = tensors_.emplace(tensor.name, FoundTensor{&tensor, file});
  if (!is_new) {
    throw Error(ErrorKind::kMalformed, fmt::format("{}: {}: also in {}", file,
                                                   shown_name(tensor.name), place->second.file));
  }
}

FoundTensor TensorIndex::find(std::string_view name) const noexcept {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? FoundTensor{} : found->second;
}

std::vector<FoundTensor> TensorIndex::all() const {
  std::vector<FoundTensor> all;
  all.reserve(tensors_.size());
  for (const auto& [name, tensor] : tensors_) {
    all.push_back(tensor);
  }
  return all;
}

}  // namespace attnviz
