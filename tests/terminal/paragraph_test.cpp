#include "attnviz/terminal/page/paragraph.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "attnviz/core/message.h"

namespace attnviz {

using Lines = std::vector<std::string>;

TEST_CASE("safe_message: words keep one space between them and nothing that a terminal obeys") {
  CHECK(safe_message(" mask\n causal\t", false) == "mask causal");
  CHECK(safe_message("a\x1b[31mb", false) == "a\\x1B[31mb");
  CHECK(safe_message("4 × 4", true) == "4 \\u{00D7} 4");
  CHECK(safe_message("", false).empty());
}

TEST_CASE("wrap: breaks between words, and inside of a word only when it is wider than a line") {
  CHECK(wrap("one two three", 7) == Lines{"one two", "three"});
  CHECK(wrap("one two three", 8) == Lines{"one two", "three"});
  CHECK(wrap("internationalization", 8) == Lines{"internat", "ionaliza", "tion"});
  CHECK(wrap("", 8).empty());
}

TEST_CASE("wrap: counts terminal columns, not bytes") {
  CHECK(wrap("日本語 文", 8) == Lines{"日本語", "文"});
  CHECK(wrap("日本語", 5) == Lines{"日本", "語"});
}

TEST_CASE("flow: items that hold escape codes count as wide as they look") {
  const std::vector<InlineItem> items = {{"\x1b[1mab\x1b[0m", 2}, {"cd", 2}, {"ef", 2}};
  CHECK(flow(items, 2, 6) == Lines{"\x1b[1mab\x1b[0m  cd", "ef"});
}

}  // namespace attnviz
