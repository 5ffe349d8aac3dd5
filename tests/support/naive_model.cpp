#include "support/naive_model.h"

#include <algorithm>
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

// Each pair as a complex number, multiplied by exp(i · position · 10000^(-2 pair / d)).
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

// The recursion in the ALiBi authors' published code.
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

// Each row of x [n, norm.weight.size()]; the same without a norm.
Values normed(const Norm& norm, Values x) {
  const std::size_t d = norm.weight.size();
  for (std::size_t first = 0; norm.present() && first < x.size(); first += d) {
    double mean = 0.0;
    for (std::size_t i = 0; norm.kind == NormKind::kLayer && i < d; ++i) {
      mean += x[first + i] / static_cast<double>(d);
    }
    double square = 0.0;
    for (std::size_t i = 0; i < d; ++i) {
      square += (x[first + i] - mean) * (x[first + i] - mean) / static_cast<double>(d);
    }
    for (std::size_t i = 0; i < d; ++i) {
      const double weight = static_cast<double>(norm.weight[i] + norm.weight_offset);
      x[first + i] = (x[first + i] - mean) / std::sqrt(square + norm.epsilon) * weight +
                     (norm.bias.empty() ? 0.0 : static_cast<double>(norm.bias[i]));
    }
  }
  return x;
}

Values mlp_of(const Mlp& mlp, const Values& x) {
  Values hidden = product(x, mlp.up.weight.as_floats(), mlp.up.bias);
  for (double& value : hidden) {
    value = std::max(value, 0.0);
  }
  return product(hidden, mlp.down.weight.as_floats(), mlp.down.bias);
}

Values sum(Values a, const Values& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] += b[i];
  }
  return a;
}

class NaiveRun {
 public:
  NaiveRun(const Model& model, const AttentionRequest& request, const NaiveEdits& edits)
      : model_(model), request_(request), edits_(edits), n_(model.inputs.rows) {}

  NaiveResult result() {
    Values stream;
    for (std::size_t i = 0; i < n_; ++i) {
      for (const float value : model_.inputs.row(i)) {
        stream.push_back(static_cast<double>(value));
      }
    }
    for (std::size_t layer = 0; layer < model_.n_layers(); ++layer) {
      stream = run_layer(layer, stream);
    }
    result_.output = stream;
    return std::move(result_);
  }

 private:
  Values run_layer(std::size_t index, const Values& x) {
    const LayerWeights& layer = model_.layers[index];
    const LayerOrder order = model_.config.order;
    const bool norms_first = order == LayerOrder::kPreNorm || order == LayerOrder::kParallel;
    NaiveLayer steps;
    steps.before = x;
    steps.contexts = contexts(index, norms_first ? normed(layer.attention_norm, x) : x);
    steps.attention = layer.has_output() ? output(layer, steps.contexts) : steps.contexts;
    steps.middle = normed(layer.after_attention_norm, steps.attention);
    if (model_.config.residual && layer.has_output()) {
      steps.middle = sum(steps.middle, x);
    }
    if (order == LayerOrder::kPostNorm) {
      steps.middle = normed(layer.attention_norm, steps.middle);
    }
    steps.after = steps.middle;
    if (order != LayerOrder::kAttentionOnly) {
      const Values& look = order == LayerOrder::kParallel ? x : steps.middle;
      steps.mlp =
          mlp_of(layer.mlp, order == LayerOrder::kPostNorm ? look : normed(layer.mlp_norm, look));
      for (double& value : steps.mlp) {
        value *= edits_.mlp_factor ? edits_.mlp_factor(index) : 1.0;
      }
      steps.after = sum(steps.middle, normed(layer.after_mlp_norm, steps.mlp));
      if (order == LayerOrder::kPostNorm) {
        steps.after = normed(layer.mlp_norm, steps.after);
      }
    }
    result_.layers.push_back(steps);
    return steps.after;
  }

  // Concatenated, [n_tokens, sum of d_value].
  Values contexts(std::size_t layer, const Values& look) {
    const std::vector<HeadWeights>& heads = model_.layers[layer].heads;
    std::vector<Values> patterns;
    std::vector<Values> contexts;
    for (std::size_t head = 0; head < heads.size(); ++head) {
      patterns.push_back(pattern({layer, head}, look));
      contexts.push_back(context({layer, head}, look, patterns.back()));
    }
    result_.patterns.push_back(patterns);
    Values side_by_side;
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t head = 0; head < heads.size(); ++head) {
        const std::size_t d_value = heads[head].d_value();
        for (std::size_t c = 0; c < d_value; ++c) {
          side_by_side.push_back(contexts[head][i * d_value + c]);
        }
      }
    }
    return side_by_side;
  }

  Values pattern(HeadId id, const Values& look) const {
    const LayerWeights& layer = model_.layers[id.layer];
    const HeadWeights& head = layer.heads[id.head];
    const Mask mask = request_.mask.value_or(model_.config.mask);
    const std::size_t d = head.d_head();
    Values q = product(look, head.query.weight.as_floats(), head.query.bias);
    Values k = product(look, head.key.weight.as_floats(), head.key.bias);
    if (model_.config.positions == Positions::kRope) {
      rotate(q, d);
      rotate(k, d);
    }
    Values pattern;
    for (std::size_t i = 0; i < n_; ++i) {
      Values scores(n_, kMinusInfinity);
      for (std::size_t j = 0; j < n_; ++j) {
        if (!mask.visible(i, j) || (edits_.hides && edits_.hides(id, i, j))) {
          continue;
        }
        double score = 0.0;
        for (std::size_t c = 0; c < d; ++c) {
          score += q[i * d + c] * k[j * d + c];
        }
        score /= request_.scale ? std::sqrt(static_cast<double>(d)) : 1.0;
        if (model_.config.positions == Positions::kAlibi) {
          score -= slopes(layer.heads.size())[id.head] *
                   std::abs(static_cast<double>(i) - static_cast<double>(j));
        }
        scores[j] = score / static_cast<double>(request_.temperature);
      }
      const Values weights = softmax_row(scores);
      pattern.insert(pattern.end(), weights.begin(), weights.end());
    }
    return pattern;
  }

  Values context(HeadId id, const Values& look, const Values& pattern) const {
    const HeadWeights& head = model_.layers[id.layer].heads[id.head];
    const double factor = edits_.context_factor ? edits_.context_factor(id) : 1.0;
    const Values v = product(look, head.value.weight.as_floats(), head.value.bias);
    Values context(n_ * head.d_value(), 0.0);
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 0; j < n_; ++j) {
        for (std::size_t c = 0; c < head.d_value(); ++c) {
          context[i * head.d_value() + c] +=
              factor * pattern[i * n_ + j] * v[j * head.d_value() + c];
        }
      }
    }
    return context;
  }

  Values output(const LayerWeights& layer, const Values& contexts) const {
    if (!layer.output.weight.empty()) {
      return product(contexts, layer.output.weight.as_floats(), layer.output.bias);
    }
    const std::size_t width = contexts.size() / n_;
    Values output(n_ * model_.config.d_model, 0.0);
    std::size_t first = 0;
    for (const HeadWeights& head : layer.heads) {
      Values own;
      for (std::size_t i = 0; i < n_; ++i) {
        for (std::size_t c = 0; c < head.d_value(); ++c) {
          own.push_back(contexts[i * width + first + c]);
        }
      }
      output = sum(output, product(own, head.output.as_floats(),
                                   first == 0 ? layer.output.bias : std::span<const float>()));
      first += head.d_value();
    }
    return output;
  }

  const Model& model_;
  const AttentionRequest& request_;
  const NaiveEdits& edits_;
  std::size_t n_;
  NaiveResult result_;
};

}  // namespace

NaiveResult naive_run(const Model& model, const AttentionRequest& request,
                      const NaiveEdits& edits) {
  return NaiveRun(model, request, edits).result();
}

}  // namespace attnviz::test
