// The keys of one head: ranges of them, and packed the way that scores are computed fastest.
#pragma once

#include <cstddef>

#include "attnviz/core/tensor.h"

namespace attnviz::kernels {

/// Keys [first, end).
struct KeyRange {
  std::size_t first = 0;
  std::size_t end = 0;

  std::size_t size() const noexcept { return end - first; }
  bool operator==(const KeyRange&) const = default;
};

/// Keys in panels of kKeys neighbours: panel p is a matrix [d_head, kKeys] whose column c is key
/// p · kKeys + c, so that one vector holds the same dimension of neighbouring keys and a tile of
/// scores reads memory in order. Columns past the last key are 0.
class KeyPanels {
 public:
  static constexpr std::size_t kKeys = 16;

  KeyPanels() = default;
  KeyPanels(std::size_t n_keys, std::size_t d_head)
      : n_keys_(n_keys), d_head_(d_head), owned_(1, n_floats(n_keys, d_head)) {
    panels_ = owned_.view().data;
  }
  /// In memory that others keep: n_floats(n_keys, d_head), aligned to 64 bytes, with anything in
  /// it.
  KeyPanels(std::size_t n_keys, std::size_t d_head, float* memory)
      : n_keys_(n_keys), d_head_(d_head), panels_(memory) {}

  static constexpr std::size_t n_floats(std::size_t n_keys, std::size_t d_head) noexcept {
    return rounded_up(n_keys) * d_head;
  }

  /// The keys of as many whole panels as hold `n_keys`.
  static constexpr std::size_t rounded_up(std::size_t n_keys) noexcept {
    return (n_keys + kKeys - 1) / kKeys * kKeys;
  }

  std::size_t n_keys() const noexcept { return n_keys_; }
  std::size_t d_head() const noexcept { return d_head_; }
  const float* panel(std::size_t index) const noexcept { return panels_ + index * d_head_ * kKeys; }

  /// Packs `keys` [n, d_head], the first of which is key `first`. From a multiple of kKeys on by
  /// whole panels: n is a multiple of it, too, unless these are the last keys. From elsewhere on
  /// key by key, behind those that are there. Different panels of the one form, and different keys
  /// of the other, may be packed by different threads at the same time.
  void pack(ConstMatrix keys, std::size_t first) noexcept;

 private:
  std::size_t n_keys_ = 0;
  std::size_t d_head_ = 0;
  float* panels_ = nullptr;
  MatrixBuffer owned_;
};

}  // namespace attnviz::kernels
