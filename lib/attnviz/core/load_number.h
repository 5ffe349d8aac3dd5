// Numbers that lie among bytes, in either byte order.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace attnviz {

/// The number of type T that lies at `bytes`, which need not be aligned.
template <class T>
T load_number(const char* bytes, bool big_endian = false) noexcept {
  std::array<char, sizeof(T)> order;
  std::memcpy(order.data(), bytes, sizeof(T));
  if (big_endian != (std::endian::native == std::endian::big)) {
    std::reverse(order.begin(), order.end());
  }
  return std::bit_cast<T>(order);
}

}  // namespace attnviz
