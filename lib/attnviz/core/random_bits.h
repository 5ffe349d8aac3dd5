// Random bits that are a function of their name: no order, no state, the same on every machine.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace attnviz {

/// An endless sequence of random words, which is identified by the words of its name.
/// Source: SplitMix64 (Steele, Lea, Flood 2014) with Stafford's variant 13 as output function.
class RandomBits {
 public:
  explicit RandomBits(std::initializer_list<std::uint64_t> name) noexcept {
    for (const std::uint64_t word : name) {
      absorb(word);
    }
  }

  void absorb(std::uint64_t word) noexcept { state_ = mix(state_ ^ mix(word + kStep)); }

  /// The word at `index`.
  std::uint64_t operator[](std::uint64_t index) const noexcept { return mix(unmixed(index)); }

  /// For code that makes many words at once: the value that is mixed to give a word; the next
  /// word's is larger by kStep. Mixing multiplies by the factors after shifts by 30 and 27 bits,
  /// and ends with a shift by 31.
  std::uint64_t unmixed(std::uint64_t index) const noexcept { return state_ + (index + 1) * kStep; }
  static constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15;  // 2^64 / phi
  static constexpr std::uint64_t kFactor1 = 0xbf58476d1ce4e5b9;
  static constexpr std::uint64_t kFactor2 = 0x94d049bb133111eb;

 private:
  static constexpr std::uint64_t mix(std::uint64_t x) noexcept {
    x = (x ^ (x >> 30)) * kFactor1;
    x = (x ^ (x >> 27)) * kFactor2;
    return x ^ (x >> 31);
  }

  std::uint64_t state_ = 0;
};

}  // namespace attnviz
