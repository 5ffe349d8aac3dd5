#include "attnviz/terminal/inspection_text.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <initializer_list>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "attnviz/core/utf8.h"
#include "support/sample_inspection.h"
#include "support/screen_text.h"

namespace attnviz {
namespace {

using test::SampleInspection;
using Step = InspectionStep;

// A page with every feature that makes lines long.
SampleInspection busy(std::size_t n_tokens = 9, Positions positions = Positions::kAlibi) {
  std::vector<std::string> tokens = test::numbered_tokens(n_tokens);
  tokens[0] = "internationalisation";
  tokens[1] = "猫";
  tokens[2] = "👍🏽";
  tokens[3] = "a\x1b[31mb\xff";
  AttentionRequest request;
  request.dropout = 0.2f;
  request.temperature = 0.7f;
  request.mask = parse_mask("strided:3");
  SampleInspection sample(test::random_head(n_tokens, positions), tokens, n_tokens - 2, request);
  sample.page.explain = true;
  sample.page.notes = {"RANDOM WEIGHTS: the numbers mean nothing"};
  return sample;
}

// The words of a text that are numbers with decimals.
std::set<std::string> decimals_of(const std::string& text) {
  std::istringstream in(text);
  std::set<std::string> numbers;
  for (std::string word; in >> word;) {
    const std::size_t point = word.find('.');
    if (word.find_first_not_of("-.0123456789") == std::string::npos && point != std::string::npos &&
        word.size() > point + 4) {
      numbers.insert(word);
    }
  }
  return numbers;
}

TerminalOptions plain(std::size_t columns, TerminalStyle style = TerminalStyle::kBlocks) {
  return {style, ColorDepth::kNone, columns};
}

}  // namespace

TEST_CASE("inspection screen: no line is wider than the terminal, at any width, in any style") {
  for (const bool full : {false, true}) {
    SampleInspection sample = busy();
    sample.page.full = full;
    for (const TerminalStyle style : {TerminalStyle::kAscii, TerminalStyle::kBlocks}) {
      for (std::size_t columns = 20; columns <= 200; columns += columns < 90 ? 1 : 11) {
        for (const std::string& line :
             test::screen_lines(render_inspection(sample.page, plain(columns, style)))) {
          CAPTURE(columns);
          CAPTURE(line);
          REQUIRE(display_width(line) <= columns);
        }
      }
    }
  }
}

TEST_CASE("inspection screen: numbers at a narrow width equal those at a wide one") {
  SampleInspection sample = busy();
  sample.page.explain = false;
  const std::set<std::string> wide = decimals_of(render_inspection(sample.page, plain(400)));
  CHECK(wide.size() > 60);
  for (const std::size_t columns : {24u, 40u, 60u, 80u, 120u}) {
    for (const std::string& number : decimals_of(render_inspection(sample.page, plain(columns)))) {
      CAPTURE(columns);
      CAPTURE(number);
      CHECK(wide.contains(number));
    }
  }
}

TEST_CASE("inspection screen: ascii is 7-bit, and without colour there is no escape code") {
  SampleInspection sample = busy();
  sample.page.full = true;
  for (const char c : render_inspection(sample.page, plain(80, TerminalStyle::kAscii))) {
    const bool is_plain = c == '\n' || (c >= ' ' && c <= '~');
    REQUIRE(is_plain);
  }
  const std::string blocks = render_inspection(sample.page, plain(80));
  CHECK(blocks.find('\x1b') == std::string::npos);
  CHECK(blocks.find("√6") != std::string::npos);
}

TEST_CASE(
    "inspection screen: query, key and value keep their hues, and colour changes nothing else") {
  const SampleInspection sample = busy();
  const std::string without = render_inspection(sample.page, plain(80));
  for (const ColorDepth depth : {ColorDepth::k16, ColorDepth::k256, ColorDepth::kTrueColor}) {
    const std::string colored = render_inspection(sample.page, {TerminalStyle::kBlocks, depth, 80});
    // A coloured run keeps the spaces at its end.
    std::string trimmed;
    for (std::string line : test::screen_lines(test::without_escapes(colored))) {
      line.erase(line.find_last_not_of(' ') + 1);
      trimmed += line + '\n';
    }
    CHECK(trimmed == without);
  }
  const std::string colored =
      render_inspection(sample.page, {TerminalStyle::kBlocks, ColorDepth::k256, 80});
  CHECK(colored.find("\x1b[38;5;32mq t7") != std::string::npos);
  CHECK(colored.find("\x1b[38;5;166mk 8 t8") != std::string::npos);
  CHECK(colored.find("\x1b[38;5;29mcontext") != std::string::npos);
}

TEST_CASE("inspection screen: requested steps are shown, with their numbers") {
  SampleInspection sample(test::model_by_hand(), {"The", "cat", "sat"}, 2);
  sample.page.steps = {Step::kScale, Step::kContext};
  CHECK(render_inspection(sample.page, plain(60)) ==
        "inspect: test\n"
        "\n"
        "L0H0  query 2 \"sat\"  3 tokens  d_model 3  d_head 4\n"
        "d_value 2  q query  k key  v value\n"
        "\n"
        "5  scaled = q · k ÷ √d_head, √4 = 2.0000                 [3]\n"
        "   key      q · k  ÷ √d\n"
        "   k 0 The      2     1\n"
        "   k 1 cat      4     2\n"
        "   k 2 sat      2     1\n"
        "\n"
        "9  context = sum of all weight · v        [3] · [3, 2] → [2]\n"
        "   context  1.0597  1.1522\n");
}

TEST_CASE("inspection screen: masked keys are -inf before the softmax and 0 after it") {
  SampleInspection sample(test::model_by_hand(), {"The", "cat", "sat"}, 0);
  sample.page.steps = {Step::kSoftmax};
  CHECK(render_inspection(sample.page, plain(70, TerminalStyle::kAscii)) ==
        "inspect: test\n"
        "\n"
        "L0H0  query 0 \"The\"  3 tokens  d_model 3  d_head 4  d_value 2\n"
        "q query  k key  v value\n"
        "\n"
        "7  weight = exp(s - max) / sum                                     [3]\n"
        "   key      masked  exp(s - max)  weight  0                          1\n"
        "   k 0 The       0             1       1  ############################\n"
        "   k 1 cat    -inf             0       0\n"
        "   k 2 sat    -inf             0       0\n"
        "   sum                         1       1\n");
}

TEST_CASE("inspection screen: bars of weights that are all 0 have an axis that ends in 1") {
  AttentionRequest request;
  request.dropout = 0.99f;
  SampleInspection sample(test::model_by_hand(), {"The", "cat", "sat"}, 0, request);
  REQUIRE(sample.head().weights == std::vector<float>(3, 0.0f));
  sample.page.steps = {Step::kSoftmax};
  const std::string screen = render_inspection(sample.page, plain(100, TerminalStyle::kAscii));
  CHECK(screen.find("  weight  0                            1\n") != std::string::npos);
}

TEST_CASE("inspection screen: with many keys those left out are counted, with their weight") {
  AttentionRequest request;
  SampleInspection sample(test::random_head(60), test::numbered_tokens(60), 49, request);
  sample.page.steps = {Step::kSoftmax};
  const std::string screen = render_inspection(sample.page, plain(80, TerminalStyle::kAscii));
  CHECK(screen.find("   26 others") != std::string::npos);
  CHECK(screen.find(".. 26 keys with the smallest weights are left out\n") != std::string::npos);
  CHECK(screen.find(".. 10 later keys are masked\n") != std::string::npos);
  CHECK(test::screen_lines(screen).size() < 40);
  sample.page.full = true;
  const std::string full = render_inspection(sample.page, plain(80, TerminalStyle::kAscii));
  CHECK(full.find("others") == std::string::npos);
  CHECK(full.find("   k 59 t59") != std::string::npos);
  CHECK(full.find("weights [60, 60]") != std::string::npos);
}

TEST_CASE("inspection screen: a wrapped heading continues below its formula") {
  const test::SampleInspection sample(test::whole_layer(3), {"a", "b", "c"}, 2);
  const std::vector<std::string> lines =
      test::screen_lines(render_inspection(sample.page, plain(30)));
  std::size_t n_broken = 0;
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
    if (!lines[i].empty() && lines[i][0] >= '1' && lines[i][0] <= '9') {
      CAPTURE(lines[i]);
      CHECK(lines[i][2] == ' ');
      n_broken += lines[i + 1].starts_with("   ") ? 1u : 0u;
    }
  }
  CHECK(n_broken > 0);
}

}  // namespace attnviz
