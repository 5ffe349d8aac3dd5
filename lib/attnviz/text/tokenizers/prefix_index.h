// Which of many pieces a text begins with: a trie kept as a sorted list.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace attnviz {

class PrefixIndex {
 public:
  /// Finding takes as many steps as the longest piece that fits has bytes, and is done at each
  /// place of a text: pieces of files must not be longer.
  static constexpr std::size_t kLongestPiece = 1024;

  PrefixIndex() = default;
  /// The pieces must outlive the index; their positions in the list are their numbers. Empty ones
  /// are never found, of equal ones the last.
  explicit PrefixIndex(std::vector<std::string_view> pieces);

  /// Calls `found(number, size)` for each piece that `text` begins with, from short to long.
  template <class Found>
  void prefixes(std::string_view text, const Found& found) const;

  bool empty() const noexcept { return sorted_.empty(); }

 private:
  struct Item {
    std::string_view piece;
    std::uint32_t number;
  };
  // The items of [begin, end), which share their first `depth` bytes, that go on with `byte`.
  std::pair<std::size_t, std::size_t> narrow(std::size_t begin, std::size_t end, std::size_t depth,
                                             unsigned char byte) const noexcept;

  std::vector<Item> sorted_;
  std::array<std::pair<std::uint32_t, std::uint32_t>, 256> by_first_byte_{};
};

template <class Found>
void PrefixIndex::prefixes(std::string_view text, const Found& found) const {
  if (text.empty() || sorted_.empty()) {
    return;
  }
  std::size_t begin = by_first_byte_[static_cast<unsigned char>(text[0])].first;
  std::size_t end = by_first_byte_[static_cast<unsigned char>(text[0])].second;
  for (std::size_t depth = 1; begin < end; ++depth) {
    // A piece that ends here comes before those that go on.
    if (sorted_[begin].piece.size() == depth) {
      found(sorted_[begin].number, depth);
      ++begin;
    }
    if (depth == text.size()) {
      return;
    }
    std::tie(begin, end) = narrow(begin, end, depth, static_cast<unsigned char>(text[depth]));
  }
}

}  // namespace attnviz
