#include "attnviz/attention/pattern_sink.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "attnviz/attention/interventions.h"
#include "attnviz/core/error.h"
#include "attnviz/kernels/products.h"
#include "attnviz/kernels/row_kernels.h"

namespace attnviz {

RowStream::RowStream(const std::vector<HeadId>& heads, std::size_t n_keys, Append append, Take take)
    : heads_(heads.begin(), heads.end()),
      n_keys_(n_keys),
      append_(std::move(append)),
      take_(std::move(take)) {}

void RowStream::rows(HeadId /*head*/, std::size_t /*first_query*/, std::size_t /*first_key*/,
                     ConstMatrix /*weights*/) {
  throw std::logic_error("a row stream needs rows in order");
}

OrderedStep RowStream::ordered_rows(HeadId /*head*/, std::size_t /*first_query*/,
                                    std::size_t first_key, ConstMatrix weights) {
  std::vector<float> whole(n_keys_);
  std::string text;
  for (std::size_t i = 0; i < weights.rows; ++i) {
    const std::span<const float> row = weights.row(i);
    std::copy(row.begin(), row.end(), whole.begin() + static_cast<std::ptrdiff_t>(first_key));
    append_(text, whole);
  }
  return [this, n_rows = weights.rows, text = std::move(text)] { take_(n_rows, text); };
}

namespace {

// Sizes that would overflow when rounded up stay unchanged.
std::size_t whole_lines(std::size_t n_keys) noexcept {
  return std::max(n_keys, kernels::KeyPanels::rounded_up(n_keys));
}

}  // namespace

double PatternStore::bytes(std::size_t n_heads, std::size_t n_queries,
                           std::size_t n_keys) noexcept {
  return static_cast<double>(n_heads) * static_cast<double>(n_queries) *
         static_cast<double>(whole_lines(n_keys)) * static_cast<double>(sizeof(float));
}

PatternStore::PatternStore(std::vector<HeadId> heads, std::size_t n_queries, std::size_t n_keys)
    : heads_(std::move(heads)),
      n_queries_(n_queries),
      n_keys_(n_keys),
      weights_(checked_product({heads_.size(), n_queries}, "attention patterns"),
               whole_lines(n_keys)) {
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
  // Weights that do not fit the caches anyway bypass them.
  constexpr std::size_t kLarge = std::size_t{8} << 20;
  kernels::copy(weights, to, weights_.rows() * weights_.cols() * sizeof(float) > kLarge);
}

Matrix PatternStore::place(HeadId head, std::size_t first_query, std::size_t n_queries) {
  const auto index = index_of(head);
  return index ? weights_.view().row_block(*index * n_queries_ + first_query, n_queries) : Matrix{};
}

ConstMatrix PatternStore::pattern(HeadId head) const {
  const auto index = index_of(head);
  if (!index) {
    throw Error(ErrorKind::kUsage,
                fmt::format("head {}: its pattern was not kept", head_name(head)));
  }
  return weights_.view().row_block(*index * n_queries_, n_queries_).col_block(0, n_keys_);
}

}  // namespace attnviz
