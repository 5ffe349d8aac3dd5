// Fields of a protocol buffer, read one after the other, within bounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace attnviz {

struct ProtobufField {
  std::uint64_t number = 0;
  std::uint64_t value = 0;  // of a number; the bits of a float
  std::string_view bytes;   // of a string or a message
  bool is_bytes = false;
};

class ProtobufReader {
 public:
  /// The bytes must outlive the reader. `name` stands in front of every message.
  ProtobufReader(std::string_view bytes, std::string_view name) : bytes_(bytes), name_(name) {}

  /// The next field into `field`; false at the end. Throws Error{kMalformed} for what breaks the
  /// encoding.
  bool next(ProtobufField& field);

 private:
  std::uint64_t varint();
  std::uint64_t fixed(std::size_t n_bytes);
  [[noreturn]] void fail(std::string_view problem) const;

  std::string_view bytes_;
  std::string_view name_;
  std::size_t at_ = 0;
};

}  // namespace attnviz
