// Names: perfect heads are identified by exactly theirs, random ones by none.
#include <doctest/doctest.h>

#include <cstddef>
#include <string_view>
#include <vector>

#include "attnviz/analysis/heads/head_scores.h"
#include "attnviz/analysis/heads/probe.h"
#include "attnviz/analysis/heads/score_run.h"
#include "attnviz/attention/interventions.h"
#include "attnviz/model/random_model.h"

namespace attnviz {
namespace {

// The one key that a query looks at; kNone: its head has nothing to look at.
using Look = std::size_t (*)(const ScoredTokens& tokens, std::size_t query);

// Scores of a head that puts all of each row's weight on one key: the first where it has nothing to
// look at.
ScoreValues scores_of(const ScoredTokens& tokens, Look look) {
  ScoreTally tally(tokens, Mask());
  for (std::size_t query = 0; query < tokens.size(); ++query) {
    std::vector<double> row(query + 1);
    const std::size_t key = look(tokens, query);
    row[key == ScoredTokens::kNone ? 0 : key] = 1.0;
    tally.add(query, 0, row);
  }
  return tally.values();
}

struct Perfect {
  std::string_view name;
  Score score;
  Look look;
};

const Perfect kPerfect[] = {
    {"previous-token", Score::kPrevious,
     [](const ScoredTokens&, std::size_t query) {
       return query == 0 ? ScoredTokens::kNone : query - 1;
     }},
    {"current-token", Score::kSelf, [](const ScoredTokens&, std::size_t query) { return query; }},
    {"duplicate-token", Score::kDuplicate,
     [](const ScoredTokens& tokens, std::size_t query) { return tokens.latest(query); }},
    {"induction", Score::kInduction,
     [](const ScoredTokens& tokens, std::size_t query) {
       const std::size_t latest = tokens.latest(query);
       return latest == ScoredTokens::kNone ? latest : latest + 1;
     }},
    {"sink", Score::kSinkAlpha, [](const ScoredTokens&, std::size_t) { return std::size_t{0}; }}};

std::vector<std::string_view> earned(const ScoreValues& scores) {
  std::vector<std::string_view> names;
  for (const HeadName& name : kHeadNames) {
    if (name.is_earned_by(scores)) {
      names.push_back(name.name);
    }
  }
  return names;
}

ScoredTokens tokens_of_probe() {
  constexpr std::size_t kLength = 25, kRepeats = 4;
  std::vector<TokenId> ids = {0};
  for (std::size_t i = 0; i < kLength * kRepeats; ++i) {
    ids.push_back(static_cast<TokenId>(1 + i % kLength));
  }
  return ScoredTokens(ids);
}

struct RandomKind {
  Positions positions;
  std::size_t n_heads;
  std::size_t n_kv_heads;
  std::size_t d_head;
};

}  // namespace

TEST_CASE("names: a perfect head reaches the maximal score on a probe and gets its name alone") {
  const ScoredTokens tokens = tokens_of_probe();
  for (const Perfect& perfect : kPerfect) {
    CAPTURE(perfect.name);
    const ScoreValues scores = scores_of(tokens, perfect.look);
    CHECK(scores[perfect.score] == 1.0);
    CHECK(earned(scores) == std::vector{perfect.name});
  }
}

TEST_CASE("names: none of 544 random heads gets one on a probe") {
  constexpr RandomKind kKinds[] = {
      {Positions::kNone, 16, 0, 8},        {Positions::kNone, 12, 0, 64},
      {Positions::kSinusoidal, 16, 0, 16}, {Positions::kSinusoidal, 24, 0, 8},
      {Positions::kRope, 16, 4, 16},       {Positions::kRope, 12, 0, 32},
      {Positions::kAlibi, 8, 0, 32},       {Positions::kAlibi, 32, 0, 8}};
  ProbeShape shape;
  shape.count = 1;
  std::size_t n_heads = 0;
  for (const RandomKind& kind : kKinds) {
    RandomShape sizes;
    sizes.n_layers = 2;
    sizes.n_heads = kind.n_heads;
    sizes.n_kv_heads = kind.n_kv_heads;
    sizes.d_head = kind.d_head;
    for (const std::uint64_t seed : {1U, 2U}) {
      const Model model = random_model(sizes, seed, kind.positions);
      const TokenizedText probe = make_probes(model, nullptr, shape).front();
      const std::vector<HeadId> heads = select_heads(model, "", "");
      ScoreRequest request;
      request.weighted = false;
      const TextScores found =
          score_heads(model, probe, probe_tokens(probe, shape, 4), heads, request);
      for (std::size_t i = 0; i < heads.size(); ++i) {
        CAPTURE(positions_name(kind.positions));
        CAPTURE(seed);
        CAPTURE(head_name(heads[i]));
        CHECK(earned(found.raw[i]).empty());
      }
      n_heads += heads.size();
    }
  }
  CHECK(n_heads == 544);
}

}  // namespace attnviz
