#include "attnviz/attention/pattern_store.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "attnviz/attention/head_selection.h"
#include "attnviz/core/error.h"

namespace attnviz {

PatternStore::PatternStore(std::vector<HeadId> heads, std::size_t n_tokens)
    : heads_(std::move(heads)),
      n_tokens_(n_tokens),
      weights_(checked_product({heads_.size(), n_tokens}, "attention patterns"), n_tokens) {
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

void PatternStore::rows(HeadId head, std::size_t first_query, ConstMatrix weights) {
  const auto index = index_of(head);
  if (!index) {
    return;
  }
  const Matrix to = weights_.view().row_block(*index * n_tokens_ + first_query, weights.rows);
  for (std::size_t row = 0; row < weights.rows; ++row) {
    std::copy_n(weights.row_data(row), n_tokens_, to.row_data(row));
  }
}

ConstMatrix PatternStore::pattern(HeadId head) const {
  const auto index = index_of(head);
  if (!index) {
    throw Error(ErrorKind::kUsage,
                fmt::format("head {}: its pattern was not kept", head_name(head)));
  }
  return weights_.view().row_block(*index * n_tokens_, n_tokens_);
}

}  // namespace attnviz
