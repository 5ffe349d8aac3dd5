// Several sinks as one.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "attnviz/attention/pattern_sink.h"

namespace attnviz {

/// Hands rows to every sink of the group that wants them; ordered when one of them is.
class SinkGroup : public PatternSink {
 public:
  /// The sinks must outlive the group.
  explicit SinkGroup(std::vector<PatternSink*> sinks) : sinks_(std::move(sinks)) {}

  bool wants(HeadId head) const override;
  void rows(HeadId head, std::size_t first_query, std::size_t first_key,
            ConstMatrix weights) override;
  Matrix place(HeadId head, std::size_t first_query, std::size_t n_queries) override;
  bool ordered() const override;
  OrderedStep ordered_rows(HeadId head, std::size_t first_query, std::size_t first_key,
                           ConstMatrix weights) override;

 private:
  std::vector<PatternSink*> sinks_;
};

}  // namespace attnviz
