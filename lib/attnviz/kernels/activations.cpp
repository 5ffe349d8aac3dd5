#include "attnviz/kernels/activations.h"

#include <cmath>

namespace attnviz::kernels {

namespace {

double apply(Activation activation, double x) {
  switch (activation) {
    case Activation::kGelu:
      return 0.5 * x * (1.0 + std::erf(x / std::sqrt(2.0)));
    case Activation::kGeluTanh:
      return 0.5 * x *
             (1.0 + std::tanh(std::sqrt(2.0 / 3.14159265358979) * (x + 0.044715 * x * x * x)));
    case Activation::kSilu:
      return x / (1.0 + std::exp(-x));
    case Activation::kRelu:
      return x < 0.0 ? 0.0 : x;
    case Activation::kTanh:
      return std::tanh(x);
  }
  return x;
}

}  // namespace

void activate(Activation activation, Matrix x) noexcept {
  for (std::size_t r = 0; r < x.rows; ++r) {
    for (float& value : x.row(r)) {
      value = static_cast<float>(apply(activation, static_cast<double>(value)));
    }
  }
}

void activate_gated(Activation activation, ConstMatrix up, Matrix gate) noexcept {
  activate(activation, gate);
  for (std::size_t r = 0; r < gate.rows; ++r) {
    for (std::size_t c = 0; c < gate.cols; ++c) {
      gate(r, c) *= up(r, c);
    }
  }
}

}  // namespace attnviz::kernels
