#include "attnviz/report/reports/reports.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "attnviz/core/utf8.h"
#include "attnviz/terminal/views.h"
#include "support/sample_why.h"

namespace attnviz {
namespace {

bool has(const std::string& page, const std::string& line) {
  return page.find(line) != std::string::npos;
}

// The page's sentences in one line.
std::string in_one_line(std::string page) {
  std::ranges::replace(page, '\n', ' ');
  return page;
}

std::string why_text(const WhyDocument& document, std::size_t top = 0,
                     const TerminalOptions& options = {}) {
  return to_plain(report_page(why_report(document, top), options));
}

}  // namespace

TEST_CASE("why page: every part with its numbers, and their sum") {
  const std::string page = why_text(test::sample_why());
  CAPTURE(page);
  CHECK(has(page, "why: toy, \"on\" after \"sat\" (2)\n"));
  CHECK(has(page, "toward  \\son"));
  CHECK(has(page, "60.7%"));  // e^-0.5
  CHECK(has(page, "ln p -0.5"));
  CHECK(has(page, "1  cat     -2.00  ############      30.0%  ####\n"));
  CHECK(has(page, "0  <s>     +0.25  ##"));
  CHECK(has(page, "2  \\ssat       -"));
  CHECK(has(page, "head 0.1        +4.00  ############"));
  CHECK(has(page, "sum: the logit  +3.00"));
  CHECK(has(page, "head 0.1   -3.00  ############     1.50     0.75"));
  CHECK(has(in_one_line(page), "when the output of one head or MLP is replaced by 0"));
  CHECK(has(page, "induction\n"));
  CHECK(has(page, "layer        rank of 2,048"));
  CHECK(has(page, "before 0                 2  25.0%"));
  CHECK(has(page, "output                   1  60.7%"));
  CHECK(has(page, "rank 1 of 2,048: the most probable"));
  CHECK_FALSE(has(page, "\x1B"));  // of the token with this name
}

TEST_CASE("why page: the first rows of long tables, and the sum of the others") {
  const std::string page = why_text(test::sample_why(), 1);
  CAPTURE(page);
  CHECK(has(page, "3 others        -1.00"));  // 3 - 4
  CHECK(has(page, "sum: the logit  +3.00"));
  CHECK(has(page, ".. 2 more, each at most +-0.25"));
  CHECK(has(page, ".. 2 more words\n"));  // words
}

TEST_CASE(
    "why page: its sentences about hidden words are true for masks that let tokens look ahead") {
  WhyDocument document = test::sample_why();
  const TerminalOptions wide{.columns = 400};
  document.run.mask = Mask{};
  CHECK(has(in_one_line(why_text(document, 0, wide)), "later tokens cannot attend to the word "));
  document.run.mask = Mask{MaskKind::kNone, 0};
  CHECK(has(in_one_line(why_text(document, 0, wide)),
            "later tokens cannot attend to the word; earlier ones still can "));
}

TEST_CASE(
    "why page: says why the last word has no number, for one token or several, at that word") {
  WhyDocument document = test::sample_why();
  const TerminalOptions wide{.columns = 400};
  CHECK(has(in_one_line(why_text(document, 0, wide)),
            "-: the word ends at the last token, so it cannot be hidden from any later one "));
  document.words->back().span = {2, 5};
  CHECK(has(in_one_line(why_text(document, 0, wide)),
            "any later one, and its own 3 tokens always see each other "));
  CHECK_FALSE(has(why_text(document, 1, wide), "ends at the last token"));
}

TEST_CASE("why page: narrow screens cut neither the names of parts nor logarithms") {
  WhyDocument document = test::sample_why();
  const std::string page = why_text(document, 0, {.columns = 40});
  CAPTURE(page);
  CHECK(has(page, "sum: the logit  +3.00"));
  CHECK(has(page, "ln p -0.5\n"));
  CHECK_FALSE(has(page, ".. "));
}

TEST_CASE("why page: fits narrow screens, in ascii or with colours") {
  WhyDocument document = test::sample_why();
  for (std::size_t i = 0; i < 300; ++i) {
    document.words->push_back({{3 + i, 4 + i}, "猫", -0.01, 0.0});
  }
  for (const std::size_t columns : {20U, 40U, 80U, 200U}) {
    for (const TerminalStyle style : {TerminalStyle::kAscii, TerminalStyle::kBlocks}) {
      CAPTURE(columns);
      const TerminalOptions options{style, ColorDepth::kTrueColor, columns};
      const Page page = report_page(why_report(document, 8), options);
      for (const Line& line : page.lines) {
        CHECK(line.width() <= columns);
      }
    }
  }
}

TEST_CASE("why page: a score is split over the parts of query and key") {
  WhyDocument document;
  document.model.name = "toy";
  document.text = test::sample_why().text;
  using Kind = LogitPartKind;
  ScoreSplit split;
  split.query_parts = {{Kind::kEmbedding, 0, 0}, {Kind::kHead, 0, 0}};
  split.key_parts = {{Kind::kEmbedding, 0, 0}, {Kind::kHead, 0, 1}};
  split.products = {0.5, 2.0, -0.25, 0.75};
  split.position_bias = -1.0;
  split.score = 2.0;
  split.weight = 0.625;
  document.split = WhyDocument::Split{{1, 0}, 2, 1, split};
  const std::string page = why_text(document);
  CAPTURE(page);
  CHECK(has(page, "why: toy, head 1.0: \"sat\" (2) attends to \"cat\" (1)\n"));
  CHECK(has(page, "weight 62.5 %; score 2.00"));
  CHECK(has(page, "head 0.1   +2.75  ############"));  // 2 + 0.75
  CHECK(has(page, "embedding  +2.50"));                // of the query: 0.5 + 2
  CHECK(has(page, "distance"));
  CHECK(has(page, "sum: the score"));
  const std::string short_page = why_text(document, 1);
  CAPTURE(short_page);
  CHECK(has(short_page, "3 other pairs"));
  CHECK(has(short_page, "+1.00"));  // 0.5 - 0.25 + 0.75
}

}  // namespace attnviz
