#include "attnviz/formats/base64.h"

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>

#include "attnviz/core/error.h"

namespace attnviz {

namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string encoded_base64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    for (std::size_t j = i; j < i + 3; ++j) {
      three = three << 8 | (j < bytes.size() ? static_cast<unsigned char>(bytes[j]) : 0U);
    }
    for (std::size_t j = 0; j < 4; ++j) {
      out += i + j <= bytes.size() ? kDigits[three >> (18 - 6 * j) & 63] : '=';
    }
  }
  return out;
}

std::string decoded_base64(std::string_view text, std::string_view where) {
  while (text.ends_with('=')) {
    text.remove_suffix(1);
  }
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 3);
  std::uint32_t bits = 0;
  unsigned n_bits = 0;
  for (const char c : text) {
    const std::size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) {
      throw Error(ErrorKind::kMalformed,
                  fmt::format("{}expected base64, found other characters", where));
    }
    bits = (bits << 6) | static_cast<std::uint32_t>(digit);
    n_bits += 6;
    if (n_bits >= 8) {
      n_bits -= 8;
      bytes += static_cast<char>((bits >> n_bits) & 0xFF);
    }
  }
  return bytes;
}

}  // namespace attnviz
