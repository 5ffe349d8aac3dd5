#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "attnviz/core/choices.h"

namespace attnviz {

TEST_CASE("did_you_mean: a single typo is matched, another word is not") {
  const std::vector<std::string> words = {"causal", "window", "tokenize"};
  CHECK(did_you_mean("casual", words) == " (did you mean \"causal\"?)");  // two letters swapped
  CHECK(did_you_mean("windw", words) == " (did you mean \"window\"?)");
  CHECK(did_you_mean("tokenise", words) == " (did you mean \"tokenize\"?)");
  CHECK(did_you_mean("block", words).empty());
  const std::vector<std::string> keys = {"b_Q", "W_K", "W_Q"};
  CHECK(did_you_mean("Wq", keys) == " (did you mean \"W_Q\"?)");
  CHECK(did_you_mean("w-k", keys) == " (did you mean \"W_K\"?)");
  CHECK(did_you_mean("猫", keys).empty());
  CHECK(did_you_mean("", words).empty());
  CHECK(did_you_mean(std::string(100000, 'x'), words).empty());
}

TEST_CASE("did_you_mean: a candidate of megabytes is skipped") {
  // A table of its edits would take a hundred times its size.
  std::vector<std::string> words = {"c", "cat"};
  words[0].resize(50'000'000, 'c');
  CHECK(did_you_mean("cta", words) == " (did you mean \"cat\"?)");
}

}  // namespace attnviz
