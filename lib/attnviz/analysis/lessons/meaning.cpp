#include "attnviz/analysis/lessons/meaning.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "attnviz/attention/blocked_product.h"
#include "attnviz/attention/engine.h"
#include "attnviz/attention/run_observer.h"
#include "attnviz/core/error.h"
#include "attnviz/text/fold.h"
#include "attnviz/text/token_choice.h"

namespace attnviz {

namespace {

// The mean of some tokens' rows, in the order of the run.
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
  // A number is a word like any other here, and no index.
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

}  // namespace attnviz
