#include "attnviz/report/reports/reports.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "attnviz/core/utf8.h"
#include "attnviz/report/why_document.h"
#include "attnviz/terminal/views.h"
#include "support/screen_text.h"
#include "support/stopwatch.h"

namespace attnviz {
namespace {

using test::contains;
using Lines = std::vector<std::string>;

CiteDocument document_of(const std::string& text,
                         const std::vector<std::optional<double>>& changes) {
  CiteDocument document;
  document.model.name = "toy";
  document.question = "Where is it?";
  document.answer = "in the attic";
  document.tokens = {{" in", 1, -0.5}, {" attic", 2, -0.25}};
  document.documents = {{.name = "a.md", .text = text}};
  std::size_t i = 0;
  TextPlace position(text);
  for (const Sentence& cut : sentences(text)) {
    CitedSentence sentence;
    static_cast<Sentence&>(sentence) = cut;
    position.move_to(cut.begin);
    sentence.line = position.line();
    sentence.column = position.column();
    sentence.effect = {changes[i++ % changes.size()], 0.125, std::nullopt};
    document.documents[0].sentences.push_back(sentence);
  }
  document.change_without_all = -std::log(40.0);
  return document;
}

Lines drawn(const CiteDocument& document, std::size_t top, const TerminalOptions& options) {
  const Page page = report_page(cite_report(document, top, Colormap()), options);
  Lines lines;
  for (const Line& line : page.lines) {
    CHECK(line.width() <= std::max<std::size_t>(options.columns, 20));
    lines.emplace_back();
    for (const Span& span : line.spans) {
      lines.back() += span.text;
    }
    lines.back().erase(lines.back().find_last_not_of(' ') + 1);
  }
  return lines;
}

}  // namespace

TEST_CASE("cite_report: answer, conclusion, table, and the text with marks") {
  const CiteDocument document =
      document_of("# House\n\nTom has a dog. The key is\nup there. It rained.\n",
                  {0.0, 0.3, -std::log(20.0), -0.25});
  const Lines expected = {
      "cite: toy, 4 sentences of 1 text",
      "",
      "question: Where is it?",
      "answer: in the attic",
      "  given; 2 tokens, ln p = -0.75: the model gives it a probability of 47 %",
      "",
      "The answer rests most on a.md:3:16, \"The key is up there.\": hiding it makes the",
      "answer 20 times less probable. 1 of 4 sentences matters (a sentence matters if",
      "hiding it makes the answer at least 2 times less probable); hiding all 4 makes",
      "it 40 times less probable.",
      "",
      "   change  if hidden  attention  where      sentence",
      "1   -3.00       / 20      12.5%  a.md:3:16  The key is up there.",
      "2   -0.25      / 1.3      12.5%  a.md:4:11  It rained.",
      ".. 2 more sentences",
      "change: of ln p(answer), in nats, when no token of the answer can attend to the",
      "sentence; if hidden: the factor by which that changes the answer's probability;",
      "attention: share of the answer tokens' attention that the sentence gets,",
      "averaged over all layers and heads",
      "Any tokens between a sentence and the answer have already read it, so its",
      "information may still reach the answer through them.",
      "",
      "a.md",
      "# House",
      "",
      "Tom has a dog. [1] The key is up there. It rained."};
  CHECK(drawn(document, 2, {}) == expected);
}

TEST_CASE("cite_report: sentences that matter are shaded, the more the answer loses without them") {
  const CiteDocument document = document_of("One. Two. Three.", {-1.0, -4.0, 0.0});
  const TerminalOptions options{.style = TerminalStyle::kBlocks, .color = ColorDepth::kTrueColor};
  const Page page = report_page(cite_report(document, 0, Colormap()), options);
  std::vector<std::pair<std::string, Rgb>> filled;
  for (const Span& span : page.lines.back().spans) {
    if (span.style.fill) {
      filled.emplace_back(span.text, span.style.fill->rgb);
    }
  }
  REQUIRE(filled.size() == 2);
  CHECK(filled[0] == std::pair<std::string, Rgb>("One.", Colormap()(0.25f)));
  CHECK(filled[1] == std::pair<std::string, Rgb>("Two.", Colormap()(1.0f)));
}

TEST_CASE(
    "cite_report: sentences that cannot be hidden have no change, with a line that says why") {
  const Lines lines = drawn(document_of("One. Two", {-3.0, std::nullopt}), 0, {});
  const auto has = [&](const std::string& begin) {
    return std::ranges::any_of(lines,
                               [&](const std::string& line) { return line.starts_with(begin); });
  };
  CHECK(has("1   -3.00       / 20      12.5%  a.md:1:1  One."));
  CHECK(has("2       -          -      12.5%  a.md:1:6  Two"));
  CHECK(has("-: nothing of it can be hidden"));
  const Lines others = drawn(document_of("One. Two", {-3.0, 0.0}), 0, {});
  CHECK(
      std::ranges::none_of(others, [](const std::string& line) { return line.starts_with("-:"); }));
}

TEST_CASE("cite_report: if sentences were split, the maximal number of words is reported") {
  CiteDocument document = document_of("One two. Three four.", {-3.0, -0.25});
  document.span_words = 3;
  const Lines lines = drawn(document, 1, {});
  CHECK(lines.front() == "cite: toy, 2 spans of at most 3 words of 1 text");
  CHECK(std::ranges::find(lines, ".. 1 more span") != lines.end());
  for (const std::string& line : lines) {
    CHECK_FALSE(contains(line, "sentence"));
  }
}

TEST_CASE("cite_report: a document that was cut off completely is not drawn") {
  CiteDocument document = document_of("One. Two.", {-3.0, -2.0});
  document.documents.insert(document.documents.begin(), {.name = "gone.md", .text = "Gone."});
  const Lines lines = drawn(document, 0, {});
  CHECK(std::ranges::find(lines, "a.md") != lines.end());
  CHECK(std::ranges::find(lines, "gone.md") == lines.end());
}

TEST_CASE("cite_report: a document's long name is shortened, but never the position in it") {
  CiteDocument document = document_of("One. Two.", {-3.0, -2.0});
  document.documents[0].name = "a-document-with-a-long-name.md";
  const Lines lines = drawn(document, 0, {});
  CHECK(std::ranges::any_of(lines, [](const std::string& line) {
    return contains(line, "a-document-with..:1:6  Two.");
  }));
}

TEST_CASE("cite_report: characters that fit no line are broken anywhere, and measured once") {
  std::string word;
  for (std::size_t i = 0; i < 500'000; ++i) {
    word += "é";
  }
  const CiteDocument document =
      document_of("One. " + word + ". 一。二三四五六七八九十一二。", {-3.0});
  const test::Stopwatch watch;
  const Lines lines = drawn(document, 1, {.columns = 20});
  CHECK(watch.is_in_time());
  CHECK(lines.size() > 500'000 / 20);
}

TEST_CASE("cite_report: when no sentence matters it says so and draws no text") {
  CiteDocument document = document_of("One. Two.", {-0.1, 0.2});
  document.change_without_all = 0.0;
  const Lines lines = drawn(document, 10, {});
  CHECK(std::ranges::any_of(
      lines, [](const std::string& line) { return line.starts_with("No sentence matters"); }));
  CHECK(std::ranges::find(lines, "a.md") == lines.end());
}

TEST_CASE("cite_report: with many sentences only the paragraphs of those that matter") {
  std::string text;
  std::vector<std::optional<double>> changes(60, 0.0);
  for (std::size_t i = 0; i < 60; ++i) {
    text += "A line.\n\n";
  }
  changes[30] = -3.0;
  const Lines lines = drawn(document_of(text, changes), 3, {});
  const auto begin = std::ranges::find(lines, "a.md");
  CHECK(Lines(begin, lines.end()) ==
        Lines{"a.md", ".. 30 sentences", "", "[1] A line.", ".. 29 sentences"});
}

TEST_CASE("cite_report: any text in any width; scripts without spaces break anywhere") {
  const std::string text = "猫は屋根裏にいて、鍵は箱の中にある。犬は庭にいる。" +
                           std::string(100, 'x') + ". 👩‍👩‍👧 \x1b[31mred\xff. e\u0301";
  for (const TerminalStyle style : {TerminalStyle::kAscii, TerminalStyle::kBlocks}) {
    for (const std::size_t columns : std::vector<std::size_t>{1, 20, 33, 80, 200}) {
      CAPTURE(columns);
      const CiteDocument document = document_of(text, {-1.0, -2.0});
      std::string all;
      for (const std::string& line :
           drawn(document, 0, {.style = style, .color = ColorDepth::k256, .columns = columns})) {
        all += line;
        CHECK(is_utf8(line));
        CHECK((style == TerminalStyle::kBlocks || is_ascii(line)));
      }
      CHECK_FALSE(contains(all, "\x1b"));
      if (style == TerminalStyle::kBlocks) {
        CHECK(contains(all, "鍵は箱の中にある。[1]"));
      }
    }
  }
}

}  // namespace attnviz
