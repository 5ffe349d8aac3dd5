// What queries give to no key, of heads with a learned sink.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "attnviz/attention/pattern_sink.h"
#include "attnviz/model/model.h"

namespace attnviz {

/// Whether a layer has learned sinks.
bool has_sinks(const Model& model) noexcept;

/// Keeps it for the heads of a run that have one; its rows go nowhere.
class SinkStore : public PatternSink {
 public:
  SinkStore(const Model& model, std::span<const HeadId> heads, std::size_t n_tokens);

  bool wants(HeadId head) const override { return weights_.contains(head); }
  void rows(HeadId /*head*/, std::size_t /*first_query*/, std::size_t /*first_key*/,
            ConstMatrix /*weights*/) override {}
  void sinks(HeadId head, std::size_t first_query, std::span<const float> weights) override;

  /// The mean over `heads` [n_tokens]; of one without a sink it is 0. Empty when no head has one.
  std::vector<float> mean(std::span<const HeadId> heads) const;

 private:
  std::size_t n_tokens_;
  std::map<HeadId, std::vector<float>> weights_;
};

/// The mean over the tokens of each unit, [n_units]; `units` [n_tokens] numbers them from 0.
std::vector<float> folded_sink(std::span<const float> sink, std::span<const std::size_t> units);

}  // namespace attnviz
