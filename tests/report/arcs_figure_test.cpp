#include "attnviz/report/figures.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "attnviz/core/error.h"
#include "support/naive.h"

namespace attnviz {
namespace {

using Labels = std::vector<std::string>;

const std::vector<float> kLooks = {1.0f, 0.0f, 0.0f, 0.5f, 0.5f, 0.0f, 0.5f, 0.125f, 0.375f};

AttentionDocument arcs_document(const std::vector<float>& weights = kLooks,
                                const std::vector<HeadId>& heads = {{2, 1}}) {
  AttentionDocument document;
  document.query_tokens = document.key_tokens = {"The", "cat", "sat"};
  document.run.mask = Mask{};
  for (const HeadId head : heads) {
    document.patterns.push_back({head, test::matrix_over(weights, 3, 3)});
  }
  return document;
}

ArcsFigure arcs_of(const AttentionDocument& document) {
  return arcs_figure(std::span(&document, 1));
}

// "0.125: 2>1".
Labels labels_of(const std::vector<ArcsEdge>& edges) {
  Labels lines;
  for (const ArcsEdge& edge : edges) {
    std::string strength = std::to_string(edge.strength);
    strength.resize(5);
    lines.push_back(strength + ": " + std::to_string(edge.query) + ">" + std::to_string(edge.key));
  }
  return lines;
}

}  // namespace

TEST_CASE("arcs_figure: a line for each weight, the weakest first, none for hidden edges") {
  const ArcsFigure figure = arcs_of(arcs_document());
  REQUIRE(figure.panels.size() == 1);
  REQUIRE(figure.panels[0].groups.size() == 1);
  CHECK(figure.panels[0].title.empty());
  const ArcsGroup& group = figure.panels[0].groups[0];
  CHECK(group.name == "L2H1");
  CHECK(group.color == 0);
  CHECK(labels_of(group.edges) ==
        Labels{"0.125: 2>1", "0.375: 2>2", "0.500: 1>0", "0.500: 1>1", "0.500: 2>0", "1.000: 0>0"});
  CHECK(figure.query_labels == Labels{"The", "cat", "sat"});
  CHECK(figure.title == "attention");
  CHECK(figure.notes.empty());
  CHECK_FALSE(figure.has_weaker);
  CHECK(hidden_arcs_note(figure, figure.least).empty());
  CHECK(hidden_arcs_note(figure, 0.25f) == "lines below 0.25 are left out");
}

TEST_CASE("arcs_figure: lines below a hundredth of the scale are left out and counted") {
  const std::vector<float> looks = {1.0f, 0.0f,    0.0f, 0.0099f, 0.9901f,
                                    0.0f, 0.0101f, 0.0f, 0.9899f};
  AttentionDocument document = arcs_document(looks);
  ArcsFigure figure = arcs_of(document);
  CHECK(labels_of(figure.panels[0].groups[0].edges) ==
        Labels{"0.010: 2>0", "0.989: 2>2", "0.990: 1>1", "1.000: 0>0"});
  CHECK(hidden_arcs_note(figure, figure.least) == "lines below 0.01 are left out");
  // sqrt(0.0099) is 0.0995, and 0.01 is the root of 0.0001.
  document.drawing.scale.kind = ScaleKind::kSqrt;
  figure = arcs_of(document);
  CHECK(figure.panels[0].groups[0].edges.size() == 5);
  CHECK(figure.panels[0].groups[0].edges[0].strength == doctest::Approx(0.0995).epsilon(1e-3));
  CHECK(hidden_arcs_note(figure, figure.least).empty());
  CHECK(hidden_arcs_note(figure, 0.5f) == "lines below 0.25 are left out");
  // The ends of the scale: 0.5 is in the middle from 0.2 to 0.8.
  document = arcs_document();
  document.drawing.scale.low = 0.2f;
  document.drawing.scale.high = 0.8f;
  figure = arcs_of(document);
  CHECK(labels_of(figure.panels[0].groups[0].edges) ==
        Labels{"0.291: 2>2", "0.500: 1>0", "0.500: 1>1", "0.500: 2>0", "1.000: 0>0"});
  CHECK(figure.has_stronger);
  CHECK_FALSE(arcs_of(arcs_document()).has_stronger);
  CHECK(hidden_arcs_note(figure, figure.least) == "lines below 0.206 are left out");
}

TEST_CASE("arcs_figure: shares of the row's largest weight") {
  AttentionDocument document = arcs_document();
  document.drawing.scale.kind = ScaleKind::kRowMax;
  const ArcsFigure figure = arcs_of(document);
  CHECK(labels_of(figure.panels[0].groups[0].edges) ==
        Labels{"0.250: 2>1", "0.750: 2>2", "1.000: 0>0", "1.000: 1>0", "1.000: 1>1", "1.000: 2>0"});
  CHECK(hidden_arcs_note(figure, 0.5f) == "lines below 0.5 of the row's largest are left out");
}

TEST_CASE("arcs_figure: one token's lines alone, from it or to it") {
  AttentionDocument document = arcs_document();
  document.drawing.focus = Focus{1, false};
  ArcsFigure figure = arcs_of(document);
  CHECK(labels_of(figure.panels[0].groups[0].edges) == Labels{"0.500: 1>0", "0.500: 1>1"});
  CHECK(figure.title == "attention of \"cat\" (1)");
  CHECK(figure.focus->token == 1);
  document.drawing.focus = Focus{1, true};
  figure = arcs_of(document);
  CHECK(labels_of(figure.panels[0].groups[0].edges) == Labels{"0.125: 2>1", "0.500: 1>1"});
  CHECK(figure.title == "attention to \"cat\" (1)");
}

TEST_CASE("arcs_figure: without the first token rows begin with the second") {
  AttentionDocument document = arcs_document();
  document.drawing.drop_sink = true;
  ArcsFigure figure = arcs_of(document);
  CHECK(figure.query_labels == Labels{"cat", "sat"});
  CHECK(figure.first_query == 1);
  CHECK(figure.first_key == 1);
  // 0.125 and 0.375 of 0.5.
  CHECK(labels_of(figure.panels[0].groups[0].edges) ==
        Labels{"0.250: 1>0", "0.750: 1>1", "1.000: 0>0"});
  document.drawing.focus = Focus{2, false};
  figure = arcs_of(document);
  CHECK(figure.focus->token == 1);
  CHECK(labels_of(figure.panels[0].groups[0].edges) == Labels{"0.250: 1>0", "0.750: 1>1"});
  document.drawing.focus = Focus{0, false};
  CHECK_THROWS_AS(arcs_of(document), Error);
}

TEST_CASE("arcs_figure: heads are overlaid by name, variants are separate") {
  AttentionDocument document = arcs_document(kLooks, {{0, 0}, {2, 1}});
  document.model = ModelFacts{};
  document.model->named_heads = std::vector<NamedHead>{{2, 1, "induction"}};
  ArcsFigure figure = arcs_of(document);
  REQUIRE(figure.panels.size() == 1);
  CHECK(figure.panels[0].groups.at(0).name == "L0H0");
  CHECK(figure.panels[0].groups.at(1).name == "L2H1 induction");
  CHECK(figure.panels[0].groups[1].color == 1);
  document.drawing.side_by_side = {"causal", "none"};
  std::vector<AttentionDocument> both = {document, document};
  const std::vector<float> other = {0.0f, 0.0f, 1.0f, 0.0f, 0.0f, 1.0f, 0.0f, 0.0f, 1.0f};
  both[1].run.mask = Mask{MaskKind::kNone};
  both[1].patterns[1].weights = test::matrix_over(other, 3, 3);
  figure = arcs_figure(both);
  REQUIRE(figure.panels.size() == 2);
  CHECK(figure.panels[0].title == "causal");
  CHECK(figure.panels[1].title == "none");
  CHECK(figure.panels[0].groups[1].edges.size() == 6);
  CHECK(labels_of(figure.panels[1].groups[1].edges) ==
        Labels{"1.000: 0>2", "1.000: 1>2", "1.000: 2>2"});
}

TEST_CASE("arcs_figure: changes have a group on either side of zero, and each head a panel") {
  const std::vector<float> change = {0.0f, 0.0f, 0.0f, -0.25f, 0.25f, 0.0f, 0.5f, -0.5f, 0.001f};
  AttentionDocument document = arcs_document(change, {{0, 0}, {2, 1}});
  document.difference = DocumentDifference{"one text", "another"};
  document.drawing.scale.low = -0.5f;
  document.drawing.scale.high = 0.5f;
  const ArcsFigure figure = arcs_of(document);
  REQUIRE(figure.panels.size() == 2);
  CHECK(figure.panels[1].title == "L2H1");
  REQUIRE(figure.panels[1].groups.size() == 2);
  CHECK(figure.panels[1].groups[0].name == "less in B");
  CHECK(figure.panels[1].groups[0].color == kBelowZero);
  CHECK(labels_of(figure.panels[1].groups[0].edges) == Labels{"0.500: 1>0", "1.000: 2>1"});
  CHECK(labels_of(figure.panels[1].groups[1].edges) == Labels{"0.500: 1>1", "1.000: 2>0"});
  CHECK(hidden_arcs_note(figure, figure.least) == "lines below 0.005 are left out");
}

TEST_CASE(
    "arcs_figure: more heads than colours are refused, values that are not numbers are reported") {
  std::vector<HeadId> heads;
  for (std::size_t head = 0; head < 12; ++head) {
    heads.push_back({0, head});
  }
  CHECK(arcs_of(arcs_document(kLooks, heads)).panels[0].groups.size() == 12);
  heads.push_back({1, 0});
  CHECK_THROWS_WITH_AS(arcs_of(arcs_document(kLooks, heads)),
                       "arcs: expected at most 12 heads in one picture, found 13", Error);
  std::vector<float> odd = kLooks;
  odd[3] = std::numeric_limits<float>::quiet_NaN();
  const ArcsFigure figure = arcs_of(arcs_document(odd));
  CHECK(figure.panels[0].groups[0].edges.size() == 5);
  CHECK(figure.notes.back() == "numbers that are not finite have no line");
}

TEST_CASE("arcs_figure: with more lines than can be drawn the threshold is higher") {
  // 300 x 300 weights of 0.015, but 300 of 0.5.
  constexpr std::size_t kTokens = 300;
  std::vector<float> weights(kTokens * kTokens, 0.015f);
  for (std::size_t i = 0; i < kTokens; ++i) {
    weights[i * kTokens + i] = 0.5f;
  }
  AttentionDocument document;
  document.query_tokens = document.key_tokens = Labels(kTokens, "a");
  document.patterns.push_back({{0, 0}, test::matrix_over(weights, kTokens, kTokens)});
  const ArcsFigure figure = arcs_of(document);
  CHECK(figure.panels[0].groups[0].edges.size() == kTokens);
  CHECK(hidden_arcs_note(figure, figure.least) == "lines below 0.02 are left out");
}

TEST_CASE("arcs_figure: values of a wide logarithmic scale are numbers") {
  const ColorScale scale{Colormap("viridis"), ScaleKind::kLog, 1e-40f, 1.0f};
  CHECK(value_at(scale, 0.75f) == doctest::Approx(1e-10).epsilon(1e-4));
  CHECK(value_at(scale, 1.0f) == 1.0f);
}

TEST_CASE(
    "arcs_figure: lines that are too long in total are refused, those of one token are drawn") {
  constexpr std::size_t kTokens = 15'000;  // 112 million rows
  const std::vector<float> ones(kTokens, 1.0f);
  AttentionDocument document;
  document.query_tokens = Labels(kTokens, "a");
  document.key_tokens = {"a"};
  document.patterns.push_back({{0, 0}, test::matrix_over(ones, kTokens, 1)});
  CHECK_THROWS_AS(arcs_of(document), Error);
  document.drawing.focus = Focus{7, false};
  CHECK(arcs_of(document).panels[0].groups[0].edges.size() == 1);
}

TEST_CASE("arcs_figure: a learned sink has a row without a query") {
  AttentionDocument document = arcs_document();
  document.patterns[0].sink = {0.25f, 0.0f, 0.5f};
  ArcsFigure figure = arcs_of(document);
  CHECK(figure.key_labels == Labels{"sink", "The", "cat", "sat"});
  CHECK(figure.query_labels == Labels{"", "The", "cat", "sat"});
  CHECK(labels_of(figure.panels[0].groups[0].edges) ==
        Labels{"0.125: 3>2", "0.250: 1>0", "0.375: 3>3", "0.500: 2>1", "0.500: 2>2", "0.500: 3>0",
               "0.500: 3>1", "1.000: 1>1"});
  document.drawing.focus = Focus{2, false};
  figure = arcs_of(document);
  CHECK(figure.focus->token == 3);
  CHECK(labels_of(figure.panels[0].groups[0].edges) ==
        Labels{"0.125: 3>2", "0.375: 3>3", "0.500: 3>0", "0.500: 3>1"});
  document.drawing.focus = Focus{0, true};
  figure = arcs_of(document);
  CHECK(figure.focus->token == 1);
  CHECK(labels_of(figure.panels[0].groups[0].edges) ==
        Labels{"0.500: 2>1", "0.500: 3>1", "1.000: 1>1"});
  document.drawing.focus.reset();
  document.drawing.drop_sink = true;
  CHECK(arcs_of(document).query_labels == Labels{"The", "cat", "sat"});
}

TEST_CASE("arcs_figure: values other than attention keep their own names") {
  AttentionDocument document = arcs_document();
  document.kind = PatternKind::kDecay;
  const ArcsFigure states = arcs_of(document);
  CHECK(states.panels[0].groups[0].name == "L2 state 1");
  CHECK(states.query_axis == "token now");
  CHECK(states.key_axis == "token stored");
  document.kind = PatternKind::kRouter;
  const ArcsFigure experts = arcs_of(document);
  CHECK(experts.panels[0].groups[0].name == "L2 experts");
  CHECK(experts.key_axis == "expert");
}

}  // namespace attnviz
