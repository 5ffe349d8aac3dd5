#include "attnviz/analysis/informative_heads.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "attnviz/attention/engine.h"

namespace attnviz {

namespace {

using Weights = std::vector<float>;  // [n_queries, n_keys]

// Each query puts all its weight on one key.
Weights looking_at(std::size_t n, const std::function<std::size_t(std::size_t)>& key_of) {
  Weights weights(n * n);
  for (std::size_t query = 0; query < n; ++query) {
    weights[query * n + key_of(query)] = 1.0f;
  }
  return weights;
}

Weights spread_evenly(std::size_t n, const Mask& mask) {
  Weights weights(n * n);
  for (std::size_t query = 0; query < n; ++query) {
    for (std::size_t key = 0; key < n; ++key) {
      weights[query * n + key] =
          mask.visible(query, key) ? 1.0f / static_cast<float>(mask.n_visible(query, 0, n)) : 0.0f;
    }
  }
  return weights;
}

// Seeded rows that sum to 1, with a few large keys.
Weights noise(std::size_t n_queries, std::size_t n_keys, const Mask& mask, unsigned seed) {
  std::mt19937 bits(seed);
  Weights weights(n_queries * n_keys);
  for (std::size_t query = 0; query < n_queries; ++query) {
    float sum = 0.0f;
    for (std::size_t key = 0; key < n_keys; ++key) {
      const float uniform = static_cast<float>(bits() % 1000) / 1000.0f;
      weights[query * n_keys + key] = mask.visible(query, key) ? std::pow(uniform, 20.0f) : 0.0f;
      sum += weights[query * n_keys + key];
    }
    for (std::size_t key = 0; key < n_keys && sum > 0.0f; ++key) {
      weights[query * n_keys + key] /= sum;
    }
  }
  return weights;
}

ConstMatrix matrix(const Weights& weights, std::size_t n_keys) {
  return {weights.data(), weights.size() / n_keys, n_keys, n_keys};
}

InformativeHead score_of(const Weights& weights, std::size_t n, const Visibility& mask) {
  InformativeHeads heads({{0, 0}}, mask, n);
  heads.rows({0, 0}, 0, 0, matrix(weights, n));
  return heads.score({0, 0});
}

// The definition, written out.
double naive_score(const Weights& weights, std::size_t n, const Visibility& mask) {
  const auto w = [&](std::size_t q, std::size_t k) {
    return static_cast<double>(weights[q * n + k]);
  };
  const auto far = [&](std::size_t q, std::size_t k) {
    return k > 0 && (k + 1 < q || k > q + 1) && mask.visible(q, k);
  };
  const auto best_of = [&](std::size_t q) {
    std::size_t best = n;
    for (std::size_t k = 0; q < n && k < n; ++k) {
      if (far(q, k) && (best == n || w(q, k) > w(q, best))) {
        best = k;
      }
    }
    return best;
  };
  double sum = 0.0;
  std::size_t counted = 0;
  for (std::size_t q = 0; q < n; ++q) {
    const std::size_t best = best_of(q);
    double n_seen = 0.0;
    for (std::size_t k = 0; k < n; ++k) {
      n_seen += mask.visible(q, k) ? 1.0 : 0.0;
    }
    if (best == n) {
      continue;
    }
    ++counted;
    double column = 0.0;
    double n_column = 0.0;
    double step = 0.0;
    double n_step = 0.0;
    for (std::size_t p = 0; p < n; ++p) {
      if (p != q && far(p, best)) {
        column += w(p, best);
        ++n_column;
      }
      const std::size_t other = p + best - q;
      if (p != q && p + best >= q && other < n && far(p, other)) {
        step += w(p, other);
        ++n_step;
      }
    }
    const std::size_t distance = best > q ? best - q : q - best;
    double expected = std::max(1.0 / n_seen, n_column > 0.0 ? column / n_column : 0.0);
    if (distance <= 3 && n_step > 0.0) {
      expected = std::max(expected, step / n_step);
    }
    const double before = q > 0 && best_of(q - 1) == best ? w(q - 1, best) : 0.0;
    const double after = best_of(q + 1) == best ? w(q + 1, best) : 0.0;
    expected = std::max(expected, (before + after) / 2.0);
    sum += std::max(0.0, w(q, best) - expected);
  }
  return counted == 0 ? 0.0 : sum / static_cast<double>(counted);
}

constexpr Mask kCausal{MaskKind::kCausal, 0};
constexpr Mask kNone{MaskKind::kNone, 0};

}  // namespace

TEST_CASE("informative heads: a score computed by hand") {
  // Query 3 looks at the first token, query 4 at token 1, query 5 at token 3 and at itself.
  const Weights weights = {1.0f, 0,    0, 0,    0, 0,  //
                           0,    1.0f, 0, 0,    0, 0,  //
                           0.5f, 0.5f, 0, 0,    0, 0,  //
                           1.0f, 0,    0, 0,    0, 0,  //
                           0.2f, 0.8f, 0, 0,    0, 0,  //
                           0,    0,    0, 0.6f, 0, 0.4f};
  const InformativeHead head = score_of(weights, 6, kCausal);
  CHECK(head.n_counted == 3);
  CHECK(head.score == doctest::Approx((0.8 - 1.0 / 5 + 0.6 - 1.0 / 6) / 3));
  CHECK(head.share == doctest::Approx(1.4 / 3));
  CHECK(head.query == 4);
  CHECK(head.key == 1);
  CHECK(head.weight == 0.8f);
  CHECK(head.qualifies());
}

TEST_CASE("informative heads: words that all look at the beginning of their part count little") {
  // From 3 on all look at 1, from 9 on at 7, as far as it is visible: only the ends of the first
  // stretch count, by half.
  const Weights parts = looking_at(15, [](std::size_t query) {
    return query < 3 ? 0u : query < 9 ? 1u : 7u;
  });
  CHECK(score_of(parts, 15, kCausal).score == doctest::Approx(2 * 0.5 / 12));
}

TEST_CASE("informative heads: patterns that do not depend on the words score 0") {
  constexpr std::size_t kTokens = 30;
  const auto back = [](std::size_t steps) {
    return [steps](std::size_t query) { return query < steps ? query : query - steps; };
  };
  for (const Mask& mask : {kCausal, kNone, Mask{MaskKind::kWindow, 9}}) {
    CAPTURE(mask.name());
    CHECK(score_of(spread_evenly(kTokens, mask), kTokens, mask).score < 0.02);
    for (const std::size_t steps : {0u, 1u, 2u, 3u}) {
      CAPTURE(steps);
      CHECK(score_of(looking_at(kTokens, back(steps)), kTokens, mask).score == 0.0);
    }
  }
  const auto at = [](std::size_t column) {
    return [column](std::size_t query) { return std::min(query, column); };
  };
  CHECK(score_of(looking_at(kTokens, at(0)), kTokens, kCausal).score == 0.0);
  CHECK(score_of(looking_at(kTokens, at(5)), kTokens, kCausal).score == 0.0);  // a full stop
  const auto always = [](std::size_t column) { return [column](std::size_t) { return column; }; };
  CHECK(score_of(looking_at(kTokens, always(0)), kTokens, kNone).score == 0.0);
  CHECK(score_of(looking_at(kTokens, always(kTokens - 1)), kTokens, kNone).score == 0.0);  // [SEP]
  const auto next = [](std::size_t query) { return std::min(query + 1, kTokens - 1); };
  CHECK(score_of(looking_at(kTokens, next), kTokens, kNone).score == 0.0);
}

TEST_CASE("informative heads: the head whose queries look at different tokens wins") {
  for (const Mask& mask : {kCausal, kNone}) {
    for (const std::size_t n : {12u, 300u}) {
      CAPTURE(mask.name());
      CAPTURE(n);
      const std::vector<HeadId> ids = {{1, 1}, {0, 0}, {2, 0}, {0, 1}, {1, 0}, {2, 1}};
      InformativeHeads heads(ids, mask, n);
      // The second half of the text repeats the first, as for induction and duplicate-token heads.
      const std::size_t half = n / 2;
      const Weights informative =
          looking_at(n, [half](std::size_t q) { return q < half ? 0 : q - half; });
      const auto rows = [&](HeadId head, const Weights& weights) {
        heads.rows(head, 0, 0, matrix(weights, n));
      };
      rows({0, 0}, looking_at(n, [](std::size_t) { return 0; }));
      rows({0, 1}, looking_at(n, [](std::size_t query) { return query; }));
      rows({1, 0}, looking_at(n, [](std::size_t q) { return q == 0 ? 0 : q - 1; }));
      rows({1, 1}, spread_evenly(n, mask));
      rows({2, 0}, informative);
      rows({2, 1},
           looking_at(n, [](std::size_t query) { return std::min<std::size_t>(query, 4); }));
      const InformativeHead best = heads.best();
      CHECK(best.head == HeadId{2, 0});
      CHECK(best.score > 0.35);
      CHECK(best.query == best.key + half);
      CHECK(best.weight == 1.0f);
    }
  }
}

TEST_CASE(
    "informative heads: in a text too short no token counts, and the first head comes first") {
  for (const std::size_t n : {1u, 2u, 3u}) {
    CAPTURE(n);
    InformativeHeads heads({{3, 2}, {1, 1}, {1, 0}}, kCausal, n);
    for (const HeadId head : {HeadId{3, 2}, HeadId{1, 1}, HeadId{1, 0}}) {
      heads.rows(head, 0, 0, matrix(noise(n, n, kCausal, 1), n));
    }
    const InformativeHead best = heads.best();
    CHECK(best.head == HeadId{1, 0});
    CHECK(best.n_counted == 0);
    CHECK(best.score == 0.0);
    CHECK_FALSE(best.qualifies());
  }
  CHECK(score_of(noise(1, 1, kNone, 1), 1, kNone).n_counted == 0);
  CHECK(score_of(noise(2, 2, kNone, 1), 2, kNone).n_counted == 0);
  CHECK(score_of(noise(3, 3, kNone, 1), 3, kNone).n_counted == 1);  // 0 sees 2
}

TEST_CASE("informative heads: one query is enough if it stands out") {
  constexpr std::size_t kTokens = 12;
  Weights weights = looking_at(kTokens, [](std::size_t) { return 0; });
  const auto look = [&weights](std::size_t query, std::size_t key, float weight) {
    weights[query * kTokens] = 1.0f - weight;
    weights[query * kTokens + key] = weight;
  };
  look(8, 2, 0.9f);
  look(10, 5, 0.6f);
  look(11, 3, 0.2f);
  using Look = std::pair<std::size_t, std::size_t>;
  const auto named = [&weights](const std::vector<Look>& pronouns,
                                const std::vector<Look>& repetitions = {}) {
    InformativeHeads heads({{1, 0}}, kCausal, kTokens);
    heads.judge([&](std::size_t query, std::size_t key) {
      const auto has = [&](const std::vector<Look>& looks) {
        return std::find(looks.begin(), looks.end(), Look(query, key)) != looks.end();
      };
      return has(pronouns)      ? Evidence::kPronoun
             : has(repetitions) ? Evidence::kRepetition
                                : Evidence::kScore;
    });
    heads.rows({1, 0}, 0, 0, matrix(weights, kTokens));
    return heads.score({1, 0}).query;
  };
  CHECK(named({}) == 8);
  CHECK(named({{10, 5}}) == 10);
  CHECK(named({{11, 3}}) == 8);  // 0.2 is too little to stand out
  look(11, 3, 0.49f);
  CHECK(named({{11, 3}}) == 8);
  look(11, 3, 0.7f);
  CHECK(named({{11, 3}}) == 11);
  CHECK(named({{10, 2}}) == 8);  // looks elsewhere
  CHECK(named({{8, 2}, {10, 5}}) == 8);
  CHECK(named({}, {{10, 5}}) == 10);
  CHECK(named({{10, 5}}, {{8, 2}}) == 10);
}

TEST_CASE("informative heads: heads with a query that stands out come first, pronouns before all") {
  constexpr std::size_t kTokens = 40;
  const auto one_look = [](std::size_t query, std::size_t key, float weight) {
    Weights weights = looking_at(kTokens, [](std::size_t) { return 0; });
    weights[query * kTokens] = 1.0f - weight;
    weights[query * kTokens + key] = weight;
    return weights;
  };
  const Weights many =
      looking_at(kTokens, [](std::size_t query) { return query < 20 ? 0 : (query * 7) % 17 + 1; });
  const auto best = [&](const std::vector<std::pair<HeadId, Weights>>& all) {
    std::vector<HeadId> ids;
    ids.reserve(all.size());
    for (const auto& [id, weights] : all) {
      ids.push_back(id);
    }
    InformativeHeads heads(ids, kCausal, kTokens);
    heads.judge([](std::size_t query, std::size_t) {
      return query == 15   ? Evidence::kPronoun
             : query == 18 ? Evidence::kRepetition
                           : Evidence::kScore;
    });
    for (const auto& [id, weights] : all) {
      heads.rows(id, 0, 0, matrix(weights, kTokens));
    }
    return heads.best();
  };
  const Weights some = one_look(15, 5, 0.6f);
  const Weights again = one_look(18, 5, 0.9f);
  const Weights most = one_look(15, 9, 0.9f);
  const Weights other = one_look(12, 9, 0.9f);  // by a query that gives no evidence
  CHECK(best({{{1, 0}, many}, {{1, 1}, some}}).head == HeadId{1, 1});
  CHECK(best({{{1, 0}, some}, {{2, 1}, most}}).head == HeadId{2, 1});
  CHECK(best({{{1, 0}, many}, {{1, 1}, other}}).head == HeadId{1, 0});
  CHECK(best({{{1, 0}, many}, {{1, 1}, again}}).head == HeadId{1, 1});
  CHECK(best({{{1, 0}, again}, {{1, 1}, some}}).head == HeadId{1, 1});
  CHECK(best({{{0, 0}, most}, {{1, 1}, many}}).head == HeadId{1, 1});  // layer 0
  const InformativeHead spoken = best({{{1, 0}, some}});
  CHECK(spoken.score < 0.1);
  CHECK(spoken.qualifies());
  CHECK(spoken.evidence == Evidence::kPronoun);
}

TEST_CASE("informative heads: a head of layer 0 comes after all others that stand out") {
  constexpr std::size_t kTokens = 20;
  const auto back = [](std::size_t n_looking) {  // this many of the last queries look far back
    return looking_at(kTokens, [n_looking](std::size_t query) {
      return query + n_looking < kTokens ? 0 : query - 9;
    });
  };
  for (const std::size_t n_looking : {1u, 8u}) {
    InformativeHeads heads({{0, 0}, {3, 1}}, kCausal, kTokens);
    heads.rows({0, 0}, 0, 0, matrix(back(10), kTokens));
    heads.rows({3, 1}, 0, 0, matrix(back(n_looking), kTokens));
    CHECK(heads.score({0, 0}).score > heads.score({3, 1}).score);
    CHECK(heads.score({3, 1}).qualifies() == (n_looking == 8));
    CHECK(heads.best().head == (n_looking == 8 ? HeadId{3, 1} : HeadId{0, 0}));
  }
}

TEST_CASE("informative heads: among equal heads the lowest layer and head wins") {
  constexpr std::size_t kTokens = 20;
  const Weights weights = noise(kTokens, kTokens, kCausal, 5);
  InformativeHeads heads({{2, 0}, {1, 7}, {1, 3}, {4, 0}}, kCausal, kTokens);
  for (const HeadId head : {HeadId{4, 0}, HeadId{1, 7}, HeadId{2, 0}, HeadId{1, 3}}) {
    heads.rows(head, 0, 0, matrix(weights, kTokens));
  }
  CHECK(heads.best().head == HeadId{1, 3});
}

TEST_CASE("informative heads: scores follow the definition") {
  for (const Mask& mask : {kCausal, kNone, Mask{MaskKind::kWindow, 6}, Mask{MaskKind::kBlock, 7}}) {
    for (const std::size_t n : {1u, 4u, 5u, 17u, 60u}) {
      CAPTURE(mask.name());
      CAPTURE(n);
      const Weights weights = noise(n, n, mask, 9);
      CHECK(score_of(weights, n, mask).score ==
            doctest::Approx(naive_score(weights, n, mask)).epsilon(1e-6));
      // Weights of hidden edges are 0, as in a run.
      const Visibility seen(mask, {{{8, 30}, {2, 9}, {}, {}}, {{3, 40}, {1, 2}, {}, {}}}, n, n);
      Weights left = weights;
      for (std::size_t i = 0; i < left.size(); ++i) {
        left[i] = seen.visible(i / n, i % n) ? left[i] : 0.0f;
      }
      CHECK(score_of(left, n, seen).score ==
            doctest::Approx(naive_score(left, n, seen)).epsilon(1e-6));
    }
  }
}

TEST_CASE("informative heads: the score is bit-identical for any order of rows") {
  constexpr std::size_t kTokens = 64;
  const Mask window{MaskKind::kWindow, 20};
  const Weights weights = noise(kTokens, kTokens, window, 3);
  const double whole = score_of(weights, kTokens, window).score;
  InformativeHeads parts({{0, 0}}, window, kTokens);
  constexpr std::size_t kRows = 8;
  for (const std::size_t block : {5u, 0u, 7u, 3u, 1u, 6u, 2u, 4u}) {
    const std::size_t first_query = block * kRows;
    const std::size_t first_key = window.first_key(first_query);
    const std::size_t n_keys = window.end_key(first_query + kRows - 1, kTokens) - first_key;
    parts.rows({0, 0}, first_query, first_key,
               matrix(weights, kTokens).row_block(first_query, kRows).col_block(first_key, n_keys));
  }
  CHECK(whole > 0.0);
  CHECK(parts.score({0, 0}).score == whole);
}

TEST_CASE("informative heads: queries of another text than the keys have no neighbours") {
  constexpr std::size_t kKeys = 5;
  // As in cross-attention: each of three queries looks at a different key.
  const Weights weights = {0, 1, 0, 0, 0,  //
                           0, 0, 1, 0, 0,  //
                           0, 0, 0, 1, 0};
  InformativeHeads heads({{0, 0}}, kNone, 3, kKeys);
  heads.rows({0, 0}, 0, 0, matrix(weights, kKeys));
  const InformativeHead head = heads.best();
  CHECK(head.n_counted == 3);
  CHECK(head.score == doctest::Approx(1.0 - 1.0 / kKeys));
  CHECK(head.query == 0);
  CHECK(head.key == 1);
}

}  // namespace attnviz
