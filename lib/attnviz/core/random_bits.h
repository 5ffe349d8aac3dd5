// Random bits that are a function of their name: no order, no state, the same on every machine.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace attnviz {

/// An endless row of random words, told apart from every other one by the words of its name.
/// Source: SplitMix64 (Steele, Lea, Flood 2014) with Stafford's variant 13 as output function.
class RandomBits {
 public:
  explicit RandomBits(std::initializer_list<std::uint64_t> name) noexcept {
    for (const std::uint64_t word : name) {
      absorb(word);
    }
  }

  void absorb(std::uint64_t word) noexcept { state_ = mix(state_ ^ mix(word + kGoldenRatio)); }

  /// The word at `index`.
  std::uint64_t operator[](std::uint64_t index) const noexcept {
    return mix(state_ + (index + 1) * kGoldenRatio);
  }

 private:
  static constexpr std::uint64_t kGoldenRatio = 0x9e3779b97f4a7c15;  // 2^64 / phi

  static constexpr std::uint64_t mix(std::uint64_t x) noexcept {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }

  std::uint64_t state_ = 0;
};

}  // namespace attnviz
