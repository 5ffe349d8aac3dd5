// Large pages for large buffers: fewer page faults while they are first written.
#pragma once

#include <cstddef>

namespace attnviz {

/// Asks the system to back what of [data, data + size) fills whole large pages with such; a wish,
/// which changes no contents. Before the memory is first written.
void prefer_huge_pages(void* data, std::size_t size) noexcept;

}  // namespace attnviz
