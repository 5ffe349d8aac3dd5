// Patterns over words, made from those over tokens while these are computed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "attnviz/attention/pattern_sink.h"
#include "attnviz/core/exact_sum.h"

namespace attnviz {

/// Hands another sink patterns [n_words, n_words], or of two texts [n_words, n_key_words]: the
/// weight that a word puts on another is the sum over the keys of the other, averaged over the
/// queries of the word. Rows that sum to 1 still do (Clark et al. 2019, section 4).
///
/// The sums are in fixed point. Each word is handed over once, from any thread, in rows of its own.
class MergeSink : public PatternSink {
 public:
  /// `words`: the word of each token, numbered from 0 in order and without gaps, as word_numbers()
  /// gives them. `target` must outlive the sink; no row of weights sums to more than
  /// `largest_sum`, and none is below 0.
  MergeSink(PatternSink& target, std::span<const std::size_t> words, float largest_sum)
      : MergeSink(target, words, words, largest_sum) {}
  /// Of queries and keys of two texts.
  MergeSink(PatternSink& target, std::span<const std::size_t> words,
            std::span<const std::size_t> key_words, float largest_sum);

  bool wants(HeadId head) const override { return target_.wants(head); }
  void rows(HeadId head, std::size_t first_query, std::size_t first_key,
            ConstMatrix weights) override;

 private:
  using Sums = std::vector<std::int64_t>;  // [n_key_words]

  // A word whose queries lie in several blocks.
  struct Unfinished {
    Sums sums;
    std::size_t n_queries = 0;
  };

  void add_row(std::span<const float> weights, std::size_t first_key, Sums& sums) const noexcept;
  void hand_over(HeadId head, std::size_t word, const Sums& sums);
  void keep(HeadId head, std::size_t word, std::size_t n_queries, const Sums& sums);

  PatternSink& target_;
  std::vector<std::size_t> word_of_;      // [n_tokens]
  std::vector<std::size_t> key_word_of_;  // [n_keys]
  std::vector<std::size_t> n_tokens_of_;  // [n_words]
  std::size_t n_key_words_;
  FixedPoint sum_;
  std::mutex mutex_;
  std::map<std::pair<HeadId, std::size_t>, Unfinished> unfinished_;
};

}  // namespace attnviz
