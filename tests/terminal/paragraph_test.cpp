#include "attnviz/terminal/page/text_table.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "attnviz/core/message.h"
#include "support/stopwatch.h"

namespace attnviz {

using Lines = std::vector<std::string>;

TEST_CASE("safe_message: words keep one space between them, without control sequences") {
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

TEST_CASE("wrap: a word that fills many thousand lines is measured once") {
  constexpr std::size_t kLines = 20'000;
  std::string word;
  for (std::size_t i = 0; i < 40 * kLines; ++i) {
    word += "é";
  }
  const test::Stopwatch watch;
  CHECK(wrap(word, 40).size() == kLines);
  CHECK(watch.is_in_time());
}

TEST_CASE("flow: items stay together and keep their styles") {
  const std::vector<Line> items = {Line("ab", kBold), Line("猫"), Line("ef")};
  CHECK(to_ansi(flow(items, 2, 6), ColorDepth::k16) == "\x1b[1mab\x1b[0m  猫\nef\n");
}

TEST_CASE("paragraph: every line is indented and has the style, the indent has none") {
  CHECK(to_ansi(paragraph("one two three", 9, kDim, 2), ColorDepth::k16) ==
        "  \x1b[2mone two\x1b[0m\n  \x1b[2mthree\x1b[0m\n");
  CHECK(to_plain(paragraph("one", 2, {}, 4)) == "    o\n    n\n    e\n");
  CHECK(paragraph(" ", 9).lines.empty());
}

}  // namespace attnviz
