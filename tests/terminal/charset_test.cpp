#include "attnviz/terminal/page/page.h"

#include <doctest/doctest.h>

#include <limits>
#include <string>

namespace attnviz {

TEST_CASE("Charset: ascii and mask are 7-bit, for any text") {
  for (const TerminalStyle style : {TerminalStyle::kAscii, TerminalStyle::kMask}) {
    const Charset charset(style);
    CHECK(charset.is_ascii());
    const std::string all = charset.label(" 猫") + charset.sentence("a – é\n") +
                            charset.formula("q · k / √d → …") + charset.fitted("abcdef", 4) +
                            charset.dash() + charset.times() + charset.masked() + charset.space() +
                            charset.bar(0.3, 5);
    CHECK(all == "\\s\\u{732B}a - \\u{00E9}q * k / sqrt(d) -> ..ab..-x.\\s##");
  }
}

TEST_CASE("Charset: all other styles write Unicode") {
  for (const TerminalStyle style :
       {TerminalStyle::kBlocks, TerminalStyle::kDots, TerminalStyle::kNumbers}) {
    const Charset charset(style);
    CHECK_FALSE(charset.is_ascii());
    CHECK(charset.label(" 猫") == "␠猫");
    CHECK(charset.sentence(" 猫\n") == "猫");
    CHECK(charset.formula("q · k") == "q · k");
    CHECK(charset.fitted("abcdef", 4) == "abc…");
  }
}

TEST_CASE("Charset: bars have eighths of a column, or characters; any value above 0 is visible") {
  const Charset unicode(TerminalStyle::kBlocks);
  const Charset ascii(TerminalStyle::kAscii);
  CHECK(unicode.bar(1.0, 3) == "███");
  CHECK(unicode.bar(0.5, 3) == "█▌");
  CHECK(unicode.bar(1e-6, 3) == "▏");
  CHECK(unicode.bar(0.0, 3) == "");
  CHECK(unicode.bar(-0.5, 3) == "");
  CHECK(unicode.bar(std::numeric_limits<double>::quiet_NaN(), 3) == "");
  CHECK(unicode.bar(0.5, 0) == "");
  CHECK(ascii.bar(0.5, 4) == "##");
  CHECK(ascii.bar(1e-6, 4) == "|");
  CHECK(ascii.bar(2.0, 4) == "####");
}

}  // namespace attnviz
