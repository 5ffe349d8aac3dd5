#include "attnviz/formats/tensor_index.h"

#include <fmt/core.h>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/formats/gguf_types.h"

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

bool is_turned(StoredType type, std::endian file, std::endian machine) noexcept {
  if (is_quantised(type)) {
    return file != std::endian::little;
  }
  return file != machine && stored_block(type).bytes > 1;
}

const StoredTensor& NativeTensors::of(const StoredTensor& tensor, std::endian file) {
  if (!is_turned(tensor.type, file)) {
    return tensor;
  }
  Turned& turned = turned_.emplace_back(Turned{turned_bytes(tensor), tensor});
  turned.tensor.bytes = {turned.bytes.data(), turned.bytes.size()};
  return turned.tensor;
}

}  // namespace attnviz
