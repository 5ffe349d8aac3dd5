#include "attnviz/model/different_projections.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

#include "attnviz/model/model.h"

namespace attnviz {

namespace {

constexpr std::size_t kRows = 3;
constexpr std::size_t kCols = 2;

// Columns [2 i, 2 i + 2) of one matrix.
std::vector<Projection> heads_of(const std::vector<float>& weights) {
  const std::size_t n_cols = weights.size() / kRows;
  const StoredMatrix all(weights.data(), kRows, n_cols, n_cols, StoredType::kF32, false);
  std::vector<Projection> heads;
  for (std::size_t first = 0; first < n_cols; first += kCols) {
    heads.push_back({all.col_block(first, kCols), {}});
  }
  return heads;
}

}  // namespace

TEST_CASE("different projections: shared ones are listed once, for few heads and many") {
  for (const std::size_t n_heads : std::vector<std::size_t>{1, 7, 64, 65, 1000}) {
    CAPTURE(n_heads);
    const std::vector<float> weights(kRows * kCols * n_heads);
    const std::vector<Projection> heads = heads_of(weights);
    DifferentProjections different;
    for (std::size_t turn = 0; turn < 2; ++turn) {
      for (std::size_t i = 0; i < n_heads; ++i) {
        const Projection copy = heads[i];
        CHECK(different.place_of(copy) == (turn == 0 ? different.size() : i));
        CHECK(different.add(heads[i]) == i);
      }
      CHECK(different.size() == n_heads);
    }
    CHECK(different[n_heads - 1] == heads[n_heads - 1]);
    // The same weights with a bias are a different projection.
    Projection biased = heads[0];
    biased.bias = std::span<const float>(weights).first(kCols);
    CHECK(different.place_of(biased) == n_heads);
  }
}

TEST_CASE(
    "key and value heads: numbered by shared projections, also where keys and values differ") {
  const std::vector<float> weights(kRows * kCols * 200);
  const std::vector<Projection> projections = heads_of(weights);
  LayerWeights layer;
  layer.heads.resize(100);
  for (std::size_t head = 0; head < 100; ++head) {
    layer.heads[head].key = projections[head / 4];           // 25 of them
    layer.heads[head].value = projections[100 + head / 10];  // 10
  }
  std::vector<std::size_t> expected;
  for (std::size_t head = 0; head < 100; ++head) {
    const bool is_new = head == 0 || head / 4 != (head - 1) / 4 || head / 10 != (head - 1) / 10;
    expected.push_back(is_new ? (head == 0 ? 0 : expected.back() + 1) : expected.back());
  }
  CHECK(key_value_heads(layer) == expected);
}

}  // namespace attnviz
