#include "attnviz/analysis/lessons/compared_attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "attnviz/analysis/inspection.h"
#include "attnviz/attention/request.h"

namespace attnviz {

namespace {

double product_of_rows(std::span<const float> a, std::span<const float> b) noexcept {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  }
  return sum;
}

double mapped_product(std::span<const float> a, std::span<const float> b) noexcept {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += elu_plus_one(static_cast<double>(a[i])) * elu_plus_one(static_cast<double>(b[i]));
  }
  return sum;
}

// Each visible score in a row becomes its share.
template <class Score, class Share>
MatrixBuffer shares_of(std::size_t n, const Mask& mask, const Score& score, const Share& share) {
  MatrixBuffer weights(n, n);
  std::vector<double> row(n);
  for (std::size_t q = 0; q < n; ++q) {
    double largest = -std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < n; ++k) {
      row[k] = mask.visible(q, k) ? score(q, k) : -std::numeric_limits<double>::infinity();
      largest = std::max(largest, row[k]);
    }
    double sum = 0.0;
    for (std::size_t k = 0; k < n; ++k) {
      row[k] = mask.visible(q, k) ? share(row[k], largest) : 0.0;
      sum += row[k];
    }
    for (std::size_t k = 0; k < n; ++k) {
      weights.view()(q, k) = static_cast<float>(sum > 0.0 ? row[k] / sum : 0.0);
    }
  }
  return weights;
}

double exp_below(double score, double largest) noexcept {
  return std::exp(score - largest);
}

}  // namespace

std::vector<HeadRows> head_rows(const Model& model, const ModelInput& input, std::size_t layer) {
  std::vector<HeadId> heads;
  for (std::size_t head = 0; head < model.layers[layer].heads.size(); ++head) {
    heads.push_back({layer, head});
  }
  std::vector<Inspection> followed = inspect_heads(model, input, AttentionRequest(), heads,
                                                   input.size() - 1, /*all_queries=*/false);
  std::vector<HeadRows> all;
  all.reserve(followed.size());
  for (Inspection& head : followed) {
    all.push_back({std::move(head.q), std::move(head.k), std::move(head.v)});
  }
  return all;
}

MatrixBuffer softmax_weights(ConstMatrix query, ConstMatrix key, const Mask& mask) {
  const double factor = 1.0 / std::sqrt(static_cast<double>(query.cols));
  return shares_of(
      query.rows, mask,
      [&](std::size_t q, std::size_t k) {
        return factor * product_of_rows(query.row(q), key.row(k));
      },
      exp_below);
}

MatrixBuffer wide_head_weights(const std::vector<HeadRows>& heads, const Mask& mask) {
  std::size_t width = 0;
  for (const HeadRows& head : heads) {
    width += head.query.cols();
  }
  const double factor = 1.0 / std::sqrt(static_cast<double>(width));
  return shares_of(
      heads.front().query.rows(), mask,
      [&](std::size_t q, std::size_t k) {
        double score = 0.0;
        for (const HeadRows& head : heads) {
          score += factor * product_of_rows(head.query.view().row(q), head.key.view().row(k));
        }
        return score;
      },
      exp_below);
}

double elu_plus_one(double x) noexcept {
  return x > 0.0 ? x + 1.0 : std::exp(x);
}

MatrixBuffer linear_weights(ConstMatrix query, ConstMatrix key, const Mask& mask) {
  return shares_of(
      query.rows, mask,
      [&](std::size_t q, std::size_t k) { return mapped_product(query.row(q), key.row(k)); },
      [](double score, double /*largest*/) { return score; });
}

MatrixBuffer linear_contexts(ConstMatrix query, ConstMatrix key, ConstMatrix value) {
  std::vector<double> sums(key.cols * value.cols);  // of φ(k)ᵀ v
  std::vector<double> keys(key.cols);               // of φ(k)
  MatrixBuffer contexts(query.rows, value.cols);
  for (std::size_t t = 0; t < query.rows; ++t) {
    for (std::size_t i = 0; i < key.cols; ++i) {
      const double mapped = elu_plus_one(static_cast<double>(key(t, i)));
      keys[i] += mapped;
      for (std::size_t j = 0; j < value.cols; ++j) {
        sums[i * value.cols + j] += mapped * static_cast<double>(value(t, j));
      }
    }
    double norm = 0.0;
    std::vector<double> context(value.cols);
    for (std::size_t i = 0; i < query.cols; ++i) {
      const double mapped = elu_plus_one(static_cast<double>(query(t, i)));
      norm += mapped * keys[i];
      for (std::size_t j = 0; j < value.cols; ++j) {
        context[j] += mapped * sums[i * value.cols + j];
      }
    }
    for (std::size_t j = 0; j < value.cols; ++j) {
      contexts.view()(t, j) = static_cast<float>(context[j] / norm);
    }
  }
  return contexts;
}

double largest_departure(ConstMatrix weights, ConstMatrix value, ConstMatrix contexts) noexcept {
  double largest = 0.0;
  for (std::size_t q = 0; q < weights.rows; ++q) {
    for (std::size_t j = 0; j < value.cols; ++j) {
      double context = 0.0;
      for (std::size_t k = 0; k < weights.cols; ++k) {
        context += static_cast<double>(weights(q, k)) * static_cast<double>(value(k, j));
      }
      largest = std::max(largest, std::abs(context - static_cast<double>(contexts(q, j))));
    }
  }
  return largest;
}

double mean_largest(ConstMatrix weights) noexcept {
  double sum = 0.0;
  for (std::size_t row = 0; row < weights.rows; ++row) {
    sum += static_cast<double>(*std::ranges::max_element(weights.row(row)));
  }
  return sum / static_cast<double>(weights.rows);
}

}  // namespace attnviz
