#include "attnviz/text/vocabulary.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"

namespace attnviz {

std::uint32_t hash_of(std::string_view text) noexcept {
  // Multiplies eight bytes at a time by a large odd number and folds (as in wyhash and its kin).
  constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15;
  std::uint64_t hash = text.size() * kFactor;
  const char* data = text.data();
  std::size_t left = text.size();
  for (; left >= sizeof hash; left -= sizeof hash, data += sizeof hash) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, data, sizeof eight);
    hash = (hash ^ eight) * kFactor;
    hash ^= hash >> 32;
  }
  std::uint64_t rest = 0;
  for (std::size_t i = 0; i < left; ++i) {
    rest |= static_cast<std::uint64_t>(static_cast<unsigned char>(data[i])) << (8 * i);
  }
  hash = (hash ^ rest) * kFactor;
  return static_cast<std::uint32_t>((hash ^ (hash >> 29)) >> 8);
}

void Vocabulary::reserve(std::size_t n_pieces, std::size_t n_bytes) {
  characters_.reserve(n_bytes);
  entries_.reserve(n_pieces);
  places_.reserve(n_pieces);
  grow(2 * n_pieces);
}

void Vocabulary::grow(std::size_t n_slots) {
  const std::size_t size = std::bit_ceil(std::max<std::size_t>(n_slots, 16));
  if (size <= slots_.size()) {
    return;
  }
  std::vector<Slot> larger(size);
  for (const Slot& slot : slots_) {
    if (slot.entry != 0) {
      std::size_t i = slot.hash & (size - 1);
      while (larger[i].entry != 0) {
        i = (i + 1) & (size - 1);
      }
      larger[i] = slot;
    }
  }
  slots_ = std::move(larger);
}

// The slot that holds the piece, or the free one where it belongs.
std::size_t Vocabulary::slot_of(std::string_view piece, std::uint32_t hash) const noexcept {
  const std::size_t mask = slots_.size() - 1;
  std::size_t i = hash & mask;
  for (; slots_[i].entry != 0; i = (i + 1) & mask) {
    if (slots_[i].hash == hash) {
      const Place place = entries_[slots_[i].entry - 1].place;
      if (std::string_view(characters_).substr(place.begin, place.size) == piece) {
        break;
      }
    }
  }
  return i;
}

bool Vocabulary::add(std::string_view piece, TokenId id) {
  if (id >= kMostIds || characters_.size() + piece.size() > UINT32_MAX) {
    throw Error(ErrorKind::kMalformed,
                fmt::format("{}: expected an id below {}, found {}", quoted(piece), kMostIds, id));
  }
  grow(2 * (entries_.size() + 1));
  const std::uint32_t hash = hash_of(piece);
  Slot& slot = slots_[slot_of(piece, hash)];
  if (slot.entry != 0) {
    return false;
  }
  const Place place{static_cast<std::uint32_t>(characters_.size()),
                    static_cast<std::uint32_t>(piece.size())};
  characters_ += piece;
  entries_.push_back({place, id});
  slot = {hash, static_cast<std::uint32_t>(entries_.size())};
  if (id >= places_.size()) {
    places_.resize(std::size_t{id} + 1);
  }
  places_[id] = place;
  longest_ = std::max(longest_, piece.size());
  return true;
}

std::optional<TokenId> Vocabulary::find(std::string_view piece) const noexcept {
  if (slots_.empty()) {
    return std::nullopt;
  }
  const Slot& slot = slots_[slot_of(piece, hash_of(piece))];
  return slot.entry == 0 ? std::nullopt : std::optional(entries_[slot.entry - 1].id);
}

std::string_view Vocabulary::piece(TokenId id) const noexcept {
  if (id >= places_.size()) {
    return {};
  }
  return std::string_view(characters_).substr(places_[id].begin, places_[id].size);
}

}  // namespace attnviz
