#include "system/output_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <optional>
#include <system_error>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/mapped_file.h"
#include "system/process.h"

namespace attnviz::app {

namespace {

namespace fs = std::filesystem;

constexpr int kMostNames = 1000;  // temporary names to try
constexpr int kMostLinks = 40;    // as in Linux: more is a loop
constexpr mode_t kMode = 0666;    // before the umask

[[noreturn]] void fail(const fs::path& path, int error) {
  throw Error(ErrorKind::kIo, fmt::format("{}: cannot write: {}", path.string(),
                                          std::strerror(error)));  // NOLINT(concurrency-mt-unsafe)
}

// The open descriptor in "/dev/stdout", "/dev/fd/5" or "/proc/self/fd/5". A link that is merely
// located in a folder such as /dev/shm names a file.
std::optional<int> named_descriptor(fs::path path) {
  std::error_code error;
  const fs::path open_files = fs::canonical("/proc/self/fd", error);
  for (int links = 0; !error && links < kMostLinks; ++links) {
    const std::string name = path.filename().string();
    int fd = 0;
    const char* const end = name.data() + name.size();
    const auto parsed = std::from_chars(name.data(), end, fd);
    std::error_code ignored;
    if (parsed.ec == std::errc() && parsed.ptr == end &&
        fs::canonical(path.parent_path(), ignored) == open_files) {
      return fd;
    }
    if (!fs::is_symlink(path, error)) {
      break;
    }
    path = path.parent_path() / fs::read_symlink(path, error);
  }
  return std::nullopt;
}

// In a sticky folder such as /tmp, only the owner of a file or of the folder may replace the file.
bool is_barred_by_owner(const fs::path& target, const struct stat& file) {
  struct stat folder {};
  const fs::path parent = target.parent_path();
  const uid_t self = geteuid();
  return self != 0 && stat(parent.empty() ? "." : parent.c_str(), &folder) == 0 &&
         (folder.st_mode & S_ISVTX) != 0 && folder.st_uid != self && file.st_uid != self;
}

// The path of an open file, for linkat().
std::string open_name(int fd) {
  return fmt::format("/proc/self/fd/{}", fd);
}

// Links the open file to a name; false, with errno set, if that fails.
bool take_name(int fd, const char* name) {
  return linkat(AT_FDCWD, open_name(fd).c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
}

// The new file gets the permissions of the file it replaces, without setuid and setgid, because the
// owner may differ, and without the group's if the group differs. If this fails, the new file's own
// permissions are good enough.
void keep_permissions(int fd, const fs::path& replaced, const struct stat& info) {
  constexpr mode_t kAll = 0777;
  constexpr mode_t kOfGroup = 070;
  mode_t mode = info.st_mode & kAll;
  struct stat own {};
  const bool has_group = (fstat(fd, &own) == 0 && own.st_gid == info.st_gid) ||
                         fchown(fd, static_cast<uid_t>(-1), info.st_gid) == 0;
  // With an access list, the group's bits are the upper limit for all its entries.
  constexpr const char* kAccessList = "system.posix_acl_access";
  std::array<char, 4096> list{};
  const ssize_t size = getxattr(replaced.c_str(), kAccessList, list.data(), list.size());
  if (has_group && size > 0 &&
      fsetxattr(fd, kAccessList, list.data(), static_cast<std::size_t>(size), 0) == 0) {
    return;
  }
  const bool has_list = size > 0 || (size < 0 && errno == ERANGE);
  // The folder may have given the new file an access list.
  const bool has_own_list =
      fremovexattr(fd, kAccessList) != 0 && errno != ENODATA && errno != EOPNOTSUPP;
  if (!has_group || has_list || has_own_list) {
    mode &= ~kOfGroup;
  }
  [[maybe_unused]] const int changed = fchmod(fd, mode);
}

}  // namespace

fs::path follow_links(fs::path path) {
  std::error_code error;
  for (int links = 0; fs::is_symlink(path, error); ++links) {
    if (links == kMostLinks) {
      fail(path, ELOOP);
    }
    const fs::path next = fs::read_symlink(path, error);
    path = next.is_absolute() ? next : path.parent_path() / next;
  }
  return path;
}

void reserve_standard_streams() noexcept {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(fd, F_GETFD) < 0) {
      // Takes the lowest free number, which is this one. The wrong direction makes any use fail.
      [[maybe_unused]] const int reserved =
          open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    }
  }
}

void write_to_stdout(std::string_view bytes) {
  const int error = write_all(STDOUT_FILENO, bytes);
  if (error == EPIPE) {
    throw ClosedPipe{};
  }
  if (error != 0) {
    fail("standard output", error);
  }
}

void refuse_to_overwrite(std::string_view option, const fs::path& name, const fs::path& read) {
  std::error_code ignored;  // a missing file cannot be overwritten
  if (fs::is_regular_file(name, ignored) && fs::equivalent(name, read, ignored)) {
    throw Error(ErrorKind::kUsage,
                fmt::format("{} {}: is read, and would be overwritten", option, name.string()));
  }
}

bool is_where_stdout_goes(const fs::path& name) {
  struct stat named {};
  struct stat out {};
  return stat(name.c_str(), &named) == 0 && fstat(STDOUT_FILENO, &out) == 0 &&
         S_ISREG(out.st_mode) && named.st_dev == out.st_dev && named.st_ino == out.st_ino &&
         !named_descriptor(name);
}

bool same_place(const fs::path& a, const fs::path& b) {
  const auto place = [](const fs::path& path) {
    std::error_code error;  // for names that no file can have
    const fs::path found = fs::weakly_canonical(fs::absolute(follow_links(path), error), error);
    return error ? path : found;
  };
  return place(a) == place(b);
}

OutputFile::OutputFile(const fs::path& path) : path_(path) {
  struct stat info {};
  const bool exists = stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) {
    fail(path, EISDIR);
  }
  if (const auto fd = named_descriptor(path)) {
    // Keeps the position in the file and append mode; a reopened file would begin at 0.
    const int mode = fcntl(*fd, F_GETFL);
    fd_ = mode >= 0 && (mode & O_ACCMODE) == O_RDONLY ? -1 : fcntl(*fd, F_DUPFD_CLOEXEC, 0);
    if (fd_ < 0) {
      fail(path_, EBADF);
    }
    return;
  }
  if (exists && !S_ISREG(info.st_mode)) {
    fd_ = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd_ < 0) {
      fail(path_, errno);
    }
    return;
  }
  if (exists && access(path.c_str(), W_OK) != 0) {  // rename() would replace it anyway
    fail(path_, errno);
  }
  target_ = follow_links(path);
  if (!target_.has_filename()) {
    fail(path_, EISDIR);
  }
  if (exists && is_barred_by_owner(target_, info)) {
    fail(path_, EPERM);
  }
  unfinished_.emplace();
  if (!open_without_name()) {
    open_beside_target();
  }
  if (exists) {
    keep_permissions(fd_, target_, info);
  }
}

// Whether the file system has unnamed files, and the system a way to name them later.
bool OutputFile::open_without_name() {
#ifdef O_TMPFILE
  const fs::path folder = target_.parent_path();
  fd_ = open(folder.empty() ? "." : folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, kMode);
  if (fd_ >= 0 && access(open_name(fd_).c_str(), F_OK) == 0) {
    return true;
  }
  discard();
#endif
  return false;
}

void OutputFile::take_free_name(const std::function<bool(const char* name)>& take) {
  const SignalsHeld held;  // otherwise a signal could leave the file on disk
  for (int attempt = 0; attempt < kMostNames; ++attempt) {
    temporary_ = target_.parent_path() / fmt::format(".attnviz-{}-{}", getpid(), attempt);
    if (take(temporary_.c_str())) {
      unfinished_->is(temporary_.c_str());
      return;
    }
    if (errno != EEXIST) {
      break;
    }
  }
  temporary_.clear();
  const int error = errno;
  fail(target_ == path_ ? path_ : fs::path(path_.string() + " -> " + target_.string()), error);
}

void OutputFile::open_beside_target() {
  take_free_name([this](const char* name) {
    fd_ = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode);
    return fd_ >= 0;
  });
}

// linkat() cannot replace a file, so the new one first gets a temporary name.
void OutputFile::give_name() {
  take_free_name([this](const char* name) { return take_name(fd_, name); });
}

OutputFile::~OutputFile() {
  discard();
}

void OutputFile::discard() noexcept {
  if (fd_ >= 0) {
    close(fd_);
    fd_ = -1;
  }
  if (!temporary_.empty()) {
    unlink(temporary_.c_str());
    unfinished_->is(nullptr);
    temporary_.clear();
  }
}

void OutputFile::write(std::string_view bytes) {
  if (const int error = write_all(fd_, bytes)) {
    fail(path_, error);
  }
}

void OutputFile::commit() {
  require_whole_files();
  bool is_there = false;
  if (unfinished_ && temporary_.empty()) {
    // If no file is replaced, the name is taken at once, without a temporary file.
    is_there = take_name(fd_, target_.c_str());
    if (!is_there) {
      give_name();
    }
  }
  const int fd = std::exchange(fd_, -1);
  if (close(fd) != 0) {  // network file systems may report a full disk only here
    const int error = errno;
    if (is_there) {
      unlink(target_.c_str());
    }
    fail(path_, error);
  }
  if (temporary_.empty()) {
    return;
  }
  const SignalsHeld held;  // or a later file of the same name could be removed
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) {
    fail(path_, errno);
  }
  unfinished_->is(nullptr);
  temporary_.clear();
}

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
