#include "attnviz/analysis/why/leave_one_out.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "attnviz/analysis/why/prediction_change.h"
#include "attnviz/attention/head_math.h"
#include "attnviz/attention/input_columns.h"
#include "attnviz/attention/interventions.h"
#include "attnviz/attention/key_value_cache.h"
#include "attnviz/attention/layer.h"
#include "attnviz/attention/parts/altup_streams.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"

namespace attnviz {

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

// Runs of one text that begin behind its first tokens, whose keys and values are kept.
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

  // What leaves the last layer at the last token. All runs before must have begun at `first` or
  // behind it, but for one of the whole text.
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
  std::vector<std::size_t> order;  // from the last end on: what lies before a span stays unchanged
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
  // States cannot go back to where a span ends.
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

}  // namespace attnviz
