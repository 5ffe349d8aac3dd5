// Means of heads' scores over texts.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "attnviz/analysis/heads/score_table.h"
#include "attnviz/core/exact_sum.h"

namespace attnviz {

/// A mean over texts.
struct Estimate {
  double mean = 0.0;
  std::optional<double> sem;  // standard error: s / √n; nothing of fewer than two texts
  std::size_t n = 0;          // texts that have the score
};

/// The scores of some heads over texts: sums that are the same whatever order texts come in, and
/// whichever were added up elsewhere.
class ScoreMeans {
 public:
  struct Sums {
    ExactSum value, square;
    std::size_t n = 0;

    bool operator==(const Sums&) const = default;
  };

  explicit ScoreMeans(std::size_t n_heads) : sums_(n_heads * kScoreNames.size()) {}

  /// One more text, [n_heads].
  void add(std::span<const ScoreValues> heads);
  /// The texts of another of as many heads.
  void add(const ScoreMeans& other);

  std::size_t n_texts() const noexcept { return n_texts_; }
  /// What has been added up of one score, to be kept and gone on with.
  const Sums& sums(std::size_t head, Score score) const {
    return sums_[head * kScoreNames.size() + static_cast<std::size_t>(score)];
  }
  void restore(std::size_t head, Score score, const Sums& sums) {
    sums_[head * kScoreNames.size() + static_cast<std::size_t>(score)] = sums;
  }
  void restore_texts(std::size_t n_texts) noexcept { n_texts_ = n_texts; }
  bool operator==(const ScoreMeans&) const = default;
  /// Nothing where no text has the score.
  std::optional<Estimate> estimate(std::size_t head, Score score) const;
  /// All means of a head.
  ScoreValues means(std::size_t head) const;

 private:
  std::vector<Sums> sums_;
  std::size_t n_texts_ = 0;
};

}  // namespace attnviz
