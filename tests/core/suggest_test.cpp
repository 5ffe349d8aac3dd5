#include "attnviz/core/suggest.h"

#include <doctest/doctest.h>

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

}  // namespace attnviz
