// Hashes of short strings that come from files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace attnviz {

/// With a secret seed, it is not feasible to construct many strings with equal hashes. Without a
/// seed, strings that were not constructed for this rarely collide either.
inline std::uint32_t hash_of(std::string_view text, std::uint64_t seed = 0) noexcept {
  // Takes eight bytes at a time, multiplies by a large odd number and folds the halves of the
  // product, like wyhash and its relatives. A last group of fewer than eight bytes is read with an
  // overlap, which is faster than byte by byte. The end is mixed as in MurmurHash3, so that every
  // byte reaches the bits that are kept.
  constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15;
  __extension__ using Product = unsigned __int128;
  const auto folded = [](std::uint64_t a) {
    const Product product = Product{a} * kFactor;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  };
  const auto load = [](const char* from, auto value) {
    std::memcpy(&value, from, sizeof value);
    return std::uint64_t{value};
  };
  const char* data = text.data();
  const std::size_t size = text.size();
  std::uint64_t hash = (size + seed) * kFactor;
  std::uint64_t rest = 0;
  if (size >= 8) {
    for (std::size_t i = 0; i + 8 < size; i += 8) {
      hash = folded(hash ^ load(data + i, std::uint64_t{}));
    }
    rest = load(data + size - 8, std::uint64_t{});
  } else if (size >= 4) {
    rest = load(data, std::uint32_t{}) << 32 | load(data + size - 4, std::uint32_t{});
  } else if (size > 0) {
    rest = load(data, std::uint8_t{}) << 16 | load(data + size / 2, std::uint8_t{}) << 8 |
           load(data + size - 1, std::uint8_t{});
  }
  hash ^= rest;
  hash = (hash ^ hash >> 32) * kFactor;
  hash = (hash ^ hash >> 29) * kFactor;
  return static_cast<std::uint32_t>(hash ^ hash >> 32);
}

/// For unordered maps, with a seed that differs from run to run, as addresses do.
struct StringHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const noexcept { return hash_of(text, seed); }
  std::uint64_t seed;
};

}  // namespace attnviz
