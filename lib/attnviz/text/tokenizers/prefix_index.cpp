#include "attnviz/text/tokenizers/prefix_index.h"

#include <algorithm>

namespace attnviz {

PrefixIndex::PrefixIndex(std::vector<std::string_view> pieces) {
  sorted_.reserve(pieces.size());
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (!pieces[i].empty()) {
      sorted_.push_back({pieces[i], static_cast<std::uint32_t>(i)});
    }
  }
  // The later of equal pieces goes first, so that unique keeps it.
  std::sort(sorted_.begin(), sorted_.end(), [](const Item& a, const Item& b) {
    return a.piece != b.piece ? a.piece < b.piece : a.number > b.number;
  });
  sorted_.erase(std::unique(sorted_.begin(), sorted_.end(),
                            [](const Item& a, const Item& b) { return a.piece == b.piece; }),
                sorted_.end());
  for (std::size_t i = 0; i < sorted_.size(); ++i) {
    auto& range = by_first_byte_[static_cast<unsigned char>(sorted_[i].piece[0])];
    if (range.second == 0) {
      range.first = static_cast<std::uint32_t>(i);
    }
    range.second = static_cast<std::uint32_t>(i + 1);
  }
}

std::pair<std::size_t, std::size_t> PrefixIndex::narrow(std::size_t begin, std::size_t end,
                                                        std::size_t depth,
                                                        unsigned char byte) const noexcept {
  const auto at = [&](std::size_t i) {
    return static_cast<unsigned char>(sorted_[i].piece[depth]);
  };
  if (begin < end && at(begin) == byte && at(end - 1) == byte) {  // most often
    return {begin, end};
  }
  std::size_t first = begin;
  for (std::size_t last = end; first < last;) {
    const std::size_t middle = first + (last - first) / 2;
    if (at(middle) < byte) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  // The run is short more often than not: look in steps that double.
  std::size_t behind = first;
  std::size_t step = 1;
  while (behind < end && at(behind) == byte) {
    behind = std::min(end, behind + step);
    step *= 2;
  }
  std::size_t low = first;
  for (std::size_t high = behind; low < high;) {
    const std::size_t middle = low + (high - low) / 2;
    if (at(middle) == byte) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return {first, low};
}

}  // namespace attnviz
