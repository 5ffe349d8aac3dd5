// Reading and writing what the system has open, whichever way it was opened.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace attnviz {

/// What a call to the system did: so many bytes, or the error that stopped it.
struct Transfer {
  std::size_t count = 0;
  int error = 0;
};

/// What is there, at most so much, and waits until something is: also where the descriptor is one
/// that does not wait by itself. 0 bytes: the end. Without `waits`: EAGAIN from a descriptor that
/// does not wait and has nothing.
Transfer read_some(int fd, std::span<char> into, bool waits = true) noexcept;

/// All of it; 0, or the error that stopped it. Waits as read_some() does.
int write_all(int fd, std::string_view bytes) noexcept;

}  // namespace attnviz
