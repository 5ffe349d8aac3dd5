#include "attnviz/formats/gguf_cursor.h"

#include <fmt/core.h>

#include <string>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"

namespace attnviz {

namespace {

std::string subject(std::string_view kind, std::string_view name, std::uint64_t index) {
  if (index > 0) {
    return fmt::format("{} {}", kind, index);
  }
  if (name.data() == nullptr) {
    return std::string(kind);
  }
  return kind.empty() ? shown_name(name) : fmt::format("{} {}", kind, shown_name(name));
}

std::string placed(std::string_view file, const std::string& subject, std::string_view message) {
  return subject.empty() ? fmt::format("{}: {}", file, message)
                         : fmt::format("{}: {}: {}", file, subject, message);
}

}  // namespace

std::string_view GgufCursor::take(std::uint64_t size, std::string_view what) {
  if (size > left()) {
    malformed(fmt::format("{}: expected {} at byte {}, found {} before the end of the file", what,
                          counted(size, "byte"), position_, counted(left(), "byte")));
  }
  const std::string_view taken = bytes_.substr(position_, size);
  position_ += size;
  return taken;
}

std::string_view GgufCursor::string(std::string_view what) {
  const auto length = number<std::uint64_t>(what);
  return take(length, what);
}

void GgufCursor::expect_room(std::uint64_t count, std::size_t size, std::string_view what) const {
  if (count > left() / size) {
    malformed(
        fmt::format("{}: expected at most {}, as {} are left of the file, found a count of {}",
                    what, left() / size, counted(left(), "byte"), count));
  }
}

void GgufCursor::malformed(std::string_view message) const {
  throw Error(ErrorKind::kMalformed, placed(file_, subject(kind_, name_, index_), message));
}

void GgufCursor::unsupported(std::string_view message) const {
  throw Error(ErrorKind::kUnsupported, placed(file_, subject(kind_, name_, index_), message));
}

}  // namespace attnviz
