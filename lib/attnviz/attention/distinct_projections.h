// Projections that heads may share, each once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "attnviz/model/transformer_parts.h"

namespace attnviz {

/// The place of `projection` among `projections`; their number when it is not there.
inline std::size_t find_place(const Projection& projection,
                              const std::vector<const Projection*>& projections) {
  const auto found =
      std::find_if(projections.begin(), projections.end(),
                   [&projection](const Projection* other) { return projection == *other; });
  return static_cast<std::size_t>(found - projections.begin());
}

/// The same, put behind them if it is new.
inline std::size_t place_of(const Projection& projection,
                            std::vector<const Projection*>& projections) {
  const std::size_t place = find_place(projection, projections);
  if (place == projections.size()) {
    projections.push_back(&projection);
  }
  return place;
}

}  // namespace attnviz
