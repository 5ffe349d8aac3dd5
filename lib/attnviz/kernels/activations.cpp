// Activation functions, compiled once per SIMD target.

#include "attnviz/kernels/row_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attnviz/kernels/activations.cpp"
#include <hwy/foreach_target.h>  // re-includes this file, once per target

#include <hwy/highway.h>  // this and every -inl.h come after foreach_target.h

#include "attnviz/kernels/map-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attnviz::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

struct Relu {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return at_least(d, x, 0.0f);
  }
};

struct ReluSquared {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V above = at_least(d, x, 0.0f);
    return hn::Mul(above, above);
  }
};

struct Sigmoid {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V one = hn::Set(d, 1.0f);
    const V bounded = at_most(d, at_least(d, x, -87.0f), 87.0f);
    return hn::Div(one, hn::Add(one, exponential(d, hn::Neg(bounded))));
  }
};

struct Tanh {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hyperbolic_tangent(d, x);
  }
};

// max(x, 0) - |x| · Φ(-|x|), where Φ(-a) = erfc(a / √2) / 2, and erfc z = t · e^(P(t) - z²) with t
// = 2 / (2 + z), accurate to one part in 8 million. Source of P: Press et al., Numerical Recipes in
// C, erfcc. At 13, Φ(-a) has vanished.
struct Gelu {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    constexpr float kSqrtOfHalf = 0.707106781186547524f;
    const V a = at_most(d, hn::Abs(x), 13.0f);
    const V one = hn::Set(d, 1.0f);
    const V z = hn::Mul(a, hn::Set(d, kSqrtOfHalf));
    const V t = hn::Div(one, hn::MulAdd(z, hn::Set(d, 0.5f), one));
    V p = hn::Set(d, 0.17087277f);
    p = hn::MulAdd(p, t, hn::Set(d, -0.82215223f));
    p = hn::MulAdd(p, t, hn::Set(d, 1.48851587f));
    p = hn::MulAdd(p, t, hn::Set(d, -1.13520398f));
    p = hn::MulAdd(p, t, hn::Set(d, 0.27886807f));
    p = hn::MulAdd(p, t, hn::Set(d, -0.18628806f));
    p = hn::MulAdd(p, t, hn::Set(d, 0.09678418f));
    p = hn::MulAdd(p, t, hn::Set(d, 0.37409196f));
    p = hn::MulAdd(p, t, hn::Set(d, 1.00002368f));
    p = hn::MulAdd(p, t, hn::Set(d, -1.26551223f));
    const V erfc = hn::Mul(t, exponential(d, hn::NegMulAdd(z, z, p)));
    return hn::Sub(at_least(d, x, 0.0f), hn::Mul(hn::Mul(a, hn::Set(d, 0.5f)), erfc));
  }
};

// x / 2 · (1 + tanh u) = x / (1 + e^(-2u)), which loses no digits where x is negative. Below -10 it
// has vanished.
struct GeluTanh {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    constexpr float kSqrtOf8ByPi = 1.59576912160573071f;
    const V from = at_least(d, x, -10.0f);
    const V bounded = at_most(d, from, 10.0f);
    const V cubic = hn::Mul(hn::Mul(bounded, bounded), hn::Set(d, kSqrtOf8ByPi * 0.044715f));
    const V twice_u = hn::Mul(bounded, hn::Add(cubic, hn::Set(d, kSqrtOf8ByPi)));
    return hn::Div(from, hn::Add(hn::Set(d, 1.0f), exponential(d, hn::Neg(twice_u))));
  }
};

struct Silu {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V from = at_least(d, x, -87.0f);
    const V bounded = at_most(d, from, 87.0f);
    return hn::Div(from, hn::Add(hn::Set(d, 1.0f), exponential(d, hn::Neg(bounded))));
  }
};

// Applies f to each number, and multiplies by `up` unless it is empty.
template <class Function>
void apply(ConstMatrix up, Matrix x) {
  const Function function;
  for (std::size_t r = 0; r < x.rows; ++r) {
    float* row = x.row_data(r);
    if (up.data == nullptr) {
      map_numbers(x.cols, row, [&](auto d, auto load) HWY_ATTR { return function(d, load(row)); });
    } else {
      const float* factors = up.row_data(r);
      map_numbers(x.cols, row, [&](auto d, auto load) HWY_ATTR {
        return hn::Mul(function(d, load(row)), load(factors));
      });
    }
  }
}

void apply(Activation activation, ConstMatrix up, Matrix x) {
  switch (activation) {
    case Activation::kGelu:
      return apply<Gelu>(up, x);
    case Activation::kGeluTanh:
      return apply<GeluTanh>(up, x);
    case Activation::kSilu:
      return apply<Silu>(up, x);
    case Activation::kRelu:
      return apply<Relu>(up, x);
    case Activation::kReluSquared:
      return apply<ReluSquared>(up, x);
    case Activation::kTanh:
      return apply<Tanh>(up, x);
    case Activation::kSigmoid:
      return apply<Sigmoid>(up, x);
  }
}

void activate(Activation activation, ConstMatrix up, Matrix x) {
  apply(activation, up, x);
}

void activate_limited(float limit, ConstMatrix up, Matrix gate) {
  constexpr float kSteepness = 1.702f;
  constexpr float kLowest = -87.0f / kSteepness;  // σ has vanished there
  for (std::size_t r = 0; r < gate.rows; ++r) {
    float* row = gate.row_data(r);
    const float* others = up.row_data(r);
    map_numbers(gate.cols, row, [&](auto d, auto load) HWY_ATTR {
      const auto one = hn::Set(d, 1.0f);
      const auto g = at_least(d, at_most(d, load(row), limit), kLowest);
      const auto u = at_least(d, at_most(d, load(others), limit), -limit);
      const auto e = exponential(d, hn::Mul(g, hn::Set(d, -kSteepness)));
      return hn::Mul(hn::Div(g, hn::Add(one, e)), hn::Add(u, one));
    });
  }
}

void soft_cap(float* x, std::size_t n, float factor, float cap) {
  const float inner = factor / cap;
  map_numbers(n, x, [&](auto d, auto load) HWY_ATTR {
    const auto bounded = hyperbolic_tangent(d, hn::Mul(load(x), hn::Set(d, inner)));
    return hn::Mul(bounded, hn::Set(d, cap));
  });
}

}  // namespace attnviz::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnviz::kernels {
HWY_EXPORT(activate);
HWY_EXPORT(activate_limited);
HWY_EXPORT(soft_cap);

void activate(Activation activation, Matrix x) noexcept {
  HWY_DYNAMIC_DISPATCH(activate)(activation, ConstMatrix(), x);
}

void activate_gated(Activation activation, ConstMatrix up, Matrix gate) noexcept {
  HWY_DYNAMIC_DISPATCH(activate)(activation, up, gate);
}

void activate_limited(float limit, ConstMatrix up, Matrix gate) noexcept {
  HWY_DYNAMIC_DISPATCH(activate_limited)(limit, up, gate);
}

void soft_cap(std::span<float> x, float cap, float factor) noexcept {
  HWY_DYNAMIC_DISPATCH(soft_cap)(x.data(), x.size(), factor, cap);
}

}  // namespace attnviz::kernels
#endif  // HWY_ONCE
