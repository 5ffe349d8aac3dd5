// Pieces and their ids, found in both directions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/text/tokenized_text.h"

namespace attnviz {

/// No id.
inline constexpr TokenId kNoToken = UINT32_MAX;

/// Up to kMostIds pieces. One block of characters and one flat hash table, since a vocabulary is
/// read anew by every run of a program.
class Vocabulary {
 public:
  static constexpr std::size_t kMostIds = std::size_t{1} << 22;

  /// Makes room, so that adding is faster.
  void reserve(std::size_t n_pieces, std::size_t n_bytes);
  /// Returns false, and changes nothing, when the piece is there already. A later piece of the same
  /// id is the one that piece() tells. Throws Error{kMalformed} for an id from kMostIds on.
  bool add(std::string_view piece, TokenId id);

  std::optional<TokenId> find(std::string_view piece) const noexcept;
  /// The same for many pieces, which takes a third of the time; kNoToken for those not there.
  void find(std::span<const std::string_view> pieces, std::span<TokenId> ids) const noexcept;
  /// Empty for an id that is not there.
  std::string_view piece(TokenId id) const noexcept;
  /// The largest id and 1.
  std::size_t size() const noexcept { return places_.size(); }
  /// Bytes of the longest piece.
  std::size_t longest() const noexcept { return longest_; }

 private:
  struct Place {
    std::uint32_t begin = 0;
    std::uint32_t size = 0;
  };
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t entry = 0;  // 0: free, else the place in entries_ and 1
  };
  struct Entry {
    Place place;
    TokenId id;
  };

  std::size_t slot_of(std::string_view piece, std::uint32_t hash) const noexcept;
  void grow(std::size_t n_slots);

  std::string characters_;
  std::vector<Entry> entries_;
  std::vector<Place> places_;  // by id
  std::vector<Slot> slots_;    // a power of 2, at most half of them taken
  std::size_t longest_ = 0;
};

/// A hash of short strings.
std::uint32_t hash_of(std::string_view text) noexcept;

}  // namespace attnviz
