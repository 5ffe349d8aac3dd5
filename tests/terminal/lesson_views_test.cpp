// Charts, softmax tables and lessons on a terminal.
#include <doctest/doctest.h>

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include "attnviz/analysis/lessons/lesson_numbers.h"
#include "attnviz/core/utf8.h"
#include "attnviz/report/lessons/lesson.h"
#include "attnviz/report/reports/reports.h"
#include "attnviz/terminal/views.h"
#include "support/sample_chart.h"

namespace attnviz {
namespace {

constexpr TerminalStyle kLessonStyles[] = {TerminalStyle::kAscii, TerminalStyle::kBlocks};
constexpr std::size_t kWidths[] = {1, 20, 24, 33, 80, 200};

bool holds(const std::string& page, const std::string& words) {
  return page.find(words) != std::string::npos;
}

void check_lines(const Page& page, const TerminalOptions& options) {
  for (const Line& line : page.lines) {
    CHECK(line.width() <= std::max<std::size_t>(options.columns, 20));
  }
  if (is_7_bit(options.style)) {
    for (const char sign : to_plain(page)) {
      REQUIRE((sign == '\n' || (sign >= ' ' && sign <= '~')));
    }
  }
}

std::string softmax_text(const std::vector<double>& scores, std::size_t columns = 80) {
  return to_plain(report_page(softmax_report(softmax_steps(scores)), {.columns = columns}));
}

}  // namespace

TEST_CASE("chart page: fits every width, in dots and in characters") {
  for (const TerminalStyle style : kLessonStyles) {
    for (const std::size_t columns : kWidths) {
      CAPTURE(columns);
      const TerminalOptions options{.style = style, .columns = columns};
      check_lines(chart_page(test::sample_chart(), options), options);
    }
  }
}

TEST_CASE(
    "chart page: ascii characters pass through the points, with each line's name at its end") {
  ChartFigure figure = test::sample_chart();
  figure.charts.resize(1);
  const Page page = chart_page(figure, {.columns = 60}, 7);
  const std::string text = to_plain(page);
  CAPTURE(text);
  CHECK(page.lines.size() == 10);
  CHECK(holds(text, "growth (seconds)\n"));
  CHECK(holds(text, "o naive\n"));
  CHECK(holds(text, "# blocks\n"));
  CHECK(holds(text, ". n^2"));
  CHECK(holds(text, " 4096"));
  CHECK(text.find("o naive") < text.find("* blocks"));  // the higher line's end is higher
}

TEST_CASE("chart page: side by side where there is room for all") {
  CHECK(chart_page(test::sample_chart(), {.columns = 80}, 7).lines.size() == 20);
  CHECK(chart_page(test::sample_chart(), {.columns = 160}, 7).lines.size() == 10);
}

TEST_CASE("softmax page: fits every width, for any scores") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::vector<std::vector<double>> rows = {
      {2.1, 8.7, 3.2}, {1000.0, 1001.0, -kInfinity}, {-kInfinity}, {-1e30, 1e300}, {0.0}};
  for (const TerminalStyle style : kLessonStyles) {
    for (const std::size_t columns : kWidths) {
      for (const std::vector<double>& row : rows) {
        const TerminalOptions options{.style = style, .columns = columns};
        check_lines(report_page(softmax_report(softmax_steps(row, 2.0, 3.0)), options), options);
      }
    }
  }
}

TEST_CASE("softmax page: the table of a textbook") {
  const std::string text = softmax_text({2.1, 8.7, 3.2});
  CAPTURE(text);
  CHECK(text.starts_with("softmax of 3 scores\n"));
  CHECK(holds(text, "1      2.1         -6.6            0.0014  0.0014  |\n"));
  CHECK(holds(text, "2      8.7          0.0            1.0000  0.9946  ####################\n"));
  CHECK(holds(text, "sum                                1.0054       1\n"));
  CHECK(!holds(text, "naive"));
}

TEST_CASE("softmax page: infinities of the naive form are next to the weights") {
  const std::string text = softmax_text({1000.0, 1001.0});
  CHECK(holds(text, "0.2689  ###            inf     nan\n"));
  CHECK(holds(text, "Naive: exp(score) / sum of exp(score)"));
}

TEST_CASE("softmax page: a fully masked row is reported") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::string text = softmax_text({-kInfinity, -kInfinity});
  CHECK(holds(text, "Every score is -inf"));
  CHECK(!holds(text, "nan"));
}

TEST_CASE("softmax page: numbers out of a float's range are still written") {
  const std::string text = softmax_text({1e300, -1e300, 0.0});
  CAPTURE(text);
  CHECK(holds(text, "1     1e+300  "));
  CHECK(holds(text, "2    -1e+300  "));
}

TEST_CASE("meaning page: fits every width, with the word's cosines computed by hand") {
  const auto context = [](std::initializer_list<const char*> words,
                          std::initializer_list<float> vectors) {
    WordContext made;
    for (const char* word : words) {
      Token token;
      token.text = word;
      token.begin = made.text.source.size() + (made.text.source.empty() ? 0 : 1);
      made.text.source += (made.text.source.empty() ? "" : " ") + token.text;
      token.end = made.text.source.size();
      made.text.tokens.push_back(token);
    }
    made.tokens = {made.text.size() - 1};
    made.vectors = MatrixBuffer(vectors.size() / 2, 2);
    std::copy(vectors.begin(), vectors.end(), made.vectors.view().data);
    return made;
  };
  MeaningDocument document;
  document.word = "cat";
  document.model.name = "toy";
  document.contexts.push_back(context({"a", "cat"}, {1.0f, 0.0f, 1.0f, 1.0f}));
  document.contexts.push_back(context({"the", "猫", "cat"}, {2.0f, 0.0f, 0.0f, 3.0f}));
  const std::string two = to_plain(report_page(meaning_report(document), {}));
  CAPTURE(two);
  CHECK(two.starts_with("meaning of \"cat\" in 2 texts (toy)\n1: a cat\n"));
  CHECK(holds(two, "embedding  1.000  ####################\n"));
  CHECK(holds(two, "layer 0    0.707  ##############\n"));
  document.contexts.push_back(context({"cat"}, {0.0f, 0.0f, -1.0f, -1.0f}));
  const std::string three = to_plain(report_page(meaning_report(document), {}));
  CAPTURE(three);
  CHECK(holds(three, "layer 0    0.707  -1.000  -0.707\n"));
  CHECK(holds(three, "embedding  1.000       -       -\n"));
  CHECK(!holds(three, "drawn:"));
  document.contexts.push_back(context({"one", "cat"}, {1.0f, 0.0f, 1.0f, 0.0f}));
  document.contexts.push_back(context({"two", "cat"}, {1.0f, 0.0f, 0.0f, 1.0f}));
  CHECK(holds(to_plain(report_page(meaning_report(document), {})), "\ndrawn: 4 of 10 pairs\n"));
  for (const TerminalStyle style : kLessonStyles) {
    for (const std::size_t columns : kWidths) {
      const TerminalOptions options{.style = style, .columns = columns};
      check_lines(report_page(meaning_report(document), options), options);
    }
  }
}

TEST_CASE("lesson page: every lesson without measurements fits every width") {
  for (const LessonKind kind :
       {LessonKind::kHeads, LessonKind::kLinear, LessonKind::kPositions, LessonKind::kMasks}) {
    Lesson lesson = make_lesson(kind, {});
    lesson.next = {{"attnviz lesson x -o x.png", "this figure"}};
    for (const TerminalStyle style : kLessonStyles) {
      for (const std::size_t columns : kWidths) {
        const TerminalOptions options{.style = style, .columns = columns};
        check_lines(report_page(lesson_report(lesson), options), options);
      }
    }
  }
}

TEST_CASE("lesson page: narrow screens show all words of a table") {
  const Lesson lesson = make_lesson(LessonKind::kMasks, {});
  for (const std::size_t columns : {40u, 60u}) {
    const std::string page = to_plain(
        report_page(lesson_report(lesson), {.style = TerminalStyle::kBlocks, .columns = columns}));
    CHECK_FALSE(holds(page, "…"));
    CHECK(holds(page, "Sparse"));
    CHECK(holds(page, "Transformer"));
  }
}

TEST_CASE("list of lessons: each by its name, in every width") {
  for (const TerminalStyle style : kLessonStyles) {
    for (const std::size_t columns : kWidths) {
      const TerminalOptions options{.style = style, .columns = columns};
      const Page page = report_page(lesson_list_report(), options);
      check_lines(page, options);
      for (const auto& choice : kLessonChoices) {
        CHECK(holds(to_plain(page), std::string(choice.word)));
      }
    }
  }
}

}  // namespace attnviz
