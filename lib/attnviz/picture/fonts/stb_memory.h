// Memory for stb's libraries, which take a null pointer for a picture without content.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

namespace attnviz {

/// std::realloc() that throws std::bad_alloc. They keep nothing else when it throws.
inline void* stb_memory(void* before, std::size_t bytes) {
  void* const memory = std::realloc(before, bytes);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  return memory;
}

}  // namespace attnviz
