// Where attention rows go while they are in cache.
#pragma once

#include <compare>
#include <cstddef>

#include "attnviz/core/tensor.h"

namespace attnviz {

/// One head, 0-based. Written "5.1" or "L5H1".
struct HeadId {
  std::size_t layer = 0;
  std::size_t head = 0;

  auto operator<=>(const HeadId&) const = default;
};

/// Receives attention weights in blocks of whole rows. Blocks of one head are disjoint and cover
/// every query once; calls for different blocks may come from different threads at the same time.
class PatternSink {
 public:
  virtual ~PatternSink() = default;

  /// Heads that nobody wants are computed without keeping weights; layers above the last wanted one
  /// are not computed at all.
  virtual bool wants(HeadId head) const = 0;

  /// weights [n_rows, n] of the queries from first_query on, for the keys from first_key on; all
  /// other keys have weight 0 for these queries. Valid during the call.
  virtual void rows(HeadId head, std::size_t first_query, std::size_t first_key,
                    ConstMatrix weights) = 0;
};

}  // namespace attnviz
