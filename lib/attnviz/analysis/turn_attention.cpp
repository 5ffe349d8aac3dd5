#include "attnviz/analysis/turn_attention.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

namespace attnviz {

TurnAttentionSink::TurnAttentionSink(const std::vector<HeadId>& heads, const FoldedText& turns,
                                     float largest_sum)
    : n_tokens_(turns.text.size(), 0),
      means_({heads}, turns.text.size(), largest_sum),
      merged_(means_, turns.numbers, largest_sum) {
  for (const std::size_t number : turns.numbers) {
    ++n_tokens_[number];
  }
}

TurnAttention TurnAttentionSink::take() {
  const MatrixBuffer kept = means_.take_mean(0);
  const ConstMatrix means = kept.view();
  const std::size_t n = n_tokens_.size();
  const double n_tokens = std::reduce(n_tokens_.begin(), n_tokens_.end(), 0.0);
  std::vector<double> sums(n, 0.0);
  for (std::size_t query = 0; query < n; ++query) {
    for (std::size_t key = 0; key < n; ++key) {
      sums[key] +=
          static_cast<double>(n_tokens_[query]) / n_tokens * static_cast<double>(means(query, key));
    }
  }
  TurnAttention shares;
  std::ranges::transform(sums, std::back_inserter(shares.mean),
                         [](double sum) { return static_cast<float>(sum); });
  const auto last = means.row(n - 1);
  shares.from_last.assign(last.begin(), last.end());
  return shares;
}

}  // namespace attnviz
