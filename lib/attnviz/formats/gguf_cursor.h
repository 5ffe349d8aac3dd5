// Reads the bytes of a GGUF file forward; every step is checked against what is left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "attnviz/core/load_number.h"

namespace attnviz {

/// A place in a file, and what messages say that stands there.
class GgufCursor {
 public:
  GgufCursor(std::string_view bytes, bool big_endian, std::string_view file) noexcept
      : bytes_(bytes), big_endian_(big_endian), file_(file) {}

  bool big_endian() const noexcept { return big_endian_; }
  std::size_t position() const noexcept { return position_; }
  std::size_t left() const noexcept { return bytes_.size() - position_; }
  std::string_view since(std::size_t begin) const noexcept {
    return bytes_.substr(begin, position_ - begin);
  }

  /// Messages begin with `file: kind name: ` ("tensor blk.0.attn_q.weight"), or with only the name
  /// where the kind is empty. Both must stay where they are.
  void set_subject(std::string_view kind, std::string_view name) noexcept {
    kind_ = kind;
    name_ = name;
    index_ = 0;
  }
  /// While the name is not known: `file: kind 3: `, counted from 1.
  void set_subject(std::string_view kind, std::uint64_t index) noexcept {
    kind_ = kind;
    name_ = {};
    index_ = index;
  }

  /// The next number. `what` stands in the message when the file ends before it.
  template <class T>
  T number(std::string_view what) {
    return load_number<T>(take(sizeof(T), what).data(), big_endian_);
  }
  std::string_view take(std::uint64_t size, std::string_view what);
  /// A length of 64 bits, and so many bytes.
  std::string_view string(std::string_view what);
  /// Throws unless `count` things of at least `size` bytes can follow.
  void expect_room(std::uint64_t count, std::size_t size, std::string_view what) const;

  /// Throws Error{kMalformed} or Error{kUnsupported} `file: subject: message`.
  [[noreturn]] void malformed(std::string_view message) const;
  [[noreturn]] void unsupported(std::string_view message) const;

 private:
  std::string_view bytes_;
  bool big_endian_;
  std::string_view file_;
  std::size_t position_ = 0;
  std::string_view kind_;
  std::string_view name_;
  std::uint64_t index_ = 0;
};

}  // namespace attnviz
