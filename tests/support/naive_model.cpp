#include "support/naive_model.h"

#include <cmath>
#include <complex>
#include <limits>

#include "attnviz/model/mask.h"

namespace attnviz::test {

namespace {

using Values = std::vector<double>;

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

// x [n, w.rows] · w, plus a bias when there is one.
Values product(const Values& x, ConstMatrix w, std::span<const float> bias) {
  const std::size_t n = x.size() / w.rows;
  Values out(n * w.cols);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < w.cols; ++j) {
      double sum = bias.empty() ? 0.0 : static_cast<double>(bias[j]);
      for (std::size_t k = 0; k < w.rows; ++k) {
        sum += x[i * w.rows + k] * static_cast<double>(w(k, j));
      }
      out[i * w.cols + j] = sum;
    }
  }
  return out;
}

// Each pair as a complex number, turned by exp(i · position · 10000^(-2 pair / d)).
void rotate(Values& x, std::size_t d) {
  for (std::size_t position = 0; position < x.size() / d; ++position) {
    for (std::size_t pair = 0; pair < d / 2; ++pair) {
      const double frequency =
          1.0 / std::pow(10000.0, 2.0 * static_cast<double>(pair) / static_cast<double>(d));
      double& real = x[position * d + pair];
      double& imaginary = x[position * d + pair + d / 2];
      const auto turned = std::complex<double>(real, imaginary) *
                          std::polar(1.0, static_cast<double>(position) * frequency);
      real = turned.real();
      imaginary = turned.imag();
    }
  }
}

// The recursion of the ALiBi authors' published code.
Values slopes(std::size_t n_heads) {
  const double log = std::log2(static_cast<double>(n_heads));
  Values all;
  if (log == std::floor(log)) {
    const double start = std::pow(2.0, -std::pow(2.0, -(log - 3.0)));
    for (std::size_t i = 0; i < n_heads; ++i) {
      all.push_back(start * std::pow(start, static_cast<double>(i)));
    }
    return all;
  }
  const auto closest = static_cast<std::size_t>(std::pow(2.0, std::floor(log)));
  all = slopes(closest);
  const Values twice = slopes(2 * closest);
  for (std::size_t i = 0; i < n_heads - closest; ++i) {
    all.push_back(twice[2 * i]);
  }
  return all;
}

Values softmax_row(const Values& scores) {
  double largest = kMinusInfinity;
  for (const double score : scores) {
    largest = std::max(largest, score);
  }
  Values weights(scores.size(), 0.0);
  if (largest == kMinusInfinity) {
    return weights;
  }
  double sum = 0.0;
  for (const double score : scores) {
    sum += std::exp(score - largest);
  }
  for (std::size_t i = 0; i < scores.size(); ++i) {
    weights[i] = std::exp(scores[i] - largest) / sum;
  }
  return weights;
}

}  // namespace

NaiveResult naive_run(const Model& model, const AttentionRequest& request) {
  const std::size_t n = model.inputs.rows;
  const Mask mask = request.mask.value_or(model.config.mask);
  const auto temperature = static_cast<double>(request.temperature);
  NaiveResult result;
  Values stream;
  for (std::size_t i = 0; i < n; ++i) {
    for (const float value : model.inputs.row(i)) {
      stream.push_back(static_cast<double>(value));
    }
  }
  for (const LayerWeights& layer : model.layers) {
    const std::size_t n_heads = layer.heads.size();
    std::vector<Values> patterns;
    std::vector<Values> contexts;
    for (std::size_t h = 0; h < n_heads; ++h) {
      const HeadWeights& head = layer.heads[h];
      const std::size_t d = head.d_head();
      Values q = product(stream, head.query.weight.as_floats(), head.query.bias);
      Values k = product(stream, head.key.weight.as_floats(), head.key.bias);
      const Values v = product(stream, head.value.weight.as_floats(), head.value.bias);
      if (model.config.positions == Positions::kRope) {
        rotate(q, d);
        rotate(k, d);
      }
      Values pattern;
      Values context(n * head.d_value(), 0.0);
      for (std::size_t i = 0; i < n; ++i) {
        Values scores(n, kMinusInfinity);
        for (std::size_t j = 0; j < n; ++j) {
          if (!mask.visible(i, j)) {
            continue;
          }
          double score = 0.0;
          for (std::size_t c = 0; c < d; ++c) {
            score += q[i * d + c] * k[j * d + c];
          }
          score /= request.scale ? std::sqrt(static_cast<double>(d)) : 1.0;
          if (model.config.positions == Positions::kAlibi) {
            score -= slopes(n_heads)[h] * std::abs(static_cast<double>(i) - static_cast<double>(j));
          }
          scores[j] = score / temperature;
        }
        const Values weights = softmax_row(scores);
        pattern.insert(pattern.end(), weights.begin(), weights.end());
        for (std::size_t j = 0; j < n; ++j) {
          for (std::size_t c = 0; c < head.d_value(); ++c) {
            context[i * head.d_value() + c] += weights[j] * v[j * head.d_value() + c];
          }
        }
      }
      patterns.push_back(pattern);
      contexts.push_back(context);
    }
    result.patterns.push_back(patterns);

    Values side_by_side;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t h = 0; h < n_heads; ++h) {
        const std::size_t d_value = layer.heads[h].d_value();
        for (std::size_t c = 0; c < d_value; ++c) {
          side_by_side.push_back(contexts[h][i * d_value + c]);
        }
      }
    }
    if (!layer.has_output()) {
      stream = side_by_side;
      continue;
    }
    Values output(n * model.config.d_model, 0.0);
    if (!layer.output.weight.empty()) {
      output = product(side_by_side, layer.output.weight.as_floats(), layer.output.bias);
    } else {
      for (std::size_t h = 0; h < n_heads; ++h) {
        const Values part = product(contexts[h], layer.heads[h].output.as_floats(),
                                    h == 0 ? layer.output.bias : std::span<const float>());
        for (std::size_t i = 0; i < output.size(); ++i) {
          output[i] += part[i];
        }
      }
    }
    for (std::size_t i = 0; i < output.size(); ++i) {
      output[i] += model.config.residual ? stream[i] : 0.0;
    }
    stream = output;
  }
  result.output = stream;
  return result;
}

}  // namespace attnviz::test
