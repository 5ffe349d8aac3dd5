// The largest weight of all.
#pragma once

#include <mutex>
#include <set>
#include <vector>

#include "attnviz/attention/pattern_sink.h"

namespace attnviz {

/// Keeps nothing of the patterns but their largest weight, for scales that follow the data.
class LargestWeight : public PatternSink {
 public:
  /// With `drop_first_key`, rows are scaled to 1 without their first key, as by
  /// without_first_key().
  explicit LargestWeight(const std::vector<HeadId>& heads, bool drop_first_key = false)
      : heads_(heads.begin(), heads.end()), drops_first_key_(drop_first_key) {}

  bool wants(HeadId head) const override { return heads_.contains(head); }
  void rows(HeadId head, std::size_t first_query, std::size_t first_key,
            ConstMatrix weights) override;

  /// Of all wanted heads; 0 before any row has come. Not while rows come.
  float value() const noexcept { return largest_; }

 private:
  std::set<HeadId> heads_;
  bool drops_first_key_;
  std::mutex mutex_;
  float largest_ = 0.0f;
};

}  // namespace attnviz
