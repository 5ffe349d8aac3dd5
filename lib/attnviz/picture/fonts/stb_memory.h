// Memory for stb's libraries, which would treat a null pointer as a picture without content.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

namespace attnviz {

/// std::realloc() that throws std::bad_alloc. The libraries then hold no other memory.
inline void* stb_memory(void* before, std::size_t bytes) {
  void* const memory = std::realloc(before, bytes);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  return memory;
}

}  // namespace attnviz
