#include "attnviz/report/run_facts.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/formats/json_tree.h"
#include "attnviz/report/attention_document.h"
#include "attnviz/report/json/document_json.h"
#include "support/sample_inspection.h"
#include "support/screen_text.h"
#include "support/stopwatch.h"

namespace attnviz {
namespace {

using Lines = std::vector<std::string>;

std::vector<std::size_t> first(std::size_t n_layers) {
  std::vector<std::size_t> layers(n_layers);
  std::iota(layers.begin(), layers.end(), std::size_t{0});
  return layers;
}

// A model of copies of one layer, where every `step`th from `from` on has a sliding window.
Model sliding(std::size_t n_layers, std::size_t from, std::size_t step, float soft_cap) {
  Model model = test::random_head(3);
  model.layers.resize(n_layers, model.layers.front());
  for (std::size_t i = 0; i < n_layers; ++i) {
    model.layers[i].soft_cap = soft_cap;
    if (i >= from && (i - from) % step == 0) {
      model.layers[i].mask = Mask{MaskKind::kWindow, 4096};
    }
  }
  return model;
}

Lines notes_of(const Model& model, const AttentionRequest& request = {}) {
  return layer_notes(run_facts(model, request), first(model.n_layers()));
}

}  // namespace

TEST_CASE("names: of one head, and of those shown, grouped by name, at most six each") {
  ModelFacts facts;
  const std::vector<HeadId> heads = {{0, 0}, {0, 1}, {1, 0}, {1, 1}};
  CHECK(names_note(facts, heads).empty());  // not measured
  facts.named_heads = {{0, 1, "sink"}, {1, 1, "induction"}, {1, 1, "sink"}, {2, 0, "sink"}};
  CHECK(names_of(facts, {1, 1}) == "induction, sink");
  CHECK(names_of(facts, {0, 0}).empty());
  CHECK(names_note(facts, heads) ==
        "heads identified on random tokens: induction L1H1, sink L0H1 L1H1");
  CHECK(names_note(facts, std::span(heads).first(1)) ==
        "heads identified on random tokens: none of those shown");
  std::vector<HeadId> many;
  facts.named_heads.emplace();
  for (std::size_t head = 0; head < 8; ++head) {
    many.push_back({3, head});
    facts.named_heads->push_back({3, head, "sink"});
  }
  CHECK(names_note(facts, many) ==
        "heads identified on random tokens: sink L3H0 L3H1 L3H2 L3H3 L3H4 L3H5 and 2 more");
}

TEST_CASE("layer notes: layers with the same attention share a line") {
  CHECK(notes_of(sliding(2, 0, 2, 50.0f)) ==
        Lines{"layer 0: window 4096, soft cap 50", "layer 1: soft cap 50"});
  CHECK(notes_of(sliding(26, 0, 2, 0.0f)) == Lines{"layers 0, 2 ... 24: window 4096"});
  CHECK(notes_of(sliding(6, 0, 2, 0.0f)) == Lines{"layers 0, 2 and 4: window 4096"});
  CHECK(notes_of(sliding(6, 3, 1, 0.0f)) == Lines{"layers 3 to 5: window 4096"});
  Model uneven = sliding(12, 0, 1, 0.0f);
  uneven.layers[2].mask = uneven.layers[7].mask = Mask{};
  CHECK(notes_of(uneven) == Lines{"layers 0, 1, 3, 4 and 6 more: window 4096"});
}

TEST_CASE("layer notes: properties that follow from the mask are not repeated") {
  CHECK(notes_of(sliding(3, 0, 1, 0.0f)).empty());  // the mask is window:4096
  CHECK(notes_of(sliding(3, 0, 4, 0.0f)) == Lines{"layer 0: window 4096"});
  AttentionRequest request;
  request.mask = parse_mask("none");
  CHECK(notes_of(sliding(3, 0, 2, 0.0f), request).empty());
  CHECK(notes_of(test::random_head(3)).empty());
}

TEST_CASE("layer notes: only for layers that are drawn") {
  const RunFacts facts = run_facts(sliding(4, 0, 2, 0.0f), {});
  const std::vector<std::size_t> odd = {1, 3};
  CHECK(layer_notes(facts, odd).empty());
  const std::vector<std::size_t> last = {2, 3};
  CHECK(layer_notes(facts, last) == Lines{"layer 2: window 4096"});
}

TEST_CASE("layer notes and masks: a hundred thousand different layers") {
  constexpr std::size_t kCount = 100'000;
  AttentionDocument document;
  for (std::size_t layer = 0; layer < kCount; ++layer) {
    document.run.layers.push_back({.layer = 2 * layer, .window = layer + 1});
  }
  const test::Stopwatch watch;
  CHECK(layer_notes(document.run, first(2 * kCount)).size() == kCount);
  std::size_t n_windows = 0;
  for (std::size_t layer = 0; layer < 2 * kCount; ++layer) {
    const std::optional<Mask> mask = document.mask_of({layer, 0});
    n_windows += mask && *mask == Mask{MaskKind::kWindow, layer / 2 + 1} ? 1u : 0u;
  }
  CHECK(n_windows == kCount);
  CHECK(watch.is_in_time());
}

TEST_CASE("layer facts: a document may have them in any order") {
  const JsonTree tree = JsonTree::parse(
      R"({"layer_facts": [{"layer": 3, "window": 5}, {"layer": 1, "window": 7}]})", "t.json");
  AttentionDocument document;
  document.run = read_run(tree.root());
  CHECK(document.mask_of({1, 0}) == Mask{MaskKind::kWindow, 7});
  CHECK(document.mask_of({3, 0}) == Mask{MaskKind::kWindow, 5});
  CHECK(document.mask_of({2, 0}) == document.run.mask);
}

TEST_CASE("layer facts: a document's facts are read back as written") {
  std::string text;
  JsonWriter json([&text](std::string_view bytes) { text += bytes; });
  json.begin_object();
  write_members(json, run_record(run_facts(sliding(2, 0, 2, 50.0f), {})));
  json.end_object();
  json.finish();
  const JsonTree tree = JsonTree::parse(text, "test");
  const std::vector<LayerFacts> read = read_run(tree.root()).layers;
  REQUIRE(read.size() == 2);
  CHECK(read[0].layer == 0);
  CHECK(read[0].window == 4096);
  CHECK(read[0].soft_cap == 50.0f);
  CHECK(read[1].layer == 1);
  CHECK(read[1].window == 0);
}

TEST_CASE("run notes: edges requested twice are reported once") {
  RunFacts facts;
  const KnockOut one{{5, 6}, {2, 3}, {}, {}};
  facts.interventions.knock_outs = {one, one, {{5, 6}, {1, 3}, {}, {}}, {{7, 8}, {}, {}, {}}, one};
  CHECK(run_notes(facts) ==
        Lines{"hidden from token 5: tokens 1-2", "hidden from token 7: all tokens"});
}

TEST_CASE("run notes: removed parts are reported in few lines, and documents keep them") {
  const std::string still_looks =
      "ablated heads still have attention, but their output does not depend on it";
  RunFacts facts;
  std::vector<Ablation>& ablations = facts.interventions.ablations;
  for (std::size_t layer = 0; layer < 9; ++layer) {
    ablations.push_back({layer, 0, false, false});
  }
  ablations.push_back({2, {}, false, true});
  ablations.push_back({3, {}, true, false});
  facts.interventions.knock_outs = {{{5, 6}, {1, 2}, {}, {}},    {{5, 6}, {7, 9}, {}, {}},
                                    {{8, 10}, {1, 2}, {}, {}},   {{8, 10}, {7, 9}, {}, {}},
                                    {{}, {3}, {1, 3}, {}},       {{4, 5}, {}, {2, 3}, {0, 2}},
                                    {{6, 7}, {0, 1}, {}, {1, 2}}};
  facts.hidden_in_each = {"cat>\x1b\"the dog\""};
  CHECK(run_notes(facts) == Lines{"without heads 0.0, 1.0, 2.0, 3.0, 4.0, 5.0 and 3 more",
                                  "without the MLP of layer 3",
                                  "without the attention of layer 2 (replaced by its mean)",
                                  "hidden from tokens 5, 8-9: tokens 1, 7-8",
                                  "hidden from all tokens: tokens 3 to the last, in layers 1-2",
                                  "hidden from token 4: all tokens, in heads 0-1 of layer 2",
                                  "hidden from token 6: token 0, in head 1 of all layers",
                                  "hidden in each text: cat>\\x1B\"the dog\"", still_looks});
  std::string written;
  JsonWriter json([&written](std::string_view bytes) { written += bytes; });
  json.begin_object();
  write_members(json, run_record(facts));
  json.end_object();
  json.finish();
  const JsonTree tree = JsonTree::parse(written, "run");
  const RunFacts read = read_run(tree.root());
  CHECK(read.interventions == facts.interventions);
  CHECK(run_notes(read) == run_notes(facts));
}

TEST_CASE("run facts: unknown interventions are refused with their position") {
  const auto refusal = [](std::string_view intervention) {
    const std::string text = "{\"interventions\": [" + std::string(intervention) + "]}";
    try {
      const JsonTree tree = JsonTree::parse(text, "run");
      read_run(tree.root());
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::kMalformed);
      return std::string(error.what());
    }
    return std::string("none");
  };
  using test::contains;
  CHECK(refusal(R"({"ablate": "head", "layer": 1, "head": 0})") == "none");
  CHECK(contains(refusal(R"({"ablate": "head", "layer": 1})"), "head"));
  CHECK(contains(refusal(R"({"ablate": "toe", "layer": 1})"), "interventions[0].ablate"));
  CHECK(contains(refusal(R"({})"), "ablate"));
  CHECK(contains(refusal("3"), "interventions"));
  CHECK(contains(refusal(R"({"hide": {"keys": [3, 3]}})"), "interventions[0].hide.keys"));
  CHECK(contains(refusal(R"({"hide": {"keys": []}})"), "interventions[0].hide.keys"));
  CHECK(contains(refusal(R"({"hide": {"keys": [-1]}})"), "interventions[0].hide.keys"));
  CHECK(contains(refusal(R"({"hide": 7})"), "interventions[0].hide"));
}

TEST_CASE("run facts: where another mask applies, layers keep their other facts") {
  RunFacts facts;
  facts.layers = {{.layer = 0, .window = 4},
                  {.layer = 1, .window = 4, .soft_cap = 50.0f},
                  {.layer = 2, .learned_sink = true},
                  {.layer = 3, .mixer = MixerKind::kConvolution},
                  {.layer = 4, .around = 2}};
  forget_layer_masks(facts);
  REQUIRE(facts.layers.size() == 3);
  CHECK(facts.layers[0].layer == 1);
  CHECK(facts.layers[0].window == 0);
  CHECK(facts.layers[1].learned_sink);
  CHECK(facts.layers[2].mixer == MixerKind::kConvolution);
}

}  // namespace attnviz
