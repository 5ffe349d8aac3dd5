// Hashes of short strings that files choose.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace attnviz {

/// With a seed that nobody knows, nobody can make many strings that hash alike; without one strings
/// that nobody made for it do not either.
inline std::uint32_t hash_of(std::string_view text, std::uint64_t seed = 0) noexcept {
  // Eight bytes at a time, multiplied by a large odd number, whose product's halves are folded, as
  // wyhash and its kin do. The last bytes are read again where there are not eight, which is faster
  // than one by one, and mixed as MurmurHash3 ends: so bits of all bytes reach those that are kept.
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

/// For unordered maps: of those with a seed that differs from run to run, as addresses do.
struct StringHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const noexcept { return hash_of(text, seed); }
  std::uint64_t seed;
};

}  // namespace attnviz
