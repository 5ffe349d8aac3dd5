// Softmax of one row of scores, step by step as a textbook writes it.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace attnviz {

/// exp(s) / sum over j of exp(s_j) without the largest score taken away, in 32-bit floats.
struct NaiveSoftmax {
  std::vector<float> exponentials;  // infinite above about 88.7, 0 below about -103
  float sum = 0.0f;
  std::vector<float> weights;

  bool overflows() const noexcept { return sum > 1.0f; }
};

/// In double precision; all of the scores' number. A score of -infinity is masked: its exponential
/// and its weight are exactly 0.
///
/// Source  Goodfellow, Bengio and Courville 2016, "Deep Learning", section 4.1.
struct SoftmaxSteps {
  double divide_by = 1.0;
  double temperature = 1.0;
  std::vector<double> scores;         // as they were given
  std::vector<double> divided;        // scores / (divide_by · temperature)
  double largest = 0.0;               // of divided; 0 when all are masked
  std::vector<double> exponentials;   // exp(divided - largest)
  double sum = 0.0;                   // of the exponentials
  std::vector<double> weights;        // exponentials / sum; all 0 when all scores are masked
  double entropy_bits = 0.0;          // of the weights
  std::optional<NaiveSoftmax> naive;  // where it fails: its sum is infinite, or 0

  bool is_masked(std::size_t i) const noexcept { return scores[i] < 0.0 && scores[i] * 0.0 != 0.0; }
  bool all_masked() const noexcept { return sum == 0.0; }
  std::size_t n_visible() const noexcept;
};

/// Throws Error{kUsage} for no scores, for one that is NaN or +infinity, for a divisor or a
/// temperature that is not a finite number above 0, and for quotients that are too large.
SoftmaxSteps softmax_steps(std::span<const double> scores, double divide_by = 1.0,
                           double temperature = 1.0);

}  // namespace attnviz
