#include "attnviz/core/ascii.h"

#include <doctest/doctest.h>

namespace attnviz {

TEST_CASE("ascii_lower: letters from A to Z alone, and none of another alphabet") {
  CHECK(ascii_lower("@AZ[ Q4_K_M.GGUF") == "@az[ q4_k_m.gguf");
  CHECK(ascii_lower("\u00C4\xFF") == "\u00C4\xFF");
  CHECK(ascii_lower("").empty());
}

}  // namespace attnviz
