#include "attnviz/analysis/average.h"

#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "attnviz/attention/head_selection.h"
#include "attnviz/core/error.h"

namespace attnviz {

namespace {

std::size_t largest_size(const std::vector<std::vector<HeadId>>& groups) {
  std::size_t largest = 1;
  for (const std::vector<HeadId>& group : groups) {
    largest = std::max(largest, group.size());
  }
  return largest;
}

}  // namespace

std::string_view average_name(AverageOver over) noexcept {
  return word_for(kAverages, over);
}

AverageOver parse_average(std::string_view name) {
  return parse_choice("average", name, kAverages);
}

std::vector<std::vector<HeadId>> average_groups(std::span<const HeadId> heads, AverageOver over) {
  if (over == AverageOver::kAll) {
    return {{heads.begin(), heads.end()}};
  }
  if (!is_rectangle(heads)) {
    throw Error(ErrorKind::kUsage,
                std::string("average ").append(average_name(over)) +
                    ": needs the same heads of every layer; choose a rectangle of layers and "
                    "heads, or all",
                "average");
  }
  std::map<std::size_t, std::vector<HeadId>> groups;
  for (const HeadId head : heads) {
    groups[over == AverageOver::kHeads ? head.layer : head.head].push_back(head);
  }
  std::vector<std::vector<HeadId>> in_order;
  in_order.reserve(groups.size());
  for (auto& [index, group] : groups) {
    in_order.push_back(std::move(group));
  }
  return in_order;
}

AverageSink::AverageSink(std::vector<std::vector<HeadId>> groups, std::size_t n_tokens,
                         float largest_weight)
    : groups_(std::move(groups)),
      n_tokens_(n_tokens),
      sum_(static_cast<double>(largest_size(groups_)) * static_cast<double>(largest_weight)) {
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    for (const HeadId head : groups_[group]) {
      group_of_.emplace(head, group);
    }
  }
  const std::size_t n_weights = checked_product({n_tokens, n_tokens}, "an average of patterns");
  checked_product({n_weights, groups_.size(), sizeof(std::int64_t)}, "averages of patterns");
  try {
    sums_.assign(groups_.size(), Sums(n_weights, 0));
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::kIo, "not enough memory for the averages of these patterns");
  }
}

bool AverageSink::wants(HeadId head) const {
  return group_of_.contains(head);
}

void AverageSink::rows(HeadId head, std::size_t first_query, std::size_t first_key,
                       ConstMatrix weights) {
  const auto group = group_of_.find(head);
  if (group == group_of_.end()) {
    return;
  }
  for (std::size_t row = 0; row < weights.rows; ++row) {
    const std::size_t query = first_query + row;
    const std::lock_guard lock(row_locks_[query % row_locks_.size()]);
    std::int64_t* const sums = sums_[group->second].data() + query * n_tokens_ + first_key;
    const float* const from = weights.row_data(row);
    for (std::size_t key = 0; key < weights.cols; ++key) {
      sums[key] += sum_.of(from[key]);
    }
  }
}

MatrixBuffer AverageSink::take_mean(std::size_t group) {
  MatrixBuffer mean(n_tokens_, n_tokens_);
  const Sums sums = std::move(sums_[group]);
  const std::size_t n_heads = groups_[group].size();
  std::transform(sums.begin(), sums.end(), mean.view().data, [this, n_heads](std::int64_t sum) {
    return static_cast<float>(sum_.mean(sum, n_heads));
  });
  return mean;
}

MatrixBuffer mean_pattern(std::span<const ConstMatrix> patterns) {
  MatrixBuffer mean(patterns.front().rows, patterns.front().cols);
  const Matrix to = mean.view();
  for (std::size_t query = 0; query < to.rows; ++query) {
    for (std::size_t key = 0; key < to.cols; ++key) {
      double sum = 0.0;
      for (const ConstMatrix& pattern : patterns) {
        sum += static_cast<double>(pattern(query, key));
      }
      to(query, key) = static_cast<float>(sum / static_cast<double>(patterns.size()));
    }
  }
  return mean;
}

}  // namespace attnviz
