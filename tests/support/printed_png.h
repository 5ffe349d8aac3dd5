// What can be read from a PNG file without unpacking it.
#pragma once

#include <cstddef>
#include <map>
#include <stdexcept>
#include <string>

namespace attnviz::test {

/// The contents of its chunks. Two pictures made by one encoder have the same pixels if their
/// packed pixels are the same.
struct PrintedPng {
  std::size_t width = 0;
  std::size_t height = 0;
  std::size_t dots_a_metre = 0;
  std::string pixels;                        // packed, with size and palette
  std::map<std::string, std::string> texts;  // by keyword

  /// Throws std::runtime_error for bytes that are not a PNG, and std::out_of_range for a truncated
  /// one.
  explicit PrintedPng(const std::string& bytes) {
    constexpr std::size_t kAround = 12;  // length, name and checksum of a chunk
    constexpr std::size_t kBeforeText = 5;
    if (!bytes.starts_with("\x89PNG")) {
      throw std::runtime_error("no PNG");
    }
    for (std::size_t at = 8; at < bytes.size();) {
      const std::size_t size = big_endian(bytes, at);
      const std::string name = bytes.substr(at + 4, 4);
      const std::string data = bytes.substr(at + 8, size);
      if (name == "IHDR") {
        width = big_endian(data, 0);
        height = big_endian(data, 4);
      }
      if (name == "IHDR" || name == "PLTE" || name == "IDAT") {
        pixels += data;
      } else if (name == "pHYs") {
        dots_a_metre = big_endian(data, 0);
      } else if (name == "iTXt") {
        const std::size_t end = data.find('\0');
        texts[data.substr(0, end)] = data.substr(end + kBeforeText);
      }
      at += size + kAround;
    }
  }

 private:
  static std::size_t big_endian(const std::string& bytes, std::size_t at) {
    std::size_t number = 0;
    for (std::size_t i = at; i < at + 4; ++i) {
      number = number * 256 + static_cast<unsigned char>(bytes.at(i));
    }
    return number;
  }
};

}  // namespace attnviz::test
