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

/// Reads what is there, at most what `into` holds, and waits for it, even if the descriptor is
/// non-blocking. 0 bytes: the end. Without `waits`, a non-blocking descriptor with nothing to read
/// gives EAGAIN.
Transfer read_some(int fd, std::span<char> into, bool waits = true) noexcept;

/// All of it; 0, or the error that stopped it. Waits as read_some() does.
int write_all(int fd, std::string_view bytes) noexcept;

}  // namespace attnviz
