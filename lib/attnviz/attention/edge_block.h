// The edges of some queries of a head, of which an observer may hide some.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace attnviz {

/// Edges from the queries [first_query, end_query) to the keys [first_key, end_key): all that the
/// mask may let through.
class EdgeBlock {
 public:
  /// `hidden` [n_queries * n_keys], all 0, must outlive the block.
  EdgeBlock(std::size_t first_query, std::size_t n_queries, std::size_t first_key,
            std::size_t n_keys, std::span<std::uint8_t> hidden) noexcept
      : first_query_(first_query),
        n_queries_(n_queries),
        first_key_(first_key),
        n_keys_(n_keys),
        hidden_(hidden) {}

  std::size_t first_query() const noexcept { return first_query_; }
  std::size_t end_query() const noexcept { return first_query_ + n_queries_; }
  std::size_t first_key() const noexcept { return first_key_; }
  std::size_t end_key() const noexcept { return first_key_ + n_keys_; }

  /// Whether the block has such an edge.
  bool has(std::size_t query, std::size_t key) const noexcept {
    return query >= first_query() && query < end_query() && key >= first_key() && key < end_key();
  }
  /// As if the mask hid it. Other blocks' edges are left to these.
  void hide(std::size_t query, std::size_t key) noexcept {
    if (has(query, key)) {
      hidden_[place(query, key)] = 1;
    }
  }
  /// Precondition: has(query, key).
  bool is_hidden(std::size_t query, std::size_t key) const noexcept {
    return hidden_[place(query, key)] != 0;
  }

 private:
  std::size_t place(std::size_t query, std::size_t key) const noexcept {
    return (query - first_query_) * n_keys_ + key - first_key_;
  }

  std::size_t first_query_, n_queries_, first_key_, n_keys_;
  std::span<std::uint8_t> hidden_;
};

}  // namespace attnviz
