// Random numbers, compiled once per SIMD target.

#include "attnviz/kernels/random_fill.h"

#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attnviz/kernels/random_fill.cpp"
#include <hwy/foreach_target.h>  // re-includes this file, once per target

#include <hwy/highway.h>  // this comes after foreach_target.h

HWY_BEFORE_NAMESPACE();
namespace attnviz::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void fill_uniform(const RandomBits& random, float bound, std::span<float> out) {
  using Words = hn::ScalableTag<std::uint64_t>;
  const Words words;
  const hn::Rebind<std::uint32_t, Words> halves;
  const hn::Rebind<std::int32_t, Words> ints;
  const hn::Rebind<float, Words> floats;
  const std::size_t lanes = hn::Lanes(words);
  const auto convert = [&](auto word) HWY_ATTR {
    const auto bits = hn::BitCast(ints, hn::TruncateTo(halves, hn::ShiftRight<40>(word)));
    const auto odd = hn::Add(hn::Add(bits, bits), hn::Set(ints, 1 - (1 << 24)));
    return hn::Mul(hn::Mul(hn::ConvertTo(floats, odd), hn::Set(floats, 0x1p-24f)),
                   hn::Set(floats, bound));
  };
  const auto step = hn::Set(words, lanes * RandomBits::kStep);
  auto unmixed = hn::Add(hn::Set(words, random.unmixed(0)),
                         hn::Mul(hn::Iota(words, 0), hn::Set(words, RandomBits::kStep)));
  std::size_t i = 0;
  for (; i + lanes <= out.size(); i += lanes, unmixed = hn::Add(unmixed, step)) {
    auto word = unmixed;
    word = hn::Mul(hn::Xor(word, hn::ShiftRight<30>(word)), hn::Set(words, RandomBits::kFactor1));
    word = hn::Mul(hn::Xor(word, hn::ShiftRight<27>(word)), hn::Set(words, RandomBits::kFactor2));
    word = hn::Xor(word, hn::ShiftRight<31>(word));
    hn::StoreU(convert(word), floats, out.data() + i);
  }
  for (; i < out.size(); ++i) {
    const auto bits = static_cast<std::int32_t>(random[i] >> 40);
    out[i] = static_cast<float>(2 * bits + 1 - (1 << 24)) * 0x1p-24f * bound;
  }
}

}  // namespace attnviz::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnviz::kernels {
HWY_EXPORT(fill_uniform);

void fill_uniform(const RandomBits& random, float bound, std::span<float> out) noexcept {
  HWY_DYNAMIC_DISPATCH(fill_uniform)(random, bound, out);
}

}  // namespace attnviz::kernels
#endif  // HWY_ONCE
