// The distinct projections of a layer's heads: a projection that heads share appears once.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "attnviz/model/transformer_parts.h"

namespace attnviz {

/// Keeps projections in the order in which they are first added. They must outlive this object.
class DifferentProjections {
 public:
  /// Returns the index of `projection`, which is appended if it is new.
  std::size_t add(const Projection& projection);
  /// Returns the index of `projection`, or size() if it is not in the list.
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
  std::unordered_map<const Projection*, std::size_t, Hash, Equal> places_;  // for a long list
};

}  // namespace attnviz
