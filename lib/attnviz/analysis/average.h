// The mean of several heads' patterns, taken while they are computed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "attnviz/attention/pattern_sink.h"
#include "attnviz/core/choices.h"
#include "attnviz/core/exact_sum.h"
#include "attnviz/core/tensor.h"

namespace attnviz {

/// heads   the heads of each layer: one pattern a layer.
/// layers  each head index over all layers: one pattern a head.
/// all     every chosen head: one pattern.
enum class AverageOver { kHeads, kLayers, kAll };

inline constexpr std::array kAverages = {Choice{"heads", AverageOver::kHeads},
                                         Choice{"layers", AverageOver::kLayers},
                                         Choice{"all", AverageOver::kAll}};

/// "heads", "layers", "all".
std::string_view average_name(AverageOver over) noexcept;
/// Throws Error{kUsage} naming the valid ones, with did-you-mean.
AverageOver parse_average(std::string_view name);

/// Which of `heads` are averaged with which, in order. Throws Error{kUsage} when they are no full
/// rectangle of layers and heads, unless `over` is kAll. Precondition: heads is not empty.
std::vector<std::vector<HeadId>> average_groups(std::span<const HeadId> heads, AverageOver over);

/// Adds up the patterns of each group; keeps one matrix a group, of 8 bytes a weight.
///
/// The sums are in fixed point; each weight is off by less than 1e-12.
class AverageSink : public PatternSink {
 public:
  /// Groups without repeats, none empty. `largest_weight`: no weight is above it, none below 0.
  /// Throws Error{kUsage} when the size overflows and Error{kIo} when memory is not to be had.
  AverageSink(std::vector<std::vector<HeadId>> groups, std::size_t n_tokens, float largest_weight);

  bool wants(HeadId head) const override;
  void rows(HeadId head, std::size_t first_query, std::size_t first_key,
            ConstMatrix weights) override;

  const std::vector<std::vector<HeadId>>& groups() const noexcept { return groups_; }

  /// The mean of one group, [n_tokens, n_tokens], once every row of its heads has come. Gives the
  /// memory of its sums back: may be called once.
  MatrixBuffer take_mean(std::size_t group);

 private:
  using Sums = std::vector<std::int64_t>;  // [n_tokens, n_tokens]

  std::vector<std::vector<HeadId>> groups_;
  std::map<HeadId, std::size_t> group_of_;
  std::size_t n_tokens_;
  FixedPoint sum_;
  std::vector<Sums> sums_;
  std::array<std::mutex, 64> row_locks_;  // each for every 64th row
};

/// The mean of patterns of one shape, at least one: their sum in double precision, in their order.
MatrixBuffer mean_pattern(std::span<const ConstMatrix> patterns);

}  // namespace attnviz
