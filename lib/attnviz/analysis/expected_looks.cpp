#include "attnviz/analysis/expected_looks.h"

#include <algorithm>
#include <map>

namespace attnviz {

namespace {

LookScore mean_of(LookScore sum) {
  const auto n = static_cast<double>(std::max<std::size_t>(sum.n_looks, 1));
  sum.weight /= n;
  sum.rival /= n;
  return sum;
}

bool is_won(std::span<const float> row, const ExpectedLook& look) {
  if (look.rival) {
    return row[look.key] > row[*look.rival];
  }
  return std::max_element(row.begin(), row.end()) == row.begin() + static_cast<long>(look.key);
}

}  // namespace

std::vector<ExpectedLook> previous_looks(std::size_t n_tokens) {
  std::vector<ExpectedLook> looks;
  looks.reserve(n_tokens);
  for (std::size_t query = 1; query < n_tokens; ++query) {
    looks.push_back({query, query - 1});
  }
  return looks;
}

std::vector<ExpectedLook> induction_looks(std::span<const TokenId> ids) {
  std::vector<ExpectedLook> looks;
  looks.reserve(ids.size());
  std::map<TokenId, std::size_t> last;
  for (std::size_t query = 0; query < ids.size(); ++query) {
    if (const auto before = last.find(ids[query]); before != last.end()) {
      looks.push_back({query, before->second + 1});
    }
    last[ids[query]] = query;
  }
  return looks;
}

LookScores::LookScores(const std::vector<HeadId>& heads) {
  sums_.reserve(heads.size());
  for (const HeadId head : heads) {
    sums_.push_back({head});
  }
}

void LookScores::add(const PatternStore& patterns, std::span<const ExpectedLook> looks) {
  for (LookScore& sum : sums_) {
    const ConstMatrix pattern = patterns.pattern(sum.head);
    for (const ExpectedLook& look : looks) {
      const std::span<const float> row = pattern.row(look.query);
      sum.weight += static_cast<double>(row[look.key]);
      sum.rival += look.rival ? static_cast<double>(row[*look.rival]) : 0.0;
      sum.n_won += is_won(row, look) ? 1U : 0U;
      ++sum.n_looks;
    }
  }
}

LookScore LookScores::score(HeadId head) const {
  const auto found = std::find_if(sums_.begin(), sums_.end(),
                                  [head](const LookScore& sum) { return sum.head == head; });
  return found == sums_.end() ? LookScore{head} : mean_of(*found);
}

LookScore LookScores::best() const {
  const auto best =
      std::min_element(sums_.begin(), sums_.end(), [](const LookScore& a, const LookScore& b) {
        const double difference = (a.weight - a.rival) - (b.weight - b.rival);
        return difference != 0.0 ? difference > 0.0 : a.head < b.head;
      });
  return mean_of(*best);
}

}  // namespace attnviz
