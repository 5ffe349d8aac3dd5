#include "attnviz/analysis/telling_head.h"

#include <algorithm>
#include <span>
#include <utility>

#include "attnviz/core/exact_sum.h"
#include "attnviz/kernels/pooling_kernels.h"

namespace attnviz {

namespace {

constexpr double kLeastScore = 0.1;

// As pool_sums() rounds.
double rounded(float weight) {
  return coarsened(static_cast<double>(weight));
}

// The mean of a sum's other terms.
double mean_of_others(double sum, std::size_t count, float own) {
  return count > 1 ? (sum - rounded(own)) / static_cast<double>(count - 1) : 0.0;
}

}  // namespace

bool TellingHead::qualifies() const noexcept {
  return score >= kLeastScore || evidence != Evidence::kScore;
}

bool TellingHead::is_before(const TellingHead& other) const noexcept {
  const bool knows_context = head.layer > 0 && qualifies();
  const bool other_knows = other.head.layer > 0 && other.qualifies();
  if (knows_context != other_knows) {
    return knows_context;
  }
  if (evidence != other.evidence) {
    return evidence > other.evidence;
  }
  const auto strength = evidence == Evidence::kScore ? &TellingHead::score : &TellingHead::excess;
  return this->*strength != other.*strength ? this->*strength > other.*strength : head < other.head;
}

TellingHeads::TellingHeads(const std::vector<HeadId>& heads, const Visibility& visibility,
                           std::size_t n_queries, std::size_t n_keys, bool of_two_texts)
    : visibility_(visibility),
      n_queries_(n_queries),
      n_keys_(n_keys),
      same_tokens_(n_queries == n_keys && !of_two_texts),
      n_row_(n_queries),
      n_column_(n_keys) {
  std::vector<std::ptrdiff_t> begins(n_keys + 1);
  std::vector<std::size_t> n_near(n_keys);
  for (std::size_t query = 0; query < n_queries; ++query) {
    n_row_[query] = visibility.n_visible(query, 0, n_keys);
    visibility.each_range(query, n_keys, [&begins](std::size_t first_key, std::size_t end_key) {
      ++begins[first_key];
      --begins[end_key];
    });
    for (std::size_t key = query - std::min<std::size_t>(query, 1);
         same_tokens_ && key < std::min(query + 2, n_keys); ++key) {
      n_near[key] += visibility.visible(query, key) ? 1u : 0u;
    }
    for (std::size_t step = 0; same_tokens_ && step < kSteps.size(); ++step) {
      const std::size_t key = query + static_cast<std::size_t>(kSteps[step]);  // wraps below 0
      n_step_[step] += key > 0 && key < n_keys && visibility.visible(query, key) ? 1u : 0u;
    }
  }
  std::ptrdiff_t n_seeing = 0;
  for (std::size_t key = 0; key < n_keys; ++key) {
    n_seeing += begins[key];
    n_column_[key] = static_cast<std::size_t>(n_seeing) - n_near[key];
  }
  for (const HeadId head : heads) {
    heads_.try_emplace(head).first->second.result.head = head;
  }
}

void TellingHeads::judge(Judge judge) {
  judge_ = std::move(judge);
}

double TellingHeads::bytes(std::size_t n_heads, std::size_t n_tokens) noexcept {
  return static_cast<double>(n_heads) * static_cast<double>(n_tokens) *
         static_cast<double>(sizeof(Top) + sizeof(double));
}

bool TellingHeads::near(std::size_t query, std::size_t key) const noexcept {
  return same_tokens_ && key + 1 >= query && key <= query + 1;
}

TellingHeads::Top TellingHeads::top_of(std::size_t query, std::size_t first_key,
                                       ConstMatrix row) const {
  Top top;
  const std::size_t end_key = first_key + row.cols;
  const auto look_at = [&](std::size_t begin, std::size_t end) {
    begin = std::max(begin, first_key);
    end = std::min(end, end_key);
    if (begin >= end) {
      return;
    }
    const ConstMatrix part = row.col_block(begin - first_key, end - begin);
    float largest = top.weight;
    kernels::pool_largest(part, 0, part.cols, std::span(&largest, 1));
    if (largest > top.weight) {
      const std::span<const float> weights = part.row(0);
      const auto found = std::find(weights.begin(), weights.end(), largest);
      top = {largest,
             static_cast<std::uint32_t>(begin + static_cast<std::size_t>(found - weights.begin()))};
    }
  };
  if (!same_tokens_) {
    look_at(1, n_keys_);
  } else {
    look_at(1, query - std::min<std::size_t>(query, 1));
    look_at(std::max<std::size_t>(query + 2, 1), n_keys_);
  }
  return top;
}

void TellingHeads::rows(HeadId head, std::size_t first_query, std::size_t first_key,
                        ConstMatrix weights) {
  Head& to = heads_.at(head);
  {
    const std::scoped_lock lock(lock_of(head));
    to.tops.resize(n_queries_);
    to.columns.resize(n_keys_);
  }
  std::vector<double> columns(weights.cols);
  kernels::pool_sums(weights, 0, 1, columns);
  StepSums steps{};
  const std::size_t end_key = first_key + weights.cols;
  for (std::size_t i = 0; i < weights.rows; ++i) {
    const std::size_t query = first_query + i;
    to.tops[query] = top_of(query, first_key, weights.row_block(i, 1));
    if (!same_tokens_) {
      continue;
    }
    for (std::size_t key = std::max(query - std::min<std::size_t>(query, 1), first_key);
         key < std::min(query + 2, end_key); ++key) {
      columns[key - first_key] -= rounded(weights(i, key - first_key));
    }
    for (std::size_t step = 0; step < kSteps.size(); ++step) {
      const std::size_t key = query + static_cast<std::size_t>(kSteps[step]);  // wraps below 0
      if (key > 0 && key >= first_key && key < end_key) {
        steps[step] += rounded(weights(i, key - first_key));
      }
    }
  }
  const std::scoped_lock lock(lock_of(head));
  for (std::size_t i = 0; i < columns.size(); ++i) {
    to.columns[first_key + i] += columns[i];
  }
  for (std::size_t step = 0; step < kSteps.size(); ++step) {
    to.steps[step] += steps[step];
  }
  to.n_rows += weights.rows;
  if (to.n_rows == n_queries_) {
    to.result = scored(head, to);
    std::vector<Top>().swap(to.tops);  // not = {}, which keeps the memory
    std::vector<double>().swap(to.columns);
  }
}

double TellingHeads::baseline(const Head& head, std::size_t query) const {
  const Top top = head.tops[query];
  const auto beside = [&](std::size_t other) {
    const bool is_alike = other < n_queries_ && head.tops[other].key == top.key;
    return is_alike ? static_cast<double>(head.tops[other].weight) : 0.0;
  };
  const std::size_t n_seen = std::max<std::size_t>(n_row_[query], 1);
  double expected = std::max(1.0 / static_cast<double>(n_seen),
                             mean_of_others(head.columns[top.key], n_column_[top.key], top.weight));
  if (same_tokens_) {
    expected = std::max(expected, (beside(query - 1) + beside(query + 1)) / 2.0);  // -1 wraps
  }
  for (std::size_t step = 0; same_tokens_ && step < kSteps.size(); ++step) {
    if (query + static_cast<std::size_t>(kSteps[step]) == top.key) {
      expected = std::max(expected, mean_of_others(head.steps[step], n_step_[step], top.weight));
    }
  }
  return expected;
}

std::mutex& TellingHeads::lock_of(HeadId head) noexcept {
  constexpr std::size_t kSpread = 31;
  return locks_[(head.layer * kSpread + head.head) % locks_.size()];
}

TellingHead TellingHeads::score(HeadId head) const {
  return heads_.at(head).result;
}

TellingHead TellingHeads::scored(HeadId id, const Head& from) const {
  TellingHead result;
  result.head = id;
  constexpr double kSpeaking = 0.5;
  for (std::size_t query = 0; query < n_queries_; ++query) {
    std::size_t n_far = n_row_[query] - (visibility_.visible(query, 0) ? 1u : 0u);
    for (std::size_t key = std::max<std::size_t>(query, 2) - 1; key < std::min(query + 2, n_keys_);
         ++key) {
      n_far -= near(query, key) && visibility_.visible(query, key) ? 1u : 0u;
    }
    if (n_far == 0) {
      continue;
    }
    ++result.n_counted;
    const Top top = from.tops[query];
    if (!(top.weight > 0.0f)) {
      continue;
    }
    const double excess = static_cast<double>(top.weight) - baseline(from, query);
    result.share += static_cast<double>(top.weight);
    result.score += std::max(0.0, excess);
    const Evidence evidence =
        judge_ && excess >= kSpeaking ? judge_(query, top.key) : Evidence::kScore;
    if (std::pair(evidence, excess) > std::pair(result.evidence, result.excess)) {
      result.evidence = evidence;
      result.excess = excess;
      result.query = query;
      result.key = top.key;
      result.weight = top.weight;
    }
  }
  const double n = static_cast<double>(std::max<std::size_t>(result.n_counted, 1));
  result.score /= n;
  result.share /= n;
  return result;
}

TellingHead TellingHeads::best() const {
  const TellingHead* best = &heads_.begin()->second.result;
  for (const auto& [id, head] : heads_) {
    best = head.result.is_before(*best) ? &head.result : best;
  }
  return *best;
}

}  // namespace attnviz
