#include "system/input_stream.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "attnviz/core/error.h"
#include "attnviz/core/mapped_file.h"
#include "system/signals.h"

namespace attnviz::app {

InputStream::InputStream() noexcept : name_("standard input"), fd_(STDIN_FILENO) {}

InputStream::InputStream(const std::filesystem::path& file)
    : name_(file.string()), fd_(open(file.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (fd_ < 0) {
    fail(errno);
  }
}

InputStream::~InputStream() {
  if (is_file()) {
    close(fd_);
  }
}

void InputStream::fail(int error) const {
  throw Error(ErrorKind::kIo, fmt::format("{}: cannot read: {}", name_,
                                          std::strerror(error)));  // NOLINT(concurrency-mt-unsafe)
}

bool InputStream::is_file() const noexcept {
  return fd_ != STDIN_FILENO;
}

std::size_t InputStream::read(std::span<char> into) {
  if (!wait_to_read(fd_)) {
    was_interrupted_ = true;
    return 0;
  }
  const auto [count, error] = read_some(fd_, into);
  if (error != 0) {
    fail(error);
  }
  return count;
}

double InputStream::share_read(std::size_t unread) const {
  struct stat info {};
  const off_t place = lseek(fd_, 0, SEEK_CUR);
  if (place < 0 || fstat(fd_, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size == 0) {
    return 0.0;
  }
  return (static_cast<double>(place) - static_cast<double>(unread)) /
         static_cast<double>(info.st_size);
}

std::optional<FileId> id_of(const std::filesystem::path& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) {
    return std::nullopt;
  }
  return FileId{info.st_dev, info.st_ino};
}

}  // namespace attnviz::app
