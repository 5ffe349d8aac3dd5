#include "attnviz/report/attention_heatmap.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/report/json/document_json.h"
#include "support/naive.h"

namespace attnviz {
namespace {

using Strings = std::vector<std::string>;

const std::vector<float> kCausal = {1.0f, 0.0f, 0.0f, 0.5f, 0.5f, 0.0f, 0.5f, 0.125f, 0.375f};

AttentionDocument causal_document(const std::vector<HeadId>& heads = {{0, 1}}) {
  AttentionDocument document;
  document.query_tokens = document.key_tokens = {"The", "cat", "sat"};
  document.run.mask = Mask{};
  for (const HeadId head : heads) {
    document.patterns.push_back({head, test::matrix_over(kCausal, 3, 3)});
  }
  return document;
}

// [CLS] the cat [SEP], where the tokenizer added the first and the last.
const std::vector<float> kAllSee = {0.25f, 0.25f, 0.25f, 0.25f, 0.5f,   0.25f,  0.125f, 0.125f,
                                    0.75f, 0.0f,  0.25f, 0.0f,  0.125f, 0.125f, 0.25f,  0.5f};

AttentionDocument marked_document() {
  AttentionDocument document;
  document.query_tokens = document.key_tokens = {"[CLS]", "the", "cat", "[SEP]"};
  document.marks.special = document.marks.added = {0, 3};
  document.patterns.push_back({{0, 0}, test::matrix_over(kAllSee, 4, 4)});
  document.drawing.no_special = true;
  return document;
}

}  // namespace

TEST_CASE("attention_heatmap: labels, panels, mask and title") {
  AttentionDocument document = causal_document({{0, 1}, {1, 0}});
  document.model = ModelFacts{};
  document.model->name = "w.json";
  document.run.temperature = 0.5f;
  const Heatmap heatmap = attention_heatmap(document);
  CHECK(heatmap.query_labels == Strings{"The", "cat", "sat"});
  CHECK(heatmap.panels.at(0).title == "L0H1");
  CHECK(heatmap.panels.at(1).title == "L1H0");
  CHECK(heatmap.panels[0].is_visible(1, 0));
  CHECK_FALSE(heatmap.panels[0].is_visible(1, 2));
  CHECK(heatmap.title == "attention: w.json");
  CHECK(heatmap.notes == Strings{"temperature 0.5"});
  document.drawing.title = "Figure 1";
  CHECK(attention_heatmap(document).title == "Figure 1");
}

TEST_CASE("attention_heatmap: complete layers are grouped, single heads are not") {
  CHECK(attention_heatmap(causal_document({{0, 0}, {0, 1}, {2, 0}, {2, 1}})).panels_together == 2);
  CHECK(attention_heatmap(causal_document({{0, 0}, {0, 1}})).panels_together == 1);
  CHECK(attention_heatmap(causal_document({{0, 0}, {0, 1}, {2, 0}})).panels_together == 1);
}

TEST_CASE("attention_heatmap: keys outside of a layer's window are hidden only in its panels") {
  AttentionDocument document = causal_document({{0, 0}, {1, 0}, {2, 0}});
  document.run.layers = {{.layer = 0, .window = 2}, {.layer = 2, .soft_cap = 30.0f}};
  const Heatmap heatmap = attention_heatmap(document);
  CHECK_FALSE(heatmap.panels.at(0).is_visible(2, 0));
  CHECK(heatmap.panels[0].is_visible(2, 1));
  CHECK_FALSE(heatmap.panels[0].is_visible(1, 2));
  CHECK(heatmap.panels.at(1).is_visible(2, 0));
  CHECK(heatmap.panels.at(2).is_visible(2, 0));
  CHECK(heatmap.panels[0].mask == "window:2");
  CHECK(heatmap.panels[1].mask == "causal");
  document.average.emplace().over = AverageOver::kLayers;
  document.average->heads = {{0, 0}, {1, 0}, {2, 0}};
  CHECK(attention_heatmap(document).panels.at(0).is_visible(2, 0));
}

TEST_CASE("attention_heatmap: hidden edges are masked in the heads that do not see them") {
  AttentionDocument document = causal_document({{0, 0}, {0, 1}, {1, 0}});
  document.run.interventions.knock_outs = {{{2, 3}, {1, 2}, {0, 1}, {}},
                                           {{1, 3}, {0, 1}, {}, {1, 2}}};
  const auto sees = [&document](std::size_t panel, std::size_t query, std::size_t key) {
    return attention_heatmap(document).panels.at(panel).is_visible(query, key);
  };
  CHECK_FALSE(sees(0, 2, 1));
  CHECK(sees(0, 1, 0));
  CHECK_FALSE(sees(1, 2, 1));
  CHECK_FALSE(sees(1, 1, 0));
  CHECK(sees(2, 2, 1));
  CHECK_FALSE(sees(2, 0, 1));  // causal still
  const std::vector<MaskedHeads> groups = heads_by_mask(document, {{0, 0}, {0, 1}, {0, 2}, {1, 0}});
  REQUIRE(groups.size() == 3);
  CHECK(groups[0].heads == std::vector<HeadId>{{0, 0}, {0, 2}});
  CHECK_FALSE(document.visibility_of(std::vector<HeadId>{{0, 0}, {0, 1}}).visible(2, 1));
  CHECK(document.visibility_of(std::vector<HeadId>{{0, 1}, {0, 0}}).visible(1, 0));
  // A mean shows what any of its heads sees, a rollout what is reached through other layers.
  document.patterns.resize(1);
  document.average.emplace().over = AverageOver::kHeads;
  document.average->heads = {{0, 0}, {0, 1}};
  CHECK_FALSE(sees(0, 2, 1));
  CHECK(sees(0, 1, 0));
  document.average->over = AverageOver::kAll;
  document.average->heads.push_back({1, 0});
  CHECK(sees(0, 2, 1));
  document.run.interventions.knock_outs = {{{2, 3}, {1, 2}, {}, {}}};
  CHECK_FALSE(sees(0, 2, 1));
  document.average->rollout = RolloutRequest{};
  CHECK(sees(0, 2, 1));
}

TEST_CASE(
    "attention_heatmap: panels that see other keys have other names, even if these are long") {
  AttentionDocument document = causal_document({{0, 0}, {0, 1}, {1, 0}});
  std::vector<KnockOut>& edges = document.run.interventions.knock_outs;
  for (std::size_t i = 0; i < 20; ++i) {  // more than are listed, which hide nothing here
    edges.push_back({{3 + 2 * i, 4 + 2 * i}, {i, i + 1}, {}, {}});
  }
  edges.push_back({{2, 3}, {1, 2}, {}, {0, 1}});
  edges.push_back({{2, 3}, {0, 1}, {}, {1, 2}});
  const Heatmap heatmap = attention_heatmap(document);
  CHECK(heatmap.panels.at(0).mask != heatmap.panels.at(1).mask);
  CHECK(heatmap.panels.at(0).mask == heatmap.panels.at(2).mask);
}

TEST_CASE(
    "attention_heatmap: an edge between words is masked if it is hidden for all their tokens") {
  AttentionDocument document = causal_document();
  document.words.emplace();
  document.words->sources = {{0, 3, {1}}, {3, 7, {2, 3}}, {7, 11, {4, 5}}};
  document.run.interventions.knock_outs = {{{3, 5}, {0, 2}, {}, {}}};
  const HeatmapPanel panel = attention_heatmap(document).panels.at(0);
  CHECK_FALSE(panel.is_visible(2, 0));
  CHECK(panel.is_visible(2, 1));  // of its two tokens one is seen
  CHECK(panel.is_visible(1, 0));
  document.run.interventions.knock_outs = {
      {{3, 4}, {1, 2}, {}, {}}, {{4, 5}, {1, 3}, {}, {}}, {{3, 4}, {2, 3}, {}, {}}};
  const HeatmapPanel together = attention_heatmap(document).panels.at(0);
  CHECK_FALSE(together.is_visible(2, 1));  // no edge covers all tokens of both
  CHECK(together.is_visible(2, 0));
  document.run.interventions.knock_outs.pop_back();
  CHECK(attention_heatmap(document).panels.at(0).is_visible(2, 1));
  document.run.interventions.knock_outs = {{{3, 5}, {0, 2}, {}, {}}};
  document.words->sources.clear();  // the words' tokens are not known
  CHECK(attention_heatmap(document).panels.at(0).is_visible(2, 0));
}

TEST_CASE(
    "attention_heatmap: without the sink the first key is left out, and a query that saw only it") {
  AttentionDocument document = causal_document();
  document.drawing.drop_sink = true;
  const Heatmap causal = attention_heatmap(document);
  CHECK(causal.query_labels == Strings{"cat", "sat"});
  CHECK(causal.key_labels == Strings{"cat", "sat"});
  CHECK(causal.first_query == 1);  // cat is still token 1
  CHECK(causal.first_key == 1);
  CHECK(causal.panels[0].values(0, 0) == 1.0f);
  CHECK(causal.panels[0].values(1, 0) == 0.25f);
  CHECK(causal.panels[0].values(1, 1) == 0.75f);
  CHECK(causal.panels[0].is_visible(0, 0));
  CHECK_FALSE(causal.panels[0].is_visible(0, 1));
  CHECK(causal.notes.back().find("(The)") != std::string::npos);
  const auto explains_star = [](const Heatmap& heatmap) {
    return std::ranges::any_of(heatmap.notes,
                               [](const std::string& note) { return note.starts_with("* "); });
  };
  document.marks.special = document.marks.added = {0};
  CHECK(!explains_star(attention_heatmap(document)));  // no token with a star is left
  document.marks.special = {0, 2};
  CHECK(explains_star(attention_heatmap(document)));
  document.marks = {};

  document.run.mask.reset();
  CHECK(attention_heatmap(document).query_labels.size() == 3);  // it sees the others too

  document.patterns.front().weights = test::matrix_over(kCausal, 1, 1);
  document.query_tokens = document.key_tokens = {"The"};
  CHECK_THROWS_AS(attention_heatmap(document), Error);
}

TEST_CASE("attention_heatmap: without added tokens rows are not rescaled, and the notes say so") {
  AttentionDocument document = marked_document();
  const Heatmap left = attention_heatmap(document);
  CHECK(left.query_labels == Strings{"the", "cat"});
  CHECK(left.key_labels == Strings{"the", "cat"});
  CHECK(left.first_query == 1);
  CHECK(left.first_key == 1);
  // As in the rows of "the" and "cat", which now sum to 0.375 and 0.25.
  CHECK(left.panels[0].values(0, 0) == 0.25f);
  CHECK(left.panels[0].values(0, 1) == 0.125f);
  CHECK(left.panels[0].values(1, 0) == 0.0f);
  CHECK(left.panels[0].values(1, 1) == 0.25f);
  CHECK(left.notes == Strings{R"(hidden: 2 tokens ("[CLS]", "[SEP]"); rows not rescaled)"});
  document.drawing.no_special = false;
  CHECK(attention_heatmap(document).notes == Strings{"* special token, added by the tokenizer"});
}

TEST_CASE("attention_heatmap: notes on hidden tokens mention queries if keys are rows") {
  AttentionDocument document = marked_document();
  document.drawing.transposed = document.drawing.no_special = true;
  CHECK(attention_heatmap(document).notes ==
        Strings{R"(hidden: 2 tokens ("[CLS]", "[SEP]"); the weights of each query not rescaled)"});
  document.marks = {};
  document.drawing.no_special = false;
  document.drawing.drop_sink = true;
  CHECK(attention_heatmap(document).notes ==
        Strings{"first token ([CLS]) hidden, the rest of each query rescaled to sum to 1"});
  document.drawing.transposed = false;
  CHECK(attention_heatmap(document).notes ==
        Strings{"first token ([CLS]) hidden, the rest of each row rescaled to sum to 1"});
}

TEST_CASE("attention_heatmap: special tokens that are part of the text stay, with their mark") {
  AttentionDocument document = marked_document();
  document.marks.added = {0};  // the last one is part of the text
  const Heatmap left = attention_heatmap(document);
  CHECK(left.query_labels == Strings{"the", "cat", "*[SEP]"});
  CHECK(left.first_query == 1);
  CHECK(left.notes ==
        Strings{"* special token", R"(hidden: 1 token ("[CLS]"); rows not rescaled)"});
  document.marks = {};
  const Heatmap all = attention_heatmap(document);  // without omissions there is no note
  CHECK(all.query_labels.size() == 4);
  CHECK(all.notes.empty());
}

TEST_CASE("attention_heatmap: without added tokens those between are labelled with their numbers") {
  AttentionDocument document = marked_document();
  document.marks.special = document.marks.added = {1};
  document.run.mask = Mask{};
  const Heatmap left = attention_heatmap(document);
  CHECK(left.key_labels == Strings{"[CLS]", "cat", "[SEP]"});
  CHECK(left.first_key.of(0) == 0);
  CHECK(left.first_key.of(1) == 2);
  CHECK(left.first_query.of(2) == 3);
  CHECK(left.panels[0].is_visible(1, 1));  // causal attention: cat sees itself
  CHECK_FALSE(left.panels[0].is_visible(1, 2));
  document.drawing.focus = Focus{2, false};
  const Heatmap focus = attention_heatmap(document);
  CHECK(focus.panels[0].values(0, 0) == 0.75f);
  CHECK(focus.panels[0].values(0, 1) == 0.25f);
  CHECK(focus.first_key.of(1) == 2);
  document.drawing.focus = Focus{1, false};
  CHECK_THROWS_WITH_AS(attention_heatmap(document), "focus: token 1 is left out by no_special",
                       Error);
  document.drawing.focus = Focus{1, true};
  CHECK_THROWS_WITH_AS(attention_heatmap(document), "focus: token 1 is left out by no_special",
                       Error);
}

TEST_CASE(
    "attention_heatmap: keys of another text stay; a text of only added tokens becomes empty") {
  AttentionDocument document = marked_document();
  document.key_tokens = {"w", "x", "y", "z"};
  const Heatmap cross = attention_heatmap(document);
  CHECK(cross.query_labels == Strings{"the", "cat"});
  CHECK(cross.key_labels == Strings{"w", "x", "y", "z"});
  CHECK(cross.panels[0].values(1, 0) == 0.75f);
  document.marks.added = {0, 1, 2, 3};
  CHECK_THROWS_WITH_AS(attention_heatmap(document), doctest::Contains("nothing would be left"),
                       Error);
}

TEST_CASE("attention_heatmap: transposed, plain and without added tokens at once") {
  AttentionDocument document = marked_document();
  document.query_tokens = document.key_tokens = {"[CLS]", " the", " cat", "[SEP]"};
  document.drawing.transposed = true;
  document.drawing.plain_labels = true;
  const Heatmap turned = attention_heatmap(document);
  CHECK(turned.query_labels == Strings{"the", "cat"});
  CHECK(turned.query_axis == "key (attended to)");
  CHECK(turned.panels[0].values(1, 0) == 0.125f);  // the weight that "the" puts on "cat"
  CHECK(turned.panels[0].values(0, 1) == 0.0f);
  // One token's bars are not transposed, and its panels are those of every token.
  document.drawing.focus = Focus{1, false};
  CHECK(attention_heatmap(document).query_labels == Strings{"L0H0"});
  CHECK(attention_panels(std::span(&document, 1)).query_axis == "query (attending)");
}

TEST_CASE("choose_drawing: weights get 0 to 1, wider with dropout, logarithms begin above 0") {
  AttentionDocument document = causal_document();
  const auto range = [&document](const DrawingRequest& request) {
    const ColorScale scale = choose_drawing(request, document).scale;
    return ValueRange{scale.low, scale.high};
  };
  DrawingRequest log;
  log.scale = ScaleKind::kLog;
  CHECK(range({}) == ValueRange{0.0f, 1.0f});
  CHECK(range(log) == ValueRange{0.001f, 1.0f});
  document.run.dropout = 0.5f;
  CHECK(range({}) == ValueRange{0.0f, 2.0f});
  DrawingRequest given;
  given.range = ValueRange{-1.0f, 3.0f};
  CHECK(range(given) == ValueRange{-1.0f, 3.0f});
  given.scale = ScaleKind::kLog;
  CHECK_THROWS_AS(choose_drawing(given, document), Error);
}

TEST_CASE("choose_drawing: an automatic range is that of the data, around 0 where it is signed") {
  AttentionDocument document = causal_document();
  DrawingRequest request;
  request.automatic_range = true;
  document.patterns[0].weights = test::matrix_over(kCausal, 1, 3).col_block(1, 2);  // zeros
  CHECK(choose_drawing(request, document).scale.high == 1.0f);
  const std::vector<float> scores = {0.5f, -3.0f, 1.0f};
  document.patterns[0].weights = test::matrix_over(scores, 1, 3);
  document.run.mask.reset();
  const Drawing drawing = choose_drawing(request, document);
  CHECK(drawing.scale.low == -3.0f);
  CHECK(drawing.scale.high == 3.0f);
  CHECK(drawing.scale.colormap.diverging());
  request.colormap = "magma";
  CHECK(choose_drawing(request, document).scale.colormap.name() == "magma");
}

TEST_CASE("changed_drawing: keeps the document's choices, changes the requested ones") {
  AttentionDocument document = causal_document();
  document.drawing.scale = {Colormap("magma"), ScaleKind::kSqrt, 0.0f, 0.5f};
  document.drawing.pool = PoolKind::kMean;
  document.drawing.drop_sink = true;
  document.drawing.title = "before";
  const Drawing same = changed_drawing({}, document);
  CHECK(same.scale.colormap.name() == "magma");
  CHECK(same.scale.kind == ScaleKind::kSqrt);
  CHECK(same.scale.high == 0.5f);
  CHECK(same.pool == PoolKind::kMean);
  CHECK(same.drop_sink);
  CHECK(same.title == "before");
  DrawingRequest request;
  request.scale = ScaleKind::kLog;
  request.title = "after";
  const Drawing changed = changed_drawing(request, document);
  CHECK(changed.scale.low == 0.0005f);  // a range that begins at 0 has no logarithm
  CHECK(changed.scale.high == 0.5f);
  CHECK(changed.title == "after");
}

TEST_CASE("choose_drawing: masked and omitted values do not widen the range") {
  AttentionDocument document = causal_document();
  DrawingRequest request;
  request.automatic_range = true;
  const std::vector<float> weights = {0.25f, 9.0f, 0.5f, 0.125f};
  document.patterns[0].weights = test::matrix_over(weights, 2, 2);
  CHECK(choose_drawing(request, document).scale.high == 0.5f);
  document.run.dropout = 0.5f;
  request.drop_sink = true;
  CHECK(choose_drawing(request, document).scale.high == 1.0f);
}

TEST_CASE("attention_heatmap: negative values are not scaled to sum to 1") {
  const std::vector<float> scores = {0.5f, -3.0f, 1.0f};
  AttentionDocument document = causal_document();
  document.run.mask.reset();
  document.query_tokens = {"q"};
  document.patterns[0].weights = test::matrix_over(scores, 1, 3);
  document.drawing.drop_sink = true;
  CHECK_THROWS_WITH_AS(attention_heatmap(document), doctest::Contains("found -3"), Error);
}

}  // namespace attnviz
