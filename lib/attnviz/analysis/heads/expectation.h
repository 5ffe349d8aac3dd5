// What somebody expects of heads, for tests of trained models.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "attnviz/analysis/heads/score_means.h"
#include "attnviz/attention/pattern_sink.h"

namespace attnviz {

/// "5.5 induction>0.8": a score of one head against a number, with > >= < or <=; or a name that it
/// is to earn, "5.5 induction". "any" in place of the head: of one at least; "count N": of exactly
/// so many.
class Expectation {
 public:
  /// Throws Error{kUsage} saying what it may look like, with did-you-mean.
  explicit Expectation(std::string_view text);

  /// The name that is to be earned; null of a score.
  const HeadName* name() const noexcept { return name_; }

  /// What was found instead, by the scores of `heads`; empty when it holds. Names are earned by
  /// scores here, whatever they are of. Throws Error{kUsage} when the head is none of them.
  std::string failure(const std::vector<HeadId>& heads,
                      const std::vector<ScoreValues>& scores) const;

 private:
  struct Any {};
  struct Count {
    std::size_t n = 0;
  };

  bool holds(const ScoreValues& scores) const;

  std::string text_;
  std::variant<HeadId, Any, Count> who_;
  const HeadName* name_ = nullptr;
  Score score_ = Score::kPrevious;
  std::string comparison_;
  double bound_ = 0.0;
};

}  // namespace attnviz
