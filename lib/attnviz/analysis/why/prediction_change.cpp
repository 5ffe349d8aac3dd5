#include "attnviz/analysis/why/prediction_change.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <numbers>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "attnviz/analysis/why/logit_lens.h"
#include "attnviz/attention/blocked_product.h"
#include "attnviz/attention/engine.h"
#include "attnviz/attention/head_math.h"
#include "attnviz/attention/interventions.h"
#include "attnviz/attention/key_value_cache.h"
#include "attnviz/attention/layer.h"
#include "attnviz/attention/parts/layer_parts.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/threads.h"
#include "attnviz/kernels/row_kernels.h"

namespace attnviz {

namespace {

// Rows of logits in memory at once, one per token.
constexpr std::size_t kLogitRows = kBlockRows;

// Calls work(index of the row, its logits) for all rows, in any order. `memory` is kept for the
// next call, since the system would otherwise clear fresh memory each time.
void for_each_logits(const Model& model, ConstMatrix last, std::size_t n_threads,
                     MatrixBuffer& memory,
                     const std::function<void(std::size_t, std::span<const float>)>& work) {
  if (memory.rows() < std::min(kLogitRows, last.rows)) {
    memory = MatrixBuffer(std::min(kLogitRows, last.rows), model.head.unembedding.d_out());
  }
  for (std::size_t first = 0; first < last.rows; first += kLogitRows) {
    const ConstMatrix rows = last.row_block(first, std::min(kLogitRows, last.rows - first));
    const Matrix logits = memory.view().row_block(0, rows.rows);
    run_output_head(model, rows, n_threads, logits);
    parallel_for(rows.rows, n_threads, [&](std::size_t row, std::size_t /*thread*/) {
      work(first + row, logits.row(row));
    });
  }
}

}  // namespace

UnchangedPrediction::UnchangedPrediction(const Model& model, ConstMatrix last, std::uint32_t target,
                                         std::size_t n_threads)
    : model_(model),
      target_(target),
      n_threads_(n_threads),
      logits_(run_output_head(model, last, n_threads)),
      log_sums_(last.rows) {
  require_id(target, logits_.cols());
  for (std::size_t row = 0; row < last.rows; ++row) {
    log_sums_[row] = kernels::log_sum_exp(logits_.view().row(row));
  }
}

std::size_t UnchangedPrediction::runs_at_once() const noexcept {
  return std::max<std::size_t>(1, 2 * kLogitRows / log_sums_.size());
}

std::vector<PredictionChange> UnchangedPrediction::changes_to(ConstMatrix lasts) {
  const std::size_t n_tokens = log_sums_.size();
  std::vector<PredictionChange> changes(lasts.rows / n_tokens);
  std::vector<double> bits(lasts.rows);
  const auto look = [&](std::size_t row, std::span<const float> logits) {
    const std::size_t token = row % n_tokens;
    const std::span<const float> before = std::as_const(logits_).view().row(token);
    const double log_sum = kernels::log_sum_exp(logits);
    const double nats = kernels::divergence(before, log_sums_[token], logits, log_sum);
    bits[row] = std::max(0.0, nats) / std::numbers::ln2;
    if (token + 1 == n_tokens) {
      PredictionChange& change = changes[row / n_tokens];
      change.log_probability = static_cast<double>(logits[target_]) - log_sum -
                               (static_cast<double>(before[target_]) - log_sums_[token]);
      change.top = most_probable(logits, 1).front();
    }
  };
  for_each_logits(model_, lasts, n_threads_, memory_, look);
  for (std::size_t run = 0; run < changes.size(); ++run) {
    const std::span<const double> own = std::span(bits).subspan(run * n_tokens, n_tokens);
    changes[run].kl_bits = own.back();
    changes[run].kl_bits_mean =
        std::accumulate(own.begin(), own.end(), 0.0) / static_cast<double>(n_tokens);
  }
  return changes;
}

double UnchangedPrediction::bytes(const Model& model, std::size_t n_tokens) noexcept {
  const auto row_bytes = [](std::size_t width) {
    return static_cast<double>(width) * static_cast<double>(sizeof(float));
  };
  return static_cast<double>(n_tokens + kLogitRows) * row_bytes(model.head.unembedding.d_out()) +
         static_cast<double>(n_tokens + 2 * kLogitRows) * row_bytes(model.config.d_model);
}

std::vector<double> log_probabilities(const Model& model, ConstMatrix last, std::uint32_t target,
                                      std::size_t n_threads) {
  std::vector<double> all(last.rows);
  MatrixBuffer memory;
  for_each_logits(model, last, n_threads, memory,
                  [&](std::size_t row, std::span<const float> logits) {
                    require_id(target, logits.size());
                    all[row] = static_cast<double>(logits[target]) - kernels::log_sum_exp(logits);
                  });
  return all;
}

namespace {

void check_spans(std::span<const TokenSpan> spans, std::size_t n_tokens) {
  for (const TokenSpan& span : spans) {
    if (span.begin > span.end || span.end > n_tokens) {
      throw Error(ErrorKind::kUsage, fmt::format("tokens {} to {}: the text has {}", span.begin,
                                                 span.end, counted(n_tokens, "token")));
    }
  }
}

bool looks_ahead(const Model& model, const AttentionRequest& request) {
  for (std::size_t layer = 0; layer < model.n_layers(); ++layer) {
    if (mask_of(model, layer, request).looks_ahead()) {
      return true;
    }
  }
  return false;
}

// Runs of one text that begin after its first tokens, whose keys and values are kept.
class SuffixRuns {
 public:
  SuffixRuns(const Model& model, const ModelInput& input, const AttentionRequest& request)
      : model_(model),
        request_(request),
        stream_(embed(model, input)),
        layer_inputs_(embed_for_layers(model, input, std::as_const(stream_).view())),
        cache_(model, input.size()) {
    stream_ = enter_layers(model, std::move(stream_), request.n_threads);
    memory_.cache = &cache_;
  }

  // The last layer's output at the last token. All earlier runs must have begun at `first` or
  // later, except for one of the whole text.
  void run_from(std::size_t first, RunObserver& observer, std::span<float> last) {
    cache_.set_tokens(first);
    memory_.rotations.clear();
    const ConstMatrix rest = std::as_const(stream_).view().row_block(first, stream_.rows() - first);
    if (model_.layer_embeddings.present()) {
      memory_.layer_inputs =
          copy_of(std::as_const(layer_inputs_).view().row_block(first, rest.rows));
    }
    const RunEnd end{model_.n_layers() - 1, LayerReach::kWhole};
    const MatrixBuffer result =
        run_layers(model_, 0, copy_of(rest), end, request_, observer, memory_);
    std::ranges::copy(result.view().row(result.rows() - 1), last.begin());
  }

 private:
  const Model& model_;
  const AttentionRequest& request_;
  MatrixBuffer stream_;
  MatrixBuffer layer_inputs_;
  KeyValueCache cache_;
  LayerMemory memory_;
};

}  // namespace

std::vector<std::optional<double>> leave_one_out(const Model& model, const TokenizedText& text,
                                                 const AttentionRequest& request,
                                                 std::uint32_t target,
                                                 std::span<const TokenSpan> spans) {
  const InputColumns columns(text);
  const ModelInput input = columns.view();
  const std::size_t n_tokens = input.size();
  check_request(model, input, request);
  check_spans(spans, n_tokens);
  std::vector<std::size_t> order;  // from the last end on: keys and values before a span stay
                                   // unchanged
  for (std::size_t i = 0; i < spans.size(); ++i) {
    if (spans[i].end < n_tokens) {
      order.push_back(i);
    }
  }
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [&](std::size_t i) { return spans[i].end; });

  const Interventions given = request.interventions ? *request.interventions : Interventions{};
  Intervener unchanged(model, input, request, given);
  SuffixRuns runs(model, input, request);
  MatrixBuffer last(1 + order.size(), model.config.d_model);
  runs.run_from(0, unchanged, last.view().row(0));
  // States cannot be rewound to where a span ends.
  const bool from_start = looks_ahead(model, request) || model.has_states();
  for (std::size_t i = 0; i < order.size(); ++i) {
    const TokenSpan span = spans[order[i]];
    const Interventions cut{{}, {{{span.end}, {span.begin, span.end}, {}, {}}}};
    Intervener cutter(model, input, request, cut);
    ObserverGroup changed({&unchanged, &cutter});
    runs.run_from(from_start ? 0 : span.end, changed, last.view().row(1 + i));
    if (request.report) {
      request.report(static_cast<double>(i + 1) / static_cast<double>(order.size()));
    }
  }
  const std::vector<double> logs =
      log_probabilities(model, std::as_const(last).view(), target, request.n_threads);
  std::vector<std::optional<double>> changes(spans.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    changes[order[i]] = logs[1 + i] - logs.front();
  }
  return changes;
}

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

// An ablated part, whether by zeros or by means.
using Place = std::tuple<std::size_t, bool, std::optional<std::size_t>>;

std::set<Place> places_of(const std::vector<Ablation>& ablations) {
  std::set<Place> places;
  for (const Ablation& one : ablations) {
    places.emplace(one.layer, one.mlp, one.head);
  }
  return places;
}

// Whether `part` is already ablated: a layer, if all of its heads are.
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
  // Parts that the request ablates stay as they are, so their observer acts last.
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
  std::vector<std::size_t> waiting;  // those whose runs lie in `lasts`, one after the other
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
