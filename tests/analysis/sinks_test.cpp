#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <thread>
#include <vector>

#include "attnviz/analysis/rollout.h"
#include "attnviz/analysis/run_stores.h"
#include "attnviz/attention/engine.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/model/random_model.h"
#include "support/naive.h"

namespace attnviz {

TEST_CASE("without_first_key: the rest of each row sums to 1 again") {
  const std::vector<float> weights = {1.0f, 0.0f, 0.0f, 0.5f, 0.5f, 0.0f, 0.5f, 0.125f, 0.375f};
  const MatrixBuffer rest = without_first_key(test::matrix_over(weights, 3, 3));
  REQUIRE(rest.rows() == 3);
  REQUIRE(rest.cols() == 2);
  const float expected[] = {0.0f, 0.0f, 1.0f, 0.0f, 0.25f, 0.75f};
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(rest.view()(i / 2, i % 2) == expected[i]);
  }
}

TEST_CASE(
    "without_first_key: rows and columns may differ in number, and rows need not be adjacent") {
  const std::vector<float> weights = {0.9f, 0.1f, 7.0f, 0.2f, 0.4f, 7.0f};
  const MatrixBuffer rest = without_first_key(ConstMatrix{weights.data(), 2, 2, 3});
  REQUIRE(rest.cols() == 1);
  CHECK(rest.view()(0, 0) == 1.0f);
  CHECK(rest.view()(1, 0) == 1.0f);
}

namespace {

constexpr std::size_t kSinkTokens = 5;
constexpr std::size_t kWords = 3;
constexpr HeadId kHead{0, 0};

// Five tokens; the second and third form a word, and so do the last two.
const std::vector<std::size_t> kWordOf = {0, 1, 1, 2, 2};
constexpr float kWeights[kSinkTokens][kSinkTokens] = {{1.0f, 0.0f, 0.0f, 0.0f, 0.0f},
                                                      {0.5f, 0.5f, 0.0f, 0.0f, 0.0f},
                                                      {0.25f, 0.25f, 0.5f, 0.0f, 0.0f},
                                                      {0.5f, 0.0f, 0.25f, 0.25f, 0.0f},
                                                      {0.125f, 0.125f, 0.25f, 0.25f, 0.25f}};
// Merged by hand: row 1 is the mean of (0.5, 0.5, 0) and (0.25, 0.75, 0), row 2 the mean of
// (0.5, 0.25, 0.25) and (0.125, 0.375, 0.5).
constexpr float kMerged[kWords][kWords] = {
    {1.0f, 0.0f, 0.0f}, {0.375f, 0.625f, 0.0f}, {0.3125f, 0.3125f, 0.375f}};

ConstMatrix rows_from(std::size_t first, std::size_t count) {
  return {&kWeights[first][0], count, kSinkTokens, kSinkTokens};
}

void check_merged(ConstMatrix pattern) {
  REQUIRE(pattern.rows == kWords);
  for (std::size_t query = 0; query < kWords; ++query) {
    for (std::size_t key = 0; key < kWords; ++key) {
      CAPTURE(query);
      CAPTURE(key);
      CHECK(pattern(query, key) == kMerged[query][key]);
    }
  }
}

}  // namespace

TEST_CASE("MergeSink: sums over the keys of a word, means over its queries") {
  PatternStore words({kHead}, kWords);
  MergeSink sink(words, kWordOf, 1.0f);
  sink.rows(kHead, 0, 0, rows_from(0, kSinkTokens));
  check_merged(words.pattern(kHead));
}

TEST_CASE("MergeSink: blocks may cut words and come in any order") {
  for (const std::size_t rows : {1U, 2U, 3U}) {
    CAPTURE(rows);
    PatternStore words({kHead}, kWords);
    MergeSink sink(words, kWordOf, 1.0f);
    std::vector<std::size_t> firsts;
    for (std::size_t first = 0; first < kSinkTokens; first += rows) {
      firsts.push_back(first);
    }
    std::reverse(firsts.begin(), firsts.end());
    for (const std::size_t first : firsts) {
      sink.rows(kHead, first, 0,
                rows_from(first, std::min<std::size_t>(rows, kSinkTokens - first)));
    }
    check_merged(words.pattern(kHead));
  }
}

TEST_CASE("MergeSink: blocks may leave the first keys out") {
  PatternStore words({kHead}, kWords);
  MergeSink sink(words, kWordOf, 1.0f);
  const float last[] = {0.75f, 0.25f};
  sink.rows(kHead, 3, 2, {last, 1, 2, 2});
  sink.rows(kHead, 4, 3, {last, 1, 2, 2});
  const ConstMatrix pattern = words.pattern(kHead);
  CHECK(pattern(2, 0) == 0.0f);
  CHECK(pattern(2, 1) == 0.375f);
  CHECK(pattern(2, 2) == 0.625f);
}

TEST_CASE("MergeSink: heads that the target does not ask for are left alone") {
  PatternStore words({kHead}, kWords);
  MergeSink sink(words, kWordOf, 1.0f);
  CHECK(sink.wants(kHead));
  CHECK(!sink.wants({0, 1}));
  sink.rows({0, 1}, 0, 0, rows_from(0, kSinkTokens));
  CHECK(words.pattern(kHead)(0, 0) == 0.0f);
}

TEST_CASE("MergeSink: means of heads are means of merged patterns") {
  AverageSink mean({{{0, 0}, {0, 1}}}, kWords, 1.0f);
  MergeSink sink(mean, kWordOf, 1.0f);
  // The second head puts all its weight on the first token.
  float first_only[kSinkTokens][kSinkTokens] = {};
  for (auto& row : first_only) {
    row[0] = 1.0f;
  }
  sink.rows({0, 0}, 0, 0, rows_from(0, kSinkTokens));
  sink.rows({0, 1}, 0, 0, {&first_only[0][0], kSinkTokens, kSinkTokens, kSinkTokens});
  const MatrixBuffer pattern = mean.take_mean(0);
  CHECK(pattern.view()(1, 0) == doctest::Approx((0.375 + 1.0) / 2));
  CHECK(pattern.view()(2, 2) == doctest::Approx(0.375 / 2));
}

TEST_CASE("MergeSink: a word split between many threads has the same weights in every run") {
  constexpr std::size_t kLong = 64;
  std::vector<float> weights(kLong * kLong);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    weights[i] = 1.0f / static_cast<float>(i % 97 + 100);
  }
  const std::vector<std::size_t> one_word(kLong, 0);
  const auto run = [&](bool threaded) {
    PatternStore words({kHead}, 1);
    MergeSink sink(words, one_word, 1.0f);
    std::vector<std::thread> threads;
    threads.reserve(kLong);
    for (std::size_t query = 0; query < kLong; ++query) {
      const auto give = [&, query] {
        sink.rows(kHead, query, 0, {weights.data() + query * kLong, 1, kLong, kLong});
      };
      if (threaded) {
        threads.emplace_back(give);
      } else {
        give();
      }
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    return words.pattern(kHead)(0, 0);
  };
  const float expected = run(false);
  CHECK(expected > 0.3f);
  for (int i = 0; i < 5; ++i) {
    CHECK(run(true) == expected);
  }
}

TEST_CASE("MergeSink: a model's run agrees with plain loops over whole patterns; rows sum to 1") {
  const std::vector<std::string_view> pieces = {"un", "der", "stand", "ing", "is", "hard", "er"};
  const std::vector<std::size_t> word_of = {0, 0, 0, 0, 1, 2, 2};
  const Model model = random_model({.n_layers = 2, .n_heads = 3}, /*seed=*/5);
  std::vector<HeadId> heads;
  for (std::size_t i = 0; i < 6; ++i) {
    heads.push_back({i / 3, i % 3});
  }
  for (const MaskKind kind : {MaskKind::kCausal, MaskKind::kNone, MaskKind::kWindow}) {
    AttentionRequest request;
    request.mask = Mask{kind, 2};
    PatternStore tokens(heads, pieces.size());
    run(model, pieces, request, tokens);
    PatternStore words(heads, kWords);
    MergeSink sink(words, word_of, 1.0f);
    run(model, pieces, request, sink);
    for (const HeadId head : heads) {
      double expected[kWords][kWords] = {};
      for (std::size_t query = 0; query < pieces.size(); ++query) {
        const auto length =
            static_cast<double>(std::count(word_of.begin(), word_of.end(), word_of[query]));
        for (std::size_t key = 0; key < pieces.size(); ++key) {
          expected[word_of[query]][word_of[key]] +=
              static_cast<double>(tokens.pattern(head)(query, key)) / length;
        }
      }
      for (std::size_t query = 0; query < kWords; ++query) {
        double sum = 0.0;
        for (std::size_t key = 0; key < kWords; ++key) {
          const auto weight = static_cast<double>(words.pattern(head)(query, key));
          CHECK(std::abs(weight - expected[query][key]) < 1e-7);
          sum += weight;
        }
        CHECK(sum == doctest::Approx(1.0).epsilon(1e-5));
      }
    }
  }
}

}  // namespace attnviz
