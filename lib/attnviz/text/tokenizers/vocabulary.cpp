#include "attnviz/text/tokenizers/vocabulary.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/string_hash.h"

namespace attnviz {

namespace {

[[noreturn]] void fail_alike(std::string_view piece) {
  throw Error(ErrorKind::kMalformed,
              fmt::format("{}: too many pieces that hash alike", in_quotes(piece)));
}

}  // namespace

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
      if (((i - slot.hash) & (size - 1)) > kLongestSearch) {
        fail_alike(text_of(entries_[slot.entry - 1].place));
      }
      larger[i] = slot;
    }
  }
  slots_ = std::move(larger);
}

std::size_t Vocabulary::slot_of(std::string_view piece, std::uint32_t hash) const noexcept {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t n = 0; n <= kLongestSearch; ++n) {
    const std::size_t i = (hash + n) & mask;
    const Slot& slot = slots_[i];
    if (slot.entry == 0 ||
        (slot.hash == hash && text_of(entries_[slot.entry - 1].place) == piece)) {
      return i;
    }
  }
  return kNoSlot;
}

bool Vocabulary::add(std::string_view piece, TokenId id) {
  if (id >= kMostIds || characters_.size() + piece.size() > UINT32_MAX) {
    throw Error(ErrorKind::kMalformed, fmt::format("{}: expected an id below {}, found {}",
                                                   in_quotes(piece), kMostIds, id));
  }
  if (2 * (entries_.size() + 1) > slots_.size()) {
    grow(2 * (entries_.size() + 1));
  }
  const std::uint32_t hash = hash_of(piece);
  const std::size_t at = slot_of(piece, hash);
  if (at == kNoSlot) {
    fail_alike(piece);
  }
  Slot& slot = slots_[at];
  const bool is_new = slot.entry == 0;
  if (is_new) {
    entries_.push_back(
        {{static_cast<std::uint32_t>(characters_.size()), static_cast<std::uint32_t>(piece.size())},
         id});
    characters_.insert(characters_.end(), piece.begin(), piece.end());
    slot = {hash, static_cast<std::uint32_t>(entries_.size())};
  }
  Entry& entry = entries_[slot.entry - 1];
  entry.id = id;
  const Place place = entry.place;
  // In most files, ids are in order.
  if (id == places_.size()) {
    places_.push_back(place);
  } else {
    places_.resize(std::max(places_.size(), std::size_t{id} + 1));
    places_[id] = place;
  }
  longest_ = std::max(longest_, piece.size());
  return is_new;
}

std::optional<TokenId> Vocabulary::find(std::string_view piece) const noexcept {
  if (slots_.empty()) {
    return std::nullopt;
  }
  const std::size_t at = slot_of(piece, hash_of(piece));
  if (at == kNoSlot || slots_[at].entry == 0) {
    return std::nullopt;
  }
  return entries_[slots_[at].entry - 1].id;
}

void Vocabulary::find(std::span<const std::string_view> pieces,
                      std::span<TokenId> ids) const noexcept {
  // A large vocabulary does not fit the caches: the memory for many pieces is prefetched before the
  // first is compared.
  constexpr std::size_t kBatch = 32;
  std::array<std::uint32_t, kBatch> hashes{};
  std::array<std::uint32_t, kBatch> entries{};
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t begin = 0; begin < pieces.size(); begin += kBatch) {
    const std::size_t n = slots_.empty() ? 0 : std::min(kBatch, pieces.size() - begin);
    for (std::size_t i = 0; i < n; ++i) {
      hashes[i] = hash_of(pieces[begin + i]);
      __builtin_prefetch(&slots_[hashes[i] & mask]);
    }
    for (std::size_t i = 0; i < n; ++i) {
      std::size_t slot = hashes[i] & mask;
      for (std::size_t step = 0;
           step < kLongestSearch && slots_[slot].entry != 0 && slots_[slot].hash != hashes[i];
           ++step) {
        slot = (slot + 1) & mask;
      }
      entries[i] = slots_[slot].entry;
      if (entries[i] != 0) {
        __builtin_prefetch(&entries_[entries[i] - 1]);
      }
    }
    for (std::size_t i = 0; i < n; ++i) {
      if (entries[i] != 0) {
        __builtin_prefetch(characters_.data() + entries_[entries[i] - 1].place.begin);
      }
    }
    for (std::size_t i = 0; i < n; ++i) {
      TokenId& id = ids[begin + i];
      id = kNoToken;
      if (entries[i] != 0) {
        const Entry& entry = entries_[entries[i] - 1];
        const bool is_it = text_of(entry.place) == pieces[begin + i];
        id = is_it ? entry.id : find(pieces[begin + i]).value_or(kNoToken);
      }
    }
    std::fill(ids.begin() + static_cast<std::ptrdiff_t>(begin + n),
              ids.begin() + static_cast<std::ptrdiff_t>(std::min(begin + kBatch, pieces.size())),
              kNoToken);
  }
}

std::string_view Vocabulary::piece(TokenId id) const noexcept {
  if (id >= places_.size()) {
    return {};
  }
  return text_of(places_[id]);
}

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
  if (begin < end && at(begin) == byte && at(end - 1) == byte) {  // the most common case
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
  // The run is usually short: search in steps that double.
  std::size_t after = first;
  std::size_t step = 1;
  while (after < end && at(after) == byte) {
    after = std::min(end, after + step);
    step *= 2;
  }
  std::size_t low = first;
  for (std::size_t high = after; low < high;) {
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
