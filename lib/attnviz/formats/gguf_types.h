// The types of tensors in GGUF files, by their numbers. Reads the bytes of a GGUF file forward;
// every step is checked against what is left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "attnviz/core/float16.h"
#include "attnviz/core/stored_matrix.h"
#include "attnviz/formats/tensor_index.h"

namespace attnviz {

/// What ggml calls the type of that number, whether attnviz reads it or not ("Q4_0_4_4"); nothing
/// for a number that never was a type.
std::string_view ggml_type_name(std::uint32_t number) noexcept;

/// The type that attnviz reads by that number; nothing when it reads none.
std::optional<StoredType> ggml_stored_type(std::uint32_t number) noexcept;

/// The mix of types that `general.file_type` numbers ("Q4_K_M"); empty for a number that none has.
std::string_view gguf_file_type_name(std::uint32_t number) noexcept;

/// The bytes of a tensor in the other byte order: halves, scales and numbers of their own are
/// turned, quants stay as they are.
std::vector<char> turned_bytes(const StoredTensor& tensor);

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
