#include "attnviz/attention/pattern_store.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "attnviz/attention/head_selection.h"
#include "attnviz/core/error.h"
#include "attnviz/kernels/copy.h"

namespace attnviz {

PatternStore::PatternStore(std::vector<HeadId> heads, std::size_t n_queries, std::size_t n_keys)
    : heads_(std::move(heads)),
      n_queries_(n_queries),
      weights_(checked_product({heads_.size(), n_queries}, "attention patterns"), n_keys) {
  for (std::size_t i = 0; i < heads_.size(); ++i) {
    indices_.emplace(heads_[i], i);
  }
}

std::optional<std::size_t> PatternStore::index_of(HeadId head) const noexcept {
  const auto found = indices_.find(head);
  return found == indices_.end() ? std::nullopt : std::optional(found->second);
}

bool PatternStore::wants(HeadId head) const {
  return index_of(head).has_value();
}

void PatternStore::rows(HeadId head, std::size_t first_query, std::size_t first_key,
                        ConstMatrix weights) {
  const auto index = index_of(head);
  if (!index) {
    return;
  }
  const Matrix to = weights_.view()
                        .row_block(*index * n_queries_ + first_query, weights.rows)
                        .col_block(first_key, weights.cols);
  // What does not fit the caches anyway need not pass through them.
  constexpr std::size_t kLarge = std::size_t{8} << 20;
  kernels::copy(weights, to, weights_.rows() * weights_.cols() * sizeof(float) > kLarge);
}

Matrix PatternStore::place(HeadId head, std::size_t first_query, std::size_t n_queries) {
  const auto index = index_of(head);
  constexpr std::size_t kLine = 16;
  return index && weights_.cols() % kLine == 0
             ? weights_.view().row_block(*index * n_queries_ + first_query, n_queries)
             : Matrix{};
}

ConstMatrix PatternStore::pattern(HeadId head) const {
  const auto index = index_of(head);
  if (!index) {
    throw Error(ErrorKind::kUsage,
                fmt::format("head {}: its pattern was not kept", head_name(head)));
  }
  return weights_.view().row_block(*index * n_queries_, n_queries_);
}

}  // namespace attnviz
