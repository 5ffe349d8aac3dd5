#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "attnviz/attention/pattern_sink.h"
#include "attnviz/core/error.h"
#include "support/naive.h"

namespace attnviz {

TEST_CASE("pattern store: keeps the rows of chosen heads where they belong") {
  PatternStore store({{0, 1}, {2, 0}}, 3);
  CHECK(store.wants({0, 1}));
  CHECK(store.wants({2, 0}));
  CHECK(!store.wants({0, 0}));
  CHECK(!store.wants({1, 1}));
  CHECK(store.n_tokens() == 3);
  CHECK(store.heads().size() == 2);

  // Blocks arrive in any order, with rows farther apart than they are long.
  const std::vector<float> block = {1, 2, 3, -9, 4, 5, 6, -9};
  store.rows({2, 0}, 1, 0, {block.data(), 2, 3, 4});
  store.rows({2, 0}, 0, 0, {block.data(), 1, 3, 4});
  store.rows({1, 1}, 0, 0, {block.data(), 1, 3, 4});  // not requested

  const std::vector<double> expected = {1, 2, 3, 1, 2, 3, 4, 5, 6};
  CHECK(test::largest_difference(store.pattern({2, 0}), expected) == 0.0);
  CHECK(test::largest_difference(store.pattern({0, 1}), std::vector<double>(9, 0.0)) == 0.0);
}

TEST_CASE("pattern store: hands out the memory of a head's rows, in whole cache lines") {
  for (const std::size_t n : {std::size_t{32}, std::size_t{33}}) {
    PatternStore store({{0, 1}, {2, 0}}, n);
    const Matrix row_memory = store.place({2, 0}, n - 2, 2);
    CHECK(row_memory.rows == 2);
    CHECK(row_memory.cols == (n == 32 ? 32 : 48));
    CHECK(row_memory.stride % 16 == 0);
    CHECK(reinterpret_cast<std::uintptr_t>(row_memory.data) % 64 == 0);
    row_memory(1, n - 1) = 0.5f;
    const ConstMatrix pattern = store.pattern({2, 0});
    CHECK(pattern.rows == n);
    CHECK(pattern.cols == n);
    CHECK(pattern(n - 1, n - 1) == 0.5f);
    CHECK(store.place({0, 0}, n - 2, 2).empty());
    CHECK(PatternStore::bytes(2, n, n) == static_cast<double>(2 * n * row_memory.cols * 4));
  }
}

TEST_CASE("pattern store: keeps every one of many heads") {
  constexpr std::size_t kHeads = 200'000;
  std::vector<HeadId> heads(kHeads);
  for (std::size_t i = 0; i < kHeads; ++i) {
    heads[i].head = i;
  }
  PatternStore store(heads, 1);
  const float weight = 1.0f;
  for (const HeadId head : heads) {
    store.rows(head, 0, 0, {&weight, 1, 1, 1});
  }
  for (const std::size_t head : {std::size_t{0}, kHeads / 2, kHeads - 1}) {
    CHECK(store.pattern({0, head})(0, 0) == 1.0f);
  }
}

TEST_CASE("pattern store: a head that was not chosen is a usage error that names it") {
  const PatternStore store({{0, 1}}, 2);
  try {
    store.pattern({3, 4});
    FAIL("expected an error");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::kUsage);
    CHECK(std::string(error.what()).find("3.4") != std::string::npos);
  }
}

TEST_CASE("pattern store: sizes that cannot be counted are refused before memory is taken") {
  const std::size_t most = std::numeric_limits<std::size_t>::max();
  CHECK_THROWS_AS(PatternStore({{0, 0}}, most / 2), Error);
  CHECK_THROWS_AS(PatternStore({{0, 0}}, most), Error);
  CHECK_THROWS_AS(PatternStore({{0, 0}, {0, 1}}, most), Error);
}

}  // namespace attnviz
