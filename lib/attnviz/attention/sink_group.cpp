#include "attnviz/attention/sink_group.h"

#include <algorithm>

namespace attnviz {

bool SinkGroup::wants(HeadId head) const {
  return std::any_of(sinks_.begin(), sinks_.end(),
                     [head](const PatternSink* sink) { return sink->wants(head); });
}

void SinkGroup::rows(HeadId head, std::size_t first_query, std::size_t first_key,
                     ConstMatrix weights) {
  for (PatternSink* sink : sinks_) {
    if (sink->wants(head)) {
      sink->rows(head, first_query, first_key, weights);
    }
  }
}

// One place serves one sink.
Matrix SinkGroup::place(HeadId head, std::size_t first_query, std::size_t n_queries) {
  PatternSink* only = nullptr;
  for (PatternSink* sink : sinks_) {
    if (sink->wants(head)) {
      if (only != nullptr) {
        return {};
      }
      only = sink;
    }
  }
  return only == nullptr ? Matrix{} : only->place(head, first_query, n_queries);
}

bool SinkGroup::ordered() const {
  return std::any_of(sinks_.begin(), sinks_.end(),
                     [](const PatternSink* sink) { return sink->ordered(); });
}

OrderedStep SinkGroup::ordered_rows(HeadId head, std::size_t first_query, std::size_t first_key,
                                    ConstMatrix weights) {
  std::vector<OrderedStep> steps;
  steps.reserve(sinks_.size());
  for (PatternSink* sink : sinks_) {
    if (sink->wants(head)) {
      if (OrderedStep step = sink->ordered_rows(head, first_query, first_key, weights)) {
        steps.push_back(std::move(step));
      }
    }
  }
  if (steps.empty()) {
    return {};
  }
  return [steps = std::move(steps)] {
    for (const OrderedStep& step : steps) {
      step();
    }
  };
}

}  // namespace attnviz
