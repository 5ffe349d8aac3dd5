#include "attnviz/core/descriptor.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

namespace attnviz {

namespace {

// Whether a call that failed is to be made again: it was interrupted, or nothing was ready and now
// something is. Other programs that share a pipe or a terminal may have made it one that fails
// instead of waiting.
bool can_go_on(int fd, short events) noexcept {
  if (errno == EAGAIN || errno == EWOULDBLOCK) {
    pollfd waited = {fd, events, 0};
    return poll(&waited, 1, -1) >= 0 || errno == EINTR;
  }
  return errno == EINTR;
}

}  // namespace

Transfer read_some(int fd, std::span<char> into, bool waits) noexcept {
  for (;;) {
    const ssize_t count = ::read(fd, into.data(), into.size());
    if (count >= 0) {
      return {static_cast<std::size_t>(count), 0};
    }
    if ((!waits && errno == EAGAIN) || !can_go_on(fd, POLLIN)) {
      return {0, errno};
    }
  }
}

int write_all(int fd, std::string_view bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
    } else if (count < 0 && !can_go_on(fd, POLLOUT)) {
      return errno;
    }
  }
  return 0;
}

}  // namespace attnviz
