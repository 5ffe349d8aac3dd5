#include "attnviz/attention/run_observer.h"

#include <algorithm>

namespace attnviz {

namespace {

std::vector<PatternSink*> sinks_of(const std::vector<RunObserver*>& observers,
                                   PatternSink* (RunObserver::*of)() const) {
  std::vector<PatternSink*> sinks;
  for (const RunObserver* observer : observers) {
    if (PatternSink* const sink = (observer->*of)(); sink != nullptr) {
      sinks.push_back(sink);
    }
  }
  return sinks;
}

}  // namespace

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

// Memory can be written for only one sink.
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

void SinkGroup::sinks(HeadId head, std::size_t first_query, std::span<const float> weights) {
  for (PatternSink* sink : sinks_) {
    if (sink->wants(head)) {
      sink->sinks(head, first_query, weights);
    }
  }
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

ObserverGroup::ObserverGroup(std::vector<RunObserver*> observers)
    : observers_(std::move(observers)),
      sinks_(sinks_of(observers_, &RunObserver::patterns)),
      cross_sinks_(sinks_of(observers_, &RunObserver::cross_patterns)) {
  patterns_ = &sinks_;
  cross_patterns_ = &cross_sinks_;
}

bool ObserverGroup::wants(std::size_t layer, LayerStep step) const {
  return std::ranges::any_of(
      observers_, [&](const RunObserver* observer) { return observer->wants(layer, step); });
}

bool ObserverGroup::wants_values(HeadId head) const {
  return std::ranges::any_of(
      observers_, [head](const RunObserver* observer) { return observer->wants_values(head); });
}

void ObserverGroup::values(std::size_t layer, std::span<const HeadValues> heads) {
  for (RunObserver* observer : observers_) {
    std::vector<HeadValues> wanted;
    std::ranges::copy_if(heads, std::back_inserter(wanted), [&](const HeadValues& one) {
      return observer->wants_values({layer, one.head});
    });
    if (!wanted.empty()) {
      observer->values(layer, wanted);
    }
  }
}

bool ObserverGroup::hides(HeadId head) const {
  return std::ranges::any_of(observers_,
                             [head](const RunObserver* observer) { return observer->hides(head); });
}

void ObserverGroup::hide(HeadId head, EdgeBlock& edges) const {
  for (const RunObserver* observer : observers_) {
    if (observer->hides(head)) {
      observer->hide(head, edges);
    }
  }
}

void OutputRows::stream(const RunPlace& at, ConstMatrix x) {
  const Matrix kept = shaped(rows_, count_, x.cols);
  const std::size_t end = std::min(first_ + count_, at.first_token + x.rows);
  for (std::size_t token = std::max(first_, at.first_token); token < end; ++token) {
    const std::span<const float> row = x.row(token - at.first_token);
    std::copy(row.begin(), row.end(), kept.row_data(token - first_));
  }
}

}  // namespace attnviz
