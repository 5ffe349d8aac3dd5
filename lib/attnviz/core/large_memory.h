// Memory for large buffers, in large pages where the system has them: writing fresh memory for the
// first time is mostly page faults, and a page of 2 MB takes one where pages of 4 KB take 512.
#pragma once

#include <cstddef>
#include <limits>
#include <new>

namespace attnviz {

/// `bytes` bytes, all 0 and aligned to 64; from 2 MB on whole large pages. nullptr when there is no
/// memory. To be given back with free_zeroed() and the same size.
void* allocate_zeroed(std::size_t bytes) noexcept;
void free_zeroed(void* data, std::size_t bytes) noexcept;

/// For containers of numbers. Elements that a container makes without a value are not written: they
/// are 0 in fresh memory, and what was there before after the container has shrunk.
template <class T>
struct ZeroedAllocator {
  using value_type = T;

  ZeroedAllocator() = default;
  template <class U>
  ZeroedAllocator(const ZeroedAllocator<U>& /*other*/) noexcept {}

  T* allocate(std::size_t count) {
    void* const data = count <= std::numeric_limits<std::size_t>::max() / sizeof(T)
                           ? allocate_zeroed(count * sizeof(T))
                           : nullptr;
    if (data == nullptr) {
      throw std::bad_alloc();
    }
    return static_cast<T*>(data);
  }
  void deallocate(T* data, std::size_t count) noexcept { free_zeroed(data, count * sizeof(T)); }

  template <class U>
  void construct(U* /*element*/) noexcept {}
  template <class U, class Value>
  void construct(U* element, const Value& value) {
    ::new (static_cast<void*>(element)) U(value);
  }

  bool operator==(const ZeroedAllocator& /*other*/) const noexcept { return true; }
};

}  // namespace attnviz
