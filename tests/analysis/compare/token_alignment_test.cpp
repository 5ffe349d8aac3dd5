#include "attnviz/analysis/compare/compare.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <string>
#include <vector>

#include "attnviz/core/error.h"
#include "support/naive.h"

namespace attnviz {
namespace {

TokenizedText words(const std::vector<std::string>& pieces) {
  TokenizedText text;
  for (const std::string& piece : pieces) {
    Token token;
    token.text = piece;
    text.tokens.push_back(token);
  }
  return text;
}

}  // namespace

TEST_CASE("align_tokens: by position at equal lengths, else by the longest common subsequence") {
  const TokenAlignment same =
      align_tokens(words({"The", "cat", "sat"}), words({"A", "cat", "ran"}));
  CHECK(same.by_position);
  CHECK(same.first == std::vector<std::size_t>{0, 1, 2});
  CHECK(same.is_same == std::vector<bool>{false, true, false});
  const TokenAlignment shared = align_tokens(words({"a", "b", "c", "d", "b", "a", "b"}),
                                             words({"b", "d", "c", "a", "b", "a"}));
  CHECK(!shared.by_position);
  CHECK(shared.size() == 4);  // the textbook's example: b c b a, b d a b or b c a b
  for (std::size_t i = 0; i < shared.size(); ++i) {
    CHECK(shared.is_same[i]);
    CHECK((i == 0 ||
           (shared.first[i - 1] < shared.first[i] && shared.second[i - 1] < shared.second[i])));
  }
  const TokenAlignment longer =
      align_tokens(words({"The", "cat", "sat"}), words({"The", "big", "cat", "sat"}));
  CHECK(longer.first == std::vector<std::size_t>{0, 1, 2});
  CHECK(longer.second == std::vector<std::size_t>{0, 2, 3});
  CHECK_THROWS_WITH_AS(align_tokens(words({"a", "b"}), words({"c", "b", "d"})),
                       doctest::Contains("share 1 token in order"), Error);
  CHECK_THROWS_AS(align_tokens(words({"a"}), words({"a"})), Error);
}

TEST_CASE("align_tokens: no common subsequence of two texts is longer") {
  const std::vector<float> numbers = test::random_values(2000, 7);
  const auto text = [&](std::size_t first, std::size_t count) {
    std::vector<std::string> letters;
    for (std::size_t i = first; i < first + count; ++i) {
      letters.emplace_back(numbers[i] < -0.3f ? "a" : numbers[i] < 0.3f ? "b" : "c");
    }
    return letters;
  };
  // Whether the letters of `one` whose bits are set occur in `other`, in order.
  const auto has = [](const std::vector<std::string>& one, std::size_t chosen,
                      const std::vector<std::string>& other) {
    auto next = other.begin();
    for (std::size_t i = 0; i < one.size(); ++i) {
      if ((chosen >> i) % 2 == 1) {
        next = std::find(next, other.end(), one[i]);
        if (next == other.end()) {
          return false;
        }
        ++next;
      }
    }
    return true;
  };
  for (std::size_t round = 0; round < 60; ++round) {
    const std::vector<std::string> one = text(20 * round, 4 + round % 5);
    const std::vector<std::string> other = text(20 * round + 10, 5 + (round + 1) % 4);
    int most = 0;
    for (std::size_t chosen = 0; chosen < (std::size_t{1} << one.size()); ++chosen) {
      most = has(one, chosen, other) ? std::max(most, std::popcount(chosen)) : most;
    }
    if (one.size() == other.size() || most < 2) {
      continue;
    }
    const TokenAlignment found = align_tokens(words(one), words(other));
    CHECK(found.size() == static_cast<std::size_t>(most));
    for (std::size_t i = 0; i < found.size(); ++i) {
      CHECK(one[found.first[i]] == other[found.second[i]]);
      CHECK((i == 0 || (found.first[i - 1] < found.first[i])));
      CHECK((i == 0 || (found.second[i - 1] < found.second[i])));
    }
  }
}

}  // namespace attnviz
