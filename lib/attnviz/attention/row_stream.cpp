#include "attnviz/attention/row_stream.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

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

}  // namespace attnviz
