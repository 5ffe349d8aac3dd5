#include "attnviz/html/blobs.h"

#include <libdeflate.h>

#include <bit>
#include <memory>
#include <new>

#include "attnviz/formats/base64.h"

namespace attnviz {

namespace {

constexpr int kLevel = 6;  // twice as fast as 9, and a hundredth larger

std::string deflated(std::span<const std::uint8_t> bytes) {
  const std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)> compressor(
      libdeflate_alloc_compressor(kLevel), &libdeflate_free_compressor);
  if (compressor == nullptr) {
    throw std::bad_alloc();
  }
  std::string packed(libdeflate_deflate_compress_bound(compressor.get(), bytes.size()), '\0');
  packed.resize(libdeflate_deflate_compress(compressor.get(), bytes.data(), bytes.size(),
                                            packed.data(), packed.size()));
  return packed;
}

}  // namespace

std::size_t Blobs::add(std::span<const std::uint8_t> bytes) {
  texts_.push_back(encoded_base64(deflated(bytes)));
  return texts_.size() - 1;
}

std::size_t Blobs::add(std::span<const std::uint16_t> numbers) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(2 * numbers.size());
  for (const unsigned shift : {0U, 8U}) {
    for (const std::uint16_t number : numbers) {
      bytes.push_back(static_cast<std::uint8_t>(number >> shift & 0xFFU));
    }
  }
  return add(bytes);
}

std::size_t Blobs::add(std::span<const float> numbers) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(4 * numbers.size());
  for (const float number : numbers) {
    const auto bits = std::bit_cast<std::uint32_t>(number);
    for (unsigned shift = 0; shift < 32; shift += 8) {
      bytes.push_back(static_cast<std::uint8_t>(bits >> shift & 0xFFU));
    }
  }
  return add(bytes);
}

std::size_t Blobs::add(std::span<const Rgb> colors) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(3 * colors.size());
  for (const Rgb color : colors) {
    bytes.insert(bytes.end(), {color.r, color.g, color.b});
  }
  return add(bytes);
}

}  // namespace attnviz
