#include "attnviz/text/files/protobuf_reader.h"

#include <fmt/core.h>

#include "attnviz/core/error.h"

namespace attnviz {

void ProtobufReader::fail(std::string_view problem) const {
  throw Error(ErrorKind::kMalformed, fmt::format("{}: byte {} of a message of {}: {}", name_, at_,
                                                 bytes_.size(), problem));
}

std::uint64_t ProtobufReader::varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (at_ == bytes_.size()) {
      fail("expected the rest of a number, found the end");
    }
    const auto byte = static_cast<unsigned char>(bytes_[at_++]);
    value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) {
      return value;
    }
  }
  fail("expected a number of up to 64 bits, found a longer one");
}

std::uint64_t ProtobufReader::fixed(std::size_t n_bytes) {
  if (bytes_.size() - at_ < n_bytes) {
    fail(fmt::format("expected {} bytes, found the end", n_bytes));
  }
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < n_bytes; ++i) {
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes_[at_ + i])) << (8 * i);
  }
  at_ += n_bytes;
  return value;
}

bool ProtobufReader::next(ProtobufField& field) {
  if (at_ == bytes_.size()) {
    return false;
  }
  const std::uint64_t tag = varint();
  field = {tag >> 3, 0, {}, false};
  if (field.number == 0) {
    fail("expected a field from 1 on, found field 0");
  }
  switch (tag & 7) {
    case 0:
      field.value = varint();
      break;
    case 1:
      field.value = fixed(8);
      break;
    case 2: {
      const std::uint64_t size = varint();
      if (size > bytes_.size() - at_) {
        fail(fmt::format("expected {} bytes of field {}, found {}", size, field.number,
                         bytes_.size() - at_));
      }
      field.bytes = bytes_.substr(at_, size);
      field.is_bytes = true;
      at_ += size;
      break;
    }
    case 5:
      field.value = fixed(4);
      break;
    default:
      fail(fmt::format("expected an encoding of 0, 1, 2 or 5, found {}", tag & 7));
  }
  return true;
}

}  // namespace attnviz
