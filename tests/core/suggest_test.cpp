#include "attnviz/core/suggest.h"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <vector>

namespace attnviz {

TEST_CASE("did_you_mean: one slip is forgiven, another word is not") {
  const std::vector<std::string> words = {"causal", "window", "tokenize"};
  CHECK(did_you_mean("casual", words) == " (did you mean \"causal\"?)");  // two letters swapped
  CHECK(did_you_mean("windw", words) == " (did you mean \"window\"?)");
  CHECK(did_you_mean("tokenise", words) == " (did you mean \"tokenize\"?)");
  CHECK(did_you_mean("block", words).empty());
  CHECK(did_you_mean("", words).empty());
  CHECK(did_you_mean(std::string(100000, 'x'), words).empty());
}

TEST_CASE("did_you_mean: a candidate of a hundred megabytes takes neither time nor memory") {
  const std::vector<std::string> words = {std::string(100'000'000, 'c'), "cat"};
  const auto start = std::chrono::steady_clock::now();
  CHECK(did_you_mean("cta", words) == " (did you mean \"cat\"?)");
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::milliseconds(500));
}

}  // namespace attnviz
