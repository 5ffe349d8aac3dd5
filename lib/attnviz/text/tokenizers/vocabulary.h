// Pieces and their ids, looked up in both directions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "attnviz/text/tokenized_text.h"

namespace attnviz {

/// Not an id.
inline constexpr TokenId kNoToken = UINT32_MAX;

/// Up to kMostIds pieces. One block of characters and one flat hash table, since every run of the
/// program reads the vocabulary anew.
class Vocabulary {
 public:
  static constexpr std::size_t kMostIds = std::size_t{1} << 22;

  /// Reserves memory, so that adding is faster.
  void reserve(std::size_t n_pieces, std::size_t n_bytes);
  /// Returns false if the piece exists already: find() then gives the later id, as in Hugging
  /// Face's tokenizers. If two pieces have the same id, piece() gives the later one. Throws
  /// Error{kMalformed} for an id from kMostIds on, and for pieces constructed to have colliding
  /// hashes.
  bool add(std::string_view piece, TokenId id);

  std::optional<TokenId> find(std::string_view piece) const noexcept;
  /// The same for many pieces, which takes a third of the time; kNoToken for missing ones.
  void find(std::span<const std::string_view> pieces, std::span<TokenId> ids) const noexcept;
  /// Empty for an unknown id.
  std::string_view piece(TokenId id) const noexcept;
  /// The largest id plus 1.
  std::size_t size() const noexcept { return places_.size(); }
  /// The length of the longest piece in bytes.
  std::size_t longest() const noexcept { return longest_; }

 private:
  struct Place {
    std::uint32_t begin = 0;
    std::uint32_t size = 0;
  };
  struct Entry {
    Place place;
    TokenId id = kNoToken;
  };
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t entry = 0;  // 0: free, else the position in the entries plus 1
  };

  // In a half-full table, only pieces constructed for it are this far from their slots, and
  // searching for them, or for others in the same run, would take long.
  static constexpr std::size_t kLongestSearch = 512;
  static constexpr std::size_t kNoSlot = SIZE_MAX;

  // The slot that holds the piece, or the free one where it belongs; kNoSlot if that is too far.
  std::size_t slot_of(std::string_view piece, std::uint32_t hash) const noexcept;
  std::string_view text_of(Place place) const noexcept {
    return {characters_.data() + place.begin, place.size};
  }
  void grow(std::size_t n_slots);

  std::vector<char> characters_;
  std::vector<Entry> entries_;
  std::vector<Place> places_;  // by id
  std::vector<Slot> slots_;    // a power of 2, at most half of them used
  std::size_t longest_ = 0;
};

// Which of many pieces a text begins with: a trie kept as a sorted list.

class PrefixIndex {
 public:
  /// Finding takes as many steps as the longest matching piece has bytes, at each position of a
  /// text: this limits the length of pieces in files.
  static constexpr std::size_t kLongestPiece = 1024;

  PrefixIndex() = default;
  /// The pieces must outlive the index; their positions in the list are their numbers. Empty ones
  /// are never found; of equal ones, the last is found.
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
  // The items of [begin, end), which share their first `depth` bytes, that continue with `byte`.
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
    // A piece that ends here comes before those that continue.
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
