// Tensors of files as kernels read them, whatever the byte order of file and machine.
#pragma once

#include <bit>
#include <deque>
#include <vector>

#include "attnviz/formats/stored_tensor.h"

namespace attnviz {

/// Whether numbers of that type lie in another order in a file than where they are computed with:
/// there each by itself is in the machine's byte order, and blocks of quantised ones are
/// little-endian on every machine.
bool is_turned(StoredType type, std::endian file,
               std::endian machine = std::endian::native) noexcept;

/// Owns the copies of tensors that have to be turned: of big-endian files, and of all on big-endian
/// machines. Movable; tensors stay in place.
class NativeTensors {
 public:
  /// `tensor` itself, which must outlive the result, or a copy that is turned.
  const StoredTensor& of(const StoredTensor& tensor, std::endian file);

 private:
  struct Turned {
    std::vector<char> bytes;
    StoredTensor tensor;
  };
  std::deque<Turned> turned_;
};

}  // namespace attnviz
