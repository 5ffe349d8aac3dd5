#include "attnviz/analysis/average.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include "attnviz/attention/engine.h"
#include "attnviz/attention/pattern_store.h"
#include "attnviz/core/error.h"
#include "attnviz/model/random_model.h"

namespace attnviz {
namespace {

const std::vector<std::string_view> kPieces = {"The", "cat", "sat", "on", "the", "mat", "."};

std::vector<HeadId> rectangle(std::size_t n_layers, std::size_t n_heads) {
  std::vector<HeadId> heads;
  for (std::size_t layer = 0; layer < n_layers; ++layer) {
    for (std::size_t head = 0; head < n_heads; ++head) {
      heads.push_back({layer, head});
    }
  }
  return heads;
}

// The same mean by plain loops in long double, from patterns that are kept whole.
double plain_mean(const PatternStore& store, const std::vector<HeadId>& heads, std::size_t query,
                  std::size_t key) {
  long double sum = 0.0L;
  for (const HeadId head : heads) {
    sum += static_cast<long double>(store.pattern(head)(query, key));
  }
  return static_cast<double>(sum / static_cast<long double>(heads.size()));
}

}  // namespace

TEST_CASE("average_groups: heads by layer, layers by head, all in one") {
  const std::vector<HeadId> heads = {{0, 1}, {0, 2}, {3, 1}, {3, 2}};
  using Groups = std::vector<std::vector<HeadId>>;
  CHECK(average_groups(heads, AverageOver::kHeads) == Groups{{{0, 1}, {0, 2}}, {{3, 1}, {3, 2}}});
  CHECK(average_groups(heads, AverageOver::kLayers) == Groups{{{0, 1}, {3, 1}}, {{0, 2}, {3, 2}}});
  CHECK(average_groups(heads, AverageOver::kAll) == Groups{heads});
}

TEST_CASE("average_groups: a selection with holes is averaged only as a whole") {
  const std::vector<HeadId> holes = {{0, 1}, {1, 2}};
  CHECK(average_groups(holes, AverageOver::kAll).front() == holes);
  CHECK_THROWS_WITH_AS(average_groups(holes, AverageOver::kHeads),
                       doctest::Contains("average heads: needs the same heads of every layer"),
                       Error);
  CHECK_THROWS_AS(average_groups(holes, AverageOver::kLayers), Error);
}

TEST_CASE("AverageSink: means are those of plain loops over whole patterns") {
  const Model model = random_model({.n_layers = 3, .n_heads = 5}, /*seed=*/7);
  const std::vector<HeadId> heads = rectangle(3, 5);
  for (const float dropout : {0.0f, 0.75f}) {
    for (const AverageOver over : {AverageOver::kHeads, AverageOver::kLayers, AverageOver::kAll}) {
      CAPTURE(dropout);
      CAPTURE(std::string(average_name(over)));
      AttentionRequest request;
      request.dropout = dropout;
      request.dropout_seed = 3;
      PatternStore store(heads, kPieces.size());
      run(model, kPieces, request, store);
      AverageSink sink(average_groups(heads, over), kPieces.size(), 1.0f / (1.0f - dropout));
      run(model, kPieces, request, sink);
      for (std::size_t group = 0; group < sink.groups().size(); ++group) {
        const MatrixBuffer mean = sink.take_mean(group);
        REQUIRE(mean.rows() == kPieces.size());
        for (std::size_t query = 0; query < kPieces.size(); ++query) {
          for (std::size_t key = 0; key < kPieces.size(); ++key) {
            const double expected = plain_mean(store, sink.groups()[group], query, key);
            CHECK(std::abs(static_cast<double>(mean.view()(query, key)) - expected) < 1e-7);
          }
        }
      }
    }
  }
}

TEST_CASE("AverageSink: whichever thread comes first, the bits are the same") {
  constexpr std::size_t kTokens = 40;
  constexpr std::size_t kHeads = 16;
  std::vector<float> weights(kTokens * kTokens);
  const auto mean_of = [&weights](bool reversed) {
    AverageSink sink({rectangle(1, kHeads)}, kTokens, 1.0f);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < kHeads; ++i) {
      const std::size_t head = reversed ? kHeads - 1 - i : i;
      threads.emplace_back([&weights, &sink, head] {
        std::vector<float> mine = weights;
        for (std::size_t at = 0; at < mine.size(); ++at) {
          mine[at] = 1.0f / static_cast<float>(3 + (at * 7 + head * 11) % 97);
        }
        sink.rows({0, head}, 0, 0, {mine.data(), kTokens, kTokens, kTokens});
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    return sink.take_mean(0);
  };
  const MatrixBuffer one = mean_of(false);
  const MatrixBuffer other = mean_of(true);
  for (std::size_t query = 0; query < kTokens; ++query) {
    for (std::size_t key = 0; key < kTokens; ++key) {
      REQUIRE(one.view()(query, key) == other.view()(query, key));
    }
  }
}

TEST_CASE("AverageSink: wants the heads of its groups only") {
  const AverageSink sink({{{0, 1}}, {{2, 0}}}, 3, 1.0f);
  CHECK(sink.wants({0, 1}));
  CHECK(sink.wants({2, 0}));
  CHECK_FALSE(sink.wants({0, 0}));
  CHECK_FALSE(sink.wants({1, 1}));
}

}  // namespace attnviz
