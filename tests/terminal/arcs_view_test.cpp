#include "attnviz/terminal/views.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "attnviz/core/utf8.h"
#include "support/screen_text.h"
#include "support/stopwatch.h"

namespace attnviz {
namespace {

ArcsFigure two_tokens() {
  ArcsFigure figure;
  figure.query_labels = figure.key_labels = {"The", "cat"};
  figure.title = "attention: demo";
  figure.value_name = "attention weight";
  figure.notes = {"mask causal"};
  figure.least = kLeastStrength;
  figure.panels = {
      {"", {{"L0H1", 0, {{1, 0, 0.05f, 0.05f}, {0, 0, 1.0f, 1.0f}, {1, 1, 1.0f, 1.0f}}}}}};
  return figure;
}

std::string repeated_sign(const std::string& sign, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text += sign;
  }
  return text;
}

std::string drawn_arcs(const ArcsFigure& figure, TerminalStyle style, ColorDepth color,
                       std::size_t columns = 80) {
  return to_ansi(arcs_page(figure, {style, color, columns}), color);
}

}  // namespace

TEST_CASE("arcs_page: queries, lines of dots, keys; weak lines are left out and counted") {
  const std::string line = repeated_sign("⠶", 24);
  CHECK(drawn_arcs(two_tokens(), TerminalStyle::kArcs, ColorDepth::kNone) ==
        "attention: demo\n\n"
        "L0H1\n"
        "query                          key\n"
        "0 The " +
            line +
            " 0 The\n"
            "\n"
            "1 cat " +
            line +
            " 1 cat\n\nattention weight:   ⠶⠶⠶ from 0.5   ⠤⠤⠤ from 0.25   ⠄⠠ ⠄⠠ from 0.1\nmask "
            "causal\nlines below 0.1 are left out\n");
}

TEST_CASE("arcs_page: a weaker line is thinner, then dotted") {
  ArcsFigure figure = two_tokens();
  figure.panels[0].groups[0].edges = {{0, 0, 0.2f, 0.2f}, {1, 1, 0.3f, 0.3f}};
  const std::string drawn = drawn_arcs(figure, TerminalStyle::kArcs, ColorDepth::kNone);
  CHECK(drawn.find("0 The " + repeated_sign("⠂⠐ ", 8) + " 0 The\n") != std::string::npos);
  CHECK(drawn.find("1 cat " + repeated_sign("⠒", 24) + " 1 cat\n") != std::string::npos);
}

TEST_CASE("arcs_page: groups have colours, or one panel each without colours") {
  ArcsFigure figure = two_tokens();
  figure.panels[0].groups.push_back({"L0H2 sink", 1, {{1, 0, 1.0f, 1.0f}}});
  const std::string colored = drawn_arcs(figure, TerminalStyle::kArcs, ColorDepth::k256);
  CHECK(colored.find("38;5;69m") != std::string::npos);
  CHECK(colored.find("38;5;172m") != std::string::npos);
  CHECK(test::without_escapes(colored).find("━━ L0H1   ━━ L0H2 sink\n") != std::string::npos);
  const std::string in_16 = drawn_arcs(figure, TerminalStyle::kArcs, ColorDepth::k16);
  CHECK(in_16.find("\x1b[94m") != std::string::npos);
  CHECK(in_16.find("\x1b[33m") != std::string::npos);
  const std::string plain = drawn_arcs(figure, TerminalStyle::kArcs, ColorDepth::kNone);
  // 36 columns and 4 between panels.
  CHECK(plain.find("L0H1                                    L0H2 sink\n") != std::string::npos);
}

TEST_CASE("arcs_page: groups whose lines would hide each other are separate, in their colours") {
  // 2 rows, each followed by a blank one, have 16 rows of dots: 8 lines fit, 10 do not.
  for (const std::size_t n_groups : {4UL, 5UL}) {
    CAPTURE(n_groups);
    ArcsFigure figure = two_tokens();
    const std::vector<ArcsEdge> edges = {{0, 0, 1.0f, 1.0f}, {1, 1, 1.0f, 1.0f}};
    figure.panels[0].groups.clear();
    for (std::size_t i = 0; i < n_groups; ++i) {
      figure.panels[0].groups.push_back({"L0H" + std::to_string(i), i, edges});
    }
    const std::string drawn = drawn_arcs(figure, TerminalStyle::kArcs, ColorDepth::k256);
    CHECK((drawn.find("━━") != std::string::npos) == (n_groups == 4));
    CHECK(drawn.find("38;5;197m") != std::string::npos);
    CHECK((test::without_escapes(drawn).find("query                          key      query") !=
           std::string::npos) == (n_groups == 5));
  }
}

TEST_CASE("arcs_page: in ascii the strongest lines of each group are a list") {
  ArcsFigure figure = two_tokens();
  figure.panels[0].groups[0].edges = {{1, 0, 0.12f, 0.12f}, {1, 1, 0.4f, 0.4f}, {0, 0, 1.0f, 1.0f}};
  CHECK(drawn_arcs(figure, TerminalStyle::kArcsAscii, ColorDepth::kNone) ==
        "attention: demo\n\n"
        "L0H1\n"
        "0 The ==1.000==> 0 The\n"
        "1 cat --0.400--> 1 cat\n"
        "1 cat ..0.120..> 0 The\n"
        "\n"
        "lines: attention weight; == from 0.5, -- from 0.25, .. below\n"
        "mask causal\n");
}

TEST_CASE("arcs_page: the list has the strongest of many lines, in the order of the text") {
  ArcsFigure figure = two_tokens();
  figure.query_labels = figure.key_labels = std::vector<std::string>(60, "a");
  figure.panels[0].groups[0].edges.clear();
  for (std::size_t i = 0; i < 60; ++i) {
    const float weight = 0.2f + 0.01f * static_cast<float>(i);
    figure.panels[0].groups[0].edges.push_back({59 - i, 0, weight, weight});
  }
  const std::string drawn = drawn_arcs(figure, TerminalStyle::kArcsAscii, ColorDepth::kNone);
  CHECK(drawn.find("L0H1\n 0 a ==0.790==>  0 a\n 1 a ==0.780==>") != std::string::npos);
  CHECK(drawn.find("39 a --0.400--> ") != std::string::npos);
  CHECK(drawn.find("40 a") == std::string::npos);
  CHECK(drawn.find("the strongest 40 of 60 lines\n") != std::string::npos);
}

TEST_CASE("arcs_page: no line is wider than the terminal, for any labels") {
  for (const std::size_t columns : {20UL, 40UL, 80UL, 200UL}) {
    for (const std::size_t n_tokens : {1UL, 3UL, 40UL, 300UL}) {
      for (const std::size_t n_groups : {1UL, 12UL}) {
        for (const TerminalStyle style : {TerminalStyle::kArcs, TerminalStyle::kArcsAscii}) {
          for (const ColorDepth color : {ColorDepth::kNone, ColorDepth::kTrueColor}) {
            CAPTURE(columns);
            CAPTURE(n_tokens);
            CAPTURE(n_groups);
            ArcsFigure figure = two_tokens();
            for (auto* labels : {&figure.query_labels, &figure.key_labels}) {
              labels->assign(n_tokens, "antidisestablishmentarianism");
              labels->front() = "猫猫猫猫猫猫猫猫猫猫猫猫猫猫猫猫猫猫猫猫猫猫猫猫猫";
            }
            ArcsGroup group = {"L0H1 previous-token, induction", 0, {}};
            for (std::size_t i = 0; i < n_tokens; ++i) {
              group.edges.push_back({i, 0, 0.6f, 0.6f});
            }
            figure.panels = {{"causal", std::vector<ArcsGroup>(n_groups, group)}};
            const Page page = arcs_page(figure, {style, color, columns});
            for (const Line& line : page.lines) {
              CHECK(line.width() <= columns);
            }
            CHECK((style != TerminalStyle::kArcsAscii || is_ascii(to_plain(page))));
          }
        }
      }
    }
  }
}

TEST_CASE("arcs_page: a long label is shortened once, not for each of many heads") {
  ArcsFigure figure = two_tokens();
  figure.query_labels[1] = figure.key_labels[1] = std::string(1'000'000, 'a') + "é";
  figure.panels[0].groups.resize(2'000, figure.panels[0].groups[0]);
  for (const TerminalStyle style : {TerminalStyle::kArcs, TerminalStyle::kArcsAscii}) {
    const test::Stopwatch watch;
    CHECK(arcs_page(figure, {style, ColorDepth::kNone}).lines.size() > 1'000);
    CHECK(watch.is_in_time());
  }
}

}  // namespace attnviz
