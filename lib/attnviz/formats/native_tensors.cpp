#include "attnviz/formats/native_tensors.h"

#include "attnviz/formats/gguf_types.h"

namespace attnviz {

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
