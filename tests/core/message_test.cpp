#include "attnviz/core/message.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace attnviz {

TEST_CASE("counted: one is singular, zero and many are plural") {
  CHECK(counted(0, "row") == "0 rows");
  CHECK(counted(1, "row") == "1 row");
  CHECK(counted(2, "row") == "2 rows");
}

TEST_CASE("quoted: short input unchanged, long or dangerous input cut and printable") {
  CHECK(in_quotes("") == "\"\"");
  CHECK(in_quotes("the cat") == "\"the cat\"");
  CHECK(in_quotes("the\ncat") == "\"the⏎cat\"");
  CHECK(in_quotes("\x1b[2J") == "\"\\x1B[2J\"");
  CHECK(in_quotes(std::string(1'000'000, 'x')) == "\"" + std::string(59, 'x') + "…\"");
  std::string marks = "e";
  for (int i = 0; i < 100'000; ++i) {
    marks += "\u0301";
  }
  CHECK(in_quotes(marks).size() < 300);
}

TEST_CASE("shown_name: without quotes unless it is empty, and cut if it is very long") {
  CHECK(shown_name("blk.0.attn_q.weight") == "blk.0.attn_q.weight");
  CHECK(shown_name("\x1b[2J") == "\\x1B[2J");
  CHECK(shown_name("") == "\"\"");
  CHECK(shown_name(std::string(120, 'n')) == std::string(120, 'n'));
  CHECK(shown_name(std::string(121, 'n')) == "\"" + std::string(59, 'n') + "…\"");
}

TEST_CASE("joined: commas between items, a word before the last") {
  CHECK(joined(std::vector<std::string>{}, "and") == "");
  CHECK(joined(std::vector<std::string>{"a"}, "and") == "a");
  CHECK(joined(std::vector<std::string>{"a", "b"}, "or") == "a or b");
  CHECK(joined(std::vector<std::string>{"a", "b", "c"}, "and") == "a, b and c");
}

}  // namespace attnviz
