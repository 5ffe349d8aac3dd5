// Where a library of C gets no memory, the program ends there, as it does for objects of its own: not
// all of them come back from that.
#include <cstddef>

#include "system/signals.h"

// The linker sends every call of these in what it links here to __wrap_, and __real_ to the C
// library; see --wrap.
// NOLINTBEGIN(readability-identifier-naming,bugprone-reserved-identifier)
extern "C" {
void* __real_malloc(std::size_t size);
void* __real_calloc(std::size_t count, std::size_t size);
void* __real_realloc(void* data, std::size_t size);
void* __wrap_malloc(std::size_t size);
void* __wrap_calloc(std::size_t count, std::size_t size);
void* __wrap_realloc(void* data, std::size_t size);
}

void* __wrap_malloc(std::size_t size) {
  void* const data = __real_malloc(size);
  return data != nullptr || size == 0 ? data : (attnviz::app::end_out_of_memory(), nullptr);
}

void* __wrap_calloc(std::size_t count, std::size_t size) {
  void* const data = __real_calloc(count, size);
  const bool is_nothing = count == 0 || size == 0;
  return data != nullptr || is_nothing ? data : (attnviz::app::end_out_of_memory(), nullptr);
}

void* __wrap_realloc(void* data, std::size_t size) {
  void* const moved = __real_realloc(data, size);
  return moved != nullptr || size == 0 ? moved : (attnviz::app::end_out_of_memory(), nullptr);
}
// NOLINTEND(readability-identifier-naming,bugprone-reserved-identifier)
