// Attention masks: which keys each query may see, and the names of the masks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace attnviz {

enum class MaskKind { kCausal, kNone, kWindow, kStrided, kBlock, kAround };

/// A mask over [query, key]. All masks but `none` and `around` are causal: no key after the query
/// is visible.
///
/// causal     key <= query.
/// none       every key (bidirectional, as in BERT).
/// window:W   causal and query - key < W: the query and the W - 1 tokens before it
///            (sliding window, Beltagy et al. 2020, made causal).
/// strided:S  causal and (query - key < S or (query - key) % S == 0)
///            (Child et al. 2019, section 4.2).
/// block:B    causal and key / B == query / B: only within the query's own block of B tokens.
/// around:R   |query - key| <= R: R tokens to either side (Beltagy et al. 2020).
///
/// Example:
///     const attnviz::Mask mask = attnviz::parse_mask("window:2");
///     if (!mask.visible(3, 2) || mask.visible(3, 1)) return 1;
struct Mask {
  MaskKind kind = MaskKind::kCausal;
  std::size_t size = 0;  // W, S, B or R; at least 1 for those kinds

  bool operator==(const Mask&) const = default;

  bool visible(std::size_t query, std::size_t key) const noexcept;

  /// Every visible key of `query` lies in [first_key, end_key); strided masks have gaps inside.
  std::size_t first_key(std::size_t query) const noexcept;
  std::size_t end_key(std::size_t query, std::size_t n_keys) const noexcept;
  bool has_gaps() const noexcept { return kind == MaskKind::kStrided; }
  /// Whether queries see keys after them.
  bool looks_ahead() const noexcept { return kind == MaskKind::kNone || kind == MaskKind::kAround; }

  /// Counts the keys in [first_key, end_key) that `query` sees, in constant time.
  std::size_t n_visible(std::size_t query, std::size_t first_key,
                        std::size_t end_key) const noexcept;

  /// As written on the command line: "causal", "window:4".
  std::string name() const;
};

inline std::size_t Mask::first_key(std::size_t query) const noexcept {
  switch (kind) {
    case MaskKind::kWindow:
      return query >= size ? query - size + 1 : 0;
    case MaskKind::kBlock:
      return query / size * size;
    case MaskKind::kAround:
      return query - std::min(query, size);
    default:
      return 0;
  }
}

inline std::size_t Mask::end_key(std::size_t query, std::size_t n_keys) const noexcept {
  switch (kind) {
    case MaskKind::kNone:
      return n_keys;
    case MaskKind::kAround:
      return n_keys - std::min(n_keys, query) > size ? query + size + 1 : n_keys;
    default:
      return std::min(query + 1, n_keys);
  }
}

/// Throws Error{kUsage} naming the valid forms, with did-you-mean.
Mask parse_mask(std::string_view name);

}  // namespace attnviz
