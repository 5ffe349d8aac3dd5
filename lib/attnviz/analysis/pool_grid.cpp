#include "attnviz/analysis/pool_grid.h"

#include <fmt/core.h>

#include <algorithm>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"

namespace attnviz {

PoolAxis PoolAxis::at_most(std::size_t size, std::size_t most, const EntryNumbers& first) {
  PoolAxis axis{size, 1, first};
  const std::size_t apart = axis.apart();
  const std::size_t room = std::max<std::size_t>(most - std::min(apart, most), 1);
  axis.block = std::max<std::size_t>(divided_up(size - apart, room), 1);
  return axis;
}

std::string PoolAxis::range(std::size_t cell, const char* dash) const {
  const std::string first_number = name(cell);
  const std::size_t last = end(cell) - 1;
  return last == begin(cell) ? first_number : first_number + dash + std::to_string(first.of(last));
}

std::string_view pool_name(PoolKind kind) noexcept {
  return kind == PoolKind::kMean ? "mean" : "largest";
}

PoolKind parse_pool(std::string_view word) {
  if (const auto kind = choice_named(kPools, word)) {
    return *kind;
  }
  throw Error(ErrorKind::kUsage,
              fmt::format("pool: expected max or mean, found {}", attnviz::quoted(word)));
}

}  // namespace attnviz
