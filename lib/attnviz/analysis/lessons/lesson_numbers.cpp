#include "attnviz/analysis/lessons/lesson_numbers.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "attnviz/analysis/inspection.h"
#include "attnviz/attention/blocked_product.h"
#include "attnviz/attention/engine.h"
#include "attnviz/attention/request.h"
#include "attnviz/attention/run_observer.h"
#include "attnviz/core/error.h"
#include "attnviz/text/token_choice.h"
#include "attnviz/text/units.h"

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

// Replaces each visible score of a row by its share.
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

namespace {

// Averages some tokens' rows, in the order of the run.
class MeanRows : public RunObserver {
 public:
  MeanRows(const Model& model, std::span<const std::size_t> tokens)
      : tokens_(tokens), rows_(model.n_layers() + 1, model.config.d_model) {}

  bool wants(std::size_t layer, LayerStep step) const override {
    return step == LayerStep::kAfter || (step == LayerStep::kBefore && layer == 0);
  }
  void stream(const RunPlace& /*at*/, ConstMatrix x) override {
    if (x.cols != rows_.cols()) {
      return;  // the contexts of a last layer without W_O
    }
    std::vector<double> sums(x.cols);
    for (const std::size_t token : tokens_) {
      for (std::size_t i = 0; i < x.cols; ++i) {
        sums[i] += static_cast<double>(x(token, i));
      }
    }
    for (std::size_t i = 0; i < x.cols; ++i) {
      rows_.view()(count_, i) = static_cast<float>(sums[i] / static_cast<double>(tokens_.size()));
    }
    ++count_;
  }

  MatrixBuffer take() {
    return count_ == rows_.rows() ? std::move(rows_)
                                  : copy_of(std::as_const(rows_).view().row_block(0, count_));
  }

 private:
  std::span<const std::size_t> tokens_;
  MatrixBuffer rows_;
  std::size_t count_ = 0;
};

}  // namespace

WordPlace place_of_word(const TokenizedText& text, const std::string& word,
                        std::string_view parameter) {
  if (word.find(' ') != std::string::npos) {
    TokenChoices choices = tokens_of_words(text, word, parameter);
    return {std::move(choices.indices), std::move(choices.note)};
  }
  const std::vector<std::size_t> numbers = word_numbers(text);
  // A number is a word here like any other, not an index.
  const std::string asked = word.find('#') == std::string::npos ? "=" + word : word;
  TokenChoice choice = choose_token(merged_words(text, numbers), asked, parameter);
  WordPlace place{{}, std::move(choice.note)};
  for (std::size_t token = 0; token < numbers.size(); ++token) {
    if (numbers[token] == choice.index) {
      place.tokens.push_back(token);
    }
  }
  return place;
}

MatrixBuffer word_vectors(const Model& model, const TokenizedText& text,
                          const AttentionRequest& request, std::span<const std::size_t> tokens) {
  const InputColumns input(text);
  MeanRows rows(model, tokens);
  run(model, input.view(), request, rows);
  return rows.take();
}

std::optional<double> cosine(std::span<const float> a, std::span<const float> b) noexcept {
  double product = 0.0, of_a = 0.0, of_b = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    product += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    of_a += static_cast<double>(a[i]) * static_cast<double>(a[i]);
    of_b += static_cast<double>(b[i]) * static_cast<double>(b[i]);
  }
  const double cosine = product / std::sqrt(of_a) / std::sqrt(of_b);
  return std::isfinite(cosine) ? std::optional(std::clamp(cosine, -1.0, 1.0)) : std::nullopt;
}

namespace {

void require_positive(const char* what, double number) {
  if (!(number > 0.0) || !std::isfinite(number)) {
    throw Error(ErrorKind::kUsage,
                fmt::format("{}: expected a number above 0, found {}", what, number));
  }
}

void require_scores(std::span<const double> scores) {
  if (scores.empty()) {
    throw Error(ErrorKind::kUsage, "softmax: expected at least one score");
  }
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (std::isnan(scores[i]) || scores[i] == std::numeric_limits<double>::infinity()) {
      throw Error(
          ErrorKind::kUsage,
          fmt::format("softmax: score {} is {}: expected a number, or -inf, which is masked", i + 1,
                      scores[i]));
    }
  }
}

NaiveSoftmax naive_softmax(std::span<const double> divided) {
  NaiveSoftmax naive;
  for (const double s : divided) {
    constexpr double kMost = std::numeric_limits<float>::max();
    naive.exponentials.push_back(
        std::isinf(s) ? 0.0f : std::exp(static_cast<float>(std::clamp(s, -kMost, kMost))));
    naive.sum += naive.exponentials.back();
  }
  for (const float exponential : naive.exponentials) {
    naive.weights.push_back(exponential / naive.sum);
  }
  return naive;
}

}  // namespace

std::size_t SoftmaxSteps::n_visible() const noexcept {
  std::size_t count = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    count += is_masked(i) ? 0U : 1U;
  }
  return count;
}

SoftmaxSteps softmax_steps(std::span<const double> scores, double divide_by, double temperature) {
  require_scores(scores);
  require_positive("divide by", divide_by);
  require_positive("temperature", temperature);
  SoftmaxSteps steps;
  steps.divide_by = divide_by;
  steps.temperature = temperature;
  steps.scores.assign(scores.begin(), scores.end());
  for (const double score : scores) {
    const double quotient = score / divide_by / temperature;
    if (std::isfinite(score) && !std::isfinite(quotient)) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("softmax: {} divided by {} and {} is too large for a number", score,
                              divide_by, temperature));
    }
    steps.divided.push_back(quotient);
  }
  const double largest = *std::ranges::max_element(steps.divided);
  const bool all_masked = std::isinf(largest);
  steps.largest = all_masked ? 0.0 : largest;
  for (const double s : steps.divided) {
    steps.exponentials.push_back(std::exp(s - steps.largest));
  }
  steps.sum = std::accumulate(steps.exponentials.begin(), steps.exponentials.end(), 0.0);
  for (const double exponential : steps.exponentials) {
    const double weight = all_masked ? 0.0 : exponential / steps.sum;
    steps.weights.push_back(weight);
    steps.entropy_bits -= weight > 0.0 ? weight * std::log2(weight) : 0.0;
  }
  steps.entropy_bits = std::max(steps.entropy_bits, 0.0);  // -0 for a single score
  NaiveSoftmax naive = naive_softmax(steps.divided);
  if (!all_masked && (!std::isfinite(naive.sum) || naive.sum == 0.0f)) {
    steps.naive = std::move(naive);
  }
  return steps;
}

}  // namespace attnviz
