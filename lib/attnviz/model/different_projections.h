// The projections of a layer's heads, those that heads share once.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "attnviz/model/transformer_parts.h"

namespace attnviz {

/// In the order in which they came. They must outlive it.
class DifferentProjections {
 public:
  /// The place of `projection`, which is put behind the others if it is new.
  std::size_t add(const Projection& projection);
  /// Its place; size() when it is not there.
  std::size_t place_of(const Projection& projection) const noexcept;

  std::size_t size() const noexcept { return list_.size(); }
  const Projection& operator[](std::size_t place) const noexcept { return *list_[place]; }
  const std::vector<const Projection*>& list() const noexcept { return list_; }

 private:
  struct Hash {
    std::size_t operator()(const Projection* one) const noexcept;
  };
  struct Equal {
    bool operator()(const Projection* one, const Projection* other) const noexcept {
      return *one == *other;
    }
  };

  std::vector<const Projection*> list_;
  std::unordered_map<const Projection*, std::size_t, Hash, Equal> places_;  // of more than a few
};

}  // namespace attnviz
