#include "attnviz/analysis/why/ablate_each.h"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "attnviz/attention/input_columns.h"
#include "attnviz/attention/layer.h"
#include "attnviz/attention/parts/altup_streams.h"

namespace attnviz {

namespace {

void add_part(const Model& model, AblatedPart part, bool by_mean, std::vector<Ablation>& all) {
  for (std::size_t layer = 0; layer < model.n_layers(); ++layer) {
    switch (part) {
      case AblatedPart::kHeads:
        for (std::size_t head = 0; head < model.layers[layer].heads.size(); ++head) {
          all.push_back({layer, head, false, by_mean});
        }
        break;
      case AblatedPart::kMlps:
        if (model.layers[layer].has_mlp()) {
          all.push_back({layer, {}, true, by_mean});
        }
        break;
      case AblatedPart::kLayers:
        if (!model.layers[layer].heads.empty()) {
          all.push_back({layer, {}, false, by_mean});
        }
        break;
    }
  }
}

// What is taken out, be it by zeros or means.
using Place = std::tuple<std::size_t, bool, std::optional<std::size_t>>;

std::set<Place> places_of(const std::vector<Ablation>& ablations) {
  std::set<Place> places;
  for (const Ablation& one : ablations) {
    places.emplace(one.layer, one.mlp, one.head);
  }
  return places;
}

// Whether `part` is among what is taken out already: a layer, when all of its heads are.
bool is_out(const Model& model, const Ablation& part, const std::set<Place>& given) {
  const auto has = [&](std::optional<std::size_t> head) {
    return given.contains({part.layer, part.mlp, std::nullopt}) ||
           given.contains({part.layer, part.mlp, head});
  };
  if (part.mlp || part.head) {
    return has(part.head);
  }
  for (std::size_t head = 0; head < model.layers[part.layer].heads.size(); ++head) {
    if (!has(head)) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::vector<AblationEffect> ablate_each(const Model& model, const TokenizedText& text,
                                        const AttentionRequest& request, std::uint32_t target,
                                        std::span<const AblatedPart> parts, bool by_mean) {
  const InputColumns columns(text);
  const ModelInput input = columns.view();
  check_request(model, input, request);
  Interventions each;
  for (const AblatedPart part : parts) {
    add_part(model, part, by_mean, each.ablations);
  }
  const Interventions given = request.interventions ? *request.interventions : Interventions{};
  const std::set<Place> given_places = places_of(given.ablations);
  Intervener unchanged(model, input, request, given);
  Intervener one(model, input, request, each);
  // What is out stays as it was, whatever is taken out with it: that is said last.
  ObserverGroup changed({&one, &unchanged});

  LayerMemory memory;
  MatrixBuffer stream = embed(model, input);
  memory.layer_inputs = embed_for_layers(model, input, std::as_const(stream).view());
  stream = enter_layers(model, std::move(stream), request.n_threads);
  const RunEnd end{model.n_layers() - 1, LayerReach::kWhole};
  const auto run_from = [&](std::size_t layer, RunObserver& observer) {
    return run_layers(model, layer, copy_of(std::as_const(stream).view()), end, request, observer,
                      memory);
  };
  const MatrixBuffer unchanged_last = run_from(0, unchanged);
  UnchangedPrediction prediction(model, unchanged_last.view(), target, request.n_threads);
  std::vector<AblationEffect> effects(each.ablations.size());
  std::vector<std::size_t> waiting;  // those whose runs stand in `lasts`, one behind the other
  MatrixBuffer lasts(prediction.runs_at_once() * unchanged_last.rows(), unchanged_last.cols());
  const auto measure = [&] {
    const std::size_t rows = waiting.size() * stream.rows();
    const auto changes = prediction.changes_to(std::as_const(lasts).view().row_block(0, rows));
    for (std::size_t i = 0; i < changes.size(); ++i) {
      AblationEffect& effect = effects[waiting[i]];
      effect.change = changes[i];
      if (is_out(model, effect.what, given_places)) {  // not even by rounding
        effect.change = {.top = changes[i].top};
      }
    }
    waiting.clear();
  };
  std::size_t n_done = 0;
  for (std::size_t layer = 0; layer < model.n_layers(); ++layer) {
    for (std::size_t i = 0; i < effects.size(); ++i) {
      if (each.ablations[i].layer != layer) {
        continue;
      }
      one.make_only({i, i + 1});
      effects[i].what = each.ablations[i];
      const MatrixBuffer last = run_from(layer, changed);
      std::copy_n(last.view().data, last.rows() * last.cols(),
                  lasts.view().row_data(waiting.size() * last.rows()));
      waiting.push_back(i);
      if (waiting.size() == prediction.runs_at_once()) {
        measure();
      }
      if (request.report) {
        request.report(static_cast<double>(++n_done) / static_cast<double>(effects.size()));
      }
    }
    memory.output =
        std::exchange(stream, run_layer(model, layer, LayerReach::kWhole,
                                        std::as_const(stream).view(), request, unchanged, memory));
  }
  measure();
  return effects;
}

double ablation_bytes(const Model& model, std::size_t n_tokens) {
  const double stream = static_cast<double>(n_tokens) * static_cast<double>(sizeof(float)) *
                        static_cast<double>(model.config.d_model);
  const double streams = 2.0 + static_cast<double>(model.altup.n_streams());
  return layer_bytes(model, n_tokens) + streams * stream +
         UnchangedPrediction::bytes(model, n_tokens);
}

}  // namespace attnviz
