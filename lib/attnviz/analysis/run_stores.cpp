#include "attnviz/analysis/run_stores.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

namespace attnviz {

bool has_sinks(const Model& model) noexcept {
  return std::ranges::any_of(model.layers,
                             [](const LayerWeights& layer) { return !layer.sinks.empty(); });
}

SinkStore::SinkStore(const Model& model, std::span<const HeadId> heads, std::size_t n_tokens)
    : n_tokens_(n_tokens) {
  for (const HeadId head : heads) {
    if (!model.layers[head.layer].sinks.empty()) {
      weights_.emplace(head, std::vector<float>(n_tokens));
    }
  }
}

void SinkStore::sinks(HeadId head, std::size_t first_query, std::span<const float> weights) {
  const auto known = weights_.find(head);
  if (known != weights_.end()) {
    std::ranges::copy(weights, known->second.begin() + static_cast<std::ptrdiff_t>(first_query));
  }
}

std::vector<float> SinkStore::mean(std::span<const HeadId> heads) const {
  std::vector<double> sums;
  for (const HeadId head : heads) {
    if (const auto known = weights_.find(head); known != weights_.end()) {
      sums.resize(n_tokens_);
      for (std::size_t i = 0; i < n_tokens_; ++i) {
        sums[i] += static_cast<double>(known->second[i]);
      }
    }
  }
  std::vector<float> means;
  means.reserve(sums.size());
  for (const double sum : sums) {
    means.push_back(static_cast<float>(sum / static_cast<double>(heads.size())));
  }
  return means;
}

std::vector<float> folded_sink(std::span<const float> sink, std::span<const std::size_t> units) {
  std::vector<double> sums;
  std::vector<std::size_t> counts;
  for (std::size_t i = 0; i < sink.size(); ++i) {
    sums.resize(std::max(sums.size(), units[i] + 1));
    counts.resize(sums.size());
    sums[units[i]] += static_cast<double>(sink[i]);
    ++counts[units[i]];
  }
  std::vector<float> means;
  means.reserve(sums.size());
  for (std::size_t i = 0; i < sums.size(); ++i) {
    means.push_back(static_cast<float>(sums[i] / static_cast<double>(counts[i])));
  }
  return means;
}

std::vector<HeadId> state_heads(const Model& model) {
  std::vector<HeadId> heads;
  for (std::size_t layer = 0; layer < model.n_layers(); ++layer) {
    const Recurrence& states = model.layers[layer].recurrence;
    for (std::size_t head = 0; states.present() && head < states.n_heads; ++head) {
      heads.push_back({layer, head});
    }
  }
  return heads;
}

DecayStore::DecayStore(const std::vector<HeadId>& heads) {
  for (const HeadId head : heads) {
    layers_.insert(head.layer);
  }
}

void DecayStore::decay(const RunPlace& at, ConstMatrix log_alpha) {
  Sums& sums = sums_[at.layer];
  const std::size_t n_heads = sums.n_heads = log_alpha.cols;
  sums.logs.resize(at.first_token * n_heads);  // drops what was fed here before
  for (std::size_t row = 0; row < log_alpha.rows; ++row) {
    for (std::size_t head = 0; head < n_heads; ++head) {
      const std::size_t place = sums.logs.size();
      const double before = place < n_heads ? 0.0 : sums.logs[place - n_heads];
      sums.logs.push_back(before + static_cast<double>(log_alpha(row, head)));
    }
  }
}

void DecayStore::fill(HeadId head, Matrix pattern) const {
  const Sums& sums = sums_.at(head.layer);
  const auto log_at = [&](std::size_t token) {
    return sums.logs[token * sums.n_heads + head.head];
  };
  for (std::size_t now = 0; now < pattern.rows; ++now) {
    for (std::size_t then = 0; then < pattern.cols; ++then) {
      pattern(now, then) =
          then > now ? 0.0f : static_cast<float>(std::exp(log_at(now) - log_at(then)));
    }
  }
}

std::vector<std::size_t> expert_layers(const Model& model) {
  std::vector<std::size_t> layers;
  for (std::size_t layer = 0; layer < model.n_layers(); ++layer) {
    if (model.layers[layer].experts.present()) {
      layers.push_back(layer);
    }
  }
  return layers;
}

void RouterStore::router(const RunPlace& at, const RoutedTokens& routed) {
  auto place = std::ranges::lower_bound(routed_, at.layer, {}, &RoutedLayer::layer);
  if (place == routed_.end() || place->layer != at.layer) {
    place = routed_.insert(place, {at.layer, {}});
  }
  RoutedTokens& all = place->tokens;
  all.n_experts = routed.n_experts;
  all.n_used = routed.n_used;
  all.experts.resize(at.first_token * routed.n_used);  // drops what was fed here before
  all.factors.resize(all.experts.size());
  all.experts.insert(all.experts.end(), routed.experts.begin(), routed.experts.end());
  all.factors.insert(all.factors.end(), routed.factors.begin(), routed.factors.end());
}

std::vector<RoutedLayer> RouterStore::take() {
  return std::exchange(routed_, {});
}

double sum_of(std::span<const float> weights) noexcept {
  double sum = 0.0;
  for (const float weight : weights) {
    sum += static_cast<double>(weight);
  }
  return sum;
}

void scale_to_one(std::span<float> weights) noexcept {
  const double sum = sum_of(weights);
  for (float& weight : weights) {
    weight = scaled_by(sum, weight);
  }
}

MatrixBuffer without_first_key(ConstMatrix weights) {
  MatrixBuffer rest(weights.rows, weights.cols - 1);
  for (std::size_t query = 0; query < weights.rows; ++query) {
    const std::span<const float> row = weights.row(query).subspan(1);
    std::copy(row.begin(), row.end(), rest.view().row(query).begin());
    scale_to_one(rest.view().row(query));
  }
  return rest;
}

namespace {

constexpr std::size_t kNotChosen = std::numeric_limits<std::size_t>::max();

}  // namespace

RestrictSink::RestrictSink(PatternSink& target, std::span<const std::size_t> tokens,
                           std::size_t n_tokens)
    : target_(target), tokens_(tokens.begin(), tokens.end()), place_of_(n_tokens, kNotChosen) {
  for (std::size_t place = 0; place < tokens_.size(); ++place) {
    place_of_[tokens_[place]] = place;
  }
}

void RestrictSink::rows(HeadId head, std::size_t first_query, std::size_t first_key,
                        ConstMatrix weights) {
  std::vector<float> kept(tokens_.size());
  for (std::size_t row = 0; row < weights.rows; ++row) {
    const std::size_t place = place_of_[first_query + row];
    if (place == kNotChosen) {
      continue;
    }
    double sum = 0.0;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const std::size_t key = tokens_[i] - first_key;  // wraps around below first_key
      kept[i] = tokens_[i] >= first_key && key < weights.cols ? weights(row, key) : 0.0f;
      sum += static_cast<double>(kept[i]);
    }
    for (float& weight : kept) {
      weight = sum > 0.0 ? static_cast<float>(static_cast<double>(weight) / sum) : 0.0f;
    }
    target_.rows(head, place, 0, {kept.data(), 1, kept.size(), kept.size()});
  }
}

namespace {

std::vector<std::size_t> token_counts(std::span<const std::size_t> words) {
  std::vector<std::size_t> counts(words.empty() ? 0 : words.back() + 1, 0);
  for (const std::size_t word : words) {
    ++counts[word];
  }
  return counts;
}

std::size_t longest_word(const std::vector<std::size_t>& counts) {
  return counts.empty() ? 1 : *std::max_element(counts.begin(), counts.end());
}

}  // namespace

MergeSink::MergeSink(PatternSink& target, std::span<const std::size_t> words,
                     std::span<const std::size_t> key_words, float largest_sum)
    : target_(target),
      word_of_(words.begin(), words.end()),
      key_word_of_(key_words.begin(), key_words.end()),
      n_tokens_of_(token_counts(words)),
      n_key_words_(key_words.empty() ? 0 : key_words.back() + 1),
      sum_(static_cast<double>(longest_word(n_tokens_of_)) * static_cast<double>(largest_sum)) {}

void MergeSink::add_row(std::span<const float> weights, std::size_t first_key,
                        Sums& sums) const noexcept {
  for (std::size_t key = 0; key < weights.size(); ++key) {
    sums[key_word_of_[first_key + key]] += sum_.of(weights[key]);
  }
}

void MergeSink::hand_over(HeadId head, std::size_t word, const Sums& sums) {
  std::vector<float> means(n_key_words_);
  std::transform(sums.begin(), sums.end(), means.begin(), [&](std::int64_t sum) {
    return static_cast<float>(sum_.mean(sum, n_tokens_of_[word]));
  });
  target_.rows(head, word, 0, {means.data(), 1, means.size(), means.size()});
}

void MergeSink::keep(HeadId head, std::size_t word, std::size_t n_queries, const Sums& sums) {
  Unfinished whole;
  {
    const std::lock_guard lock(mutex_);
    Unfinished& kept = unfinished_[{head, word}];
    kept.sums.resize(n_key_words_, 0);
    std::transform(sums.begin(), sums.end(), kept.sums.begin(), kept.sums.begin(),
                   [](std::int64_t a, std::int64_t b) { return a + b; });
    kept.n_queries += n_queries;
    if (kept.n_queries < n_tokens_of_[word]) {
      return;
    }
    whole = std::move(kept);
    unfinished_.erase({head, word});
  }
  hand_over(head, word, whole.sums);
}

void MergeSink::rows(HeadId head, std::size_t first_query, std::size_t first_key,
                     ConstMatrix weights) {
  if (!wants(head)) {
    return;
  }
  Sums sums(n_key_words_);
  for (std::size_t row = 0; row < weights.rows;) {
    const std::size_t word = word_of_[first_query + row];
    std::fill(sums.begin(), sums.end(), 0);
    std::size_t n_queries = 0;
    for (; row < weights.rows && word_of_[first_query + row] == word; ++row) {
      add_row(weights.row(row), first_key, sums);
      ++n_queries;
    }
    if (n_queries == n_tokens_of_[word]) {
      hand_over(head, word, sums);
    } else {
      keep(head, word, n_queries, sums);
    }
  }
}

}  // namespace attnviz
