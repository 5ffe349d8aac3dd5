#include "attnviz/attention/run_observer.h"

#include <algorithm>

#include "attnviz/attention/kept_memory.h"

namespace attnviz {

namespace {

std::vector<PatternSink*> sinks_of(const std::vector<RunObserver*>& observers) {
  std::vector<PatternSink*> sinks;
  for (const RunObserver* observer : observers) {
    if (observer->patterns() != nullptr) {
      sinks.push_back(observer->patterns());
    }
  }
  return sinks;
}

}  // namespace

ObserverGroup::ObserverGroup(std::vector<RunObserver*> observers)
    : observers_(std::move(observers)), sinks_(sinks_of(observers_)) {
  patterns_ = &sinks_;
}

bool ObserverGroup::wants(std::size_t layer, LayerStep step) const {
  return std::ranges::any_of(
      observers_, [&](const RunObserver* observer) { return observer->wants(layer, step); });
}

void ObserverGroup::stream(const RunPlace& at, ConstMatrix x) {
  for (RunObserver* observer : observers_) {
    if (observer->wants(at.layer, at.step)) {
      observer->stream(at, x);
    }
  }
}

void ObserverGroup::contexts(const RunPlace& at, Matrix z) {
  for (RunObserver* observer : observers_) {
    if (observer->wants(at.layer, at.step)) {
      observer->contexts(at, z);
    }
  }
}

void ObserverGroup::attention(const RunPlace& at, Matrix a) {
  for (RunObserver* observer : observers_) {
    if (observer->wants(at.layer, at.step)) {
      observer->attention(at, a);
    }
  }
}

void ObserverGroup::mlp(const RunPlace& at, Matrix y) {
  for (RunObserver* observer : observers_) {
    if (observer->wants(at.layer, at.step)) {
      observer->mlp(at, y);
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
