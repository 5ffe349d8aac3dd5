#include "attnviz/analysis/why/attribution.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "attnviz/analysis/why/logit_lens.h"
#include "attnviz/attention/blocked_product.h"
#include "attnviz/attention/engine.h"
#include "attnviz/attention/interventions.h"
#include "attnviz/core/error.h"
#include "attnviz/kernels/stored_numbers.h"

namespace attnviz {

namespace {

// A linear function of the stream.
using Functional = std::vector<double>;

double product(std::span<const float> x, const Functional& f, std::size_t first = 0) {
  double sum = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    sum += static_cast<double>(x[i]) * f[first + i];
  }
  return sum;
}

// 1 / (the root that a norm divides by) at x; 1 without a norm.
double scale_at(const Norm& norm, std::span<const float> x) {
  if (!norm.present()) {
    return 1.0;
  }
  const auto n = static_cast<double>(x.size());
  const bool is_layer = norm.kind == NormKind::kLayer;
  const double mean = is_layer ? std::accumulate(x.begin(), x.end(), 0.0) / n : 0.0;
  double squares = 0.0;
  for (const float one : x) {
    squares += (static_cast<double>(one) - mean) * (static_cast<double>(one) - mean);
  }
  return 1.0 / std::sqrt(squares / n + norm.epsilon);
}

// f after the norm, as a function of the norm's input, times the root that the norm divides by.
Functional before_norm(const Norm& norm, Functional f) {
  if (!norm.present()) {
    return f;
  }
  for (std::size_t i = 0; i < f.size(); ++i) {
    f[i] *= static_cast<double>(norm.weight[i]) + static_cast<double>(norm.weight_offset);
  }
  if (norm.kind == NormKind::kLayer) {
    const double mean = std::accumulate(f.begin(), f.end(), 0.0) / static_cast<double>(f.size());
    for (double& one : f) {
      one -= mean;
    }
  }
  return f;
}

Functional times(Functional f, double factor) {
  for (double& one : f) {
    one *= factor;
  }
  return f;
}

// f of W_O's output, as a function of the context.
Functional before_output(const StoredMatrix& output, const Functional& f) {
  if (output.empty()) {
    return f;
  }
  const MatrixBuffer rows = to_floats(output);
  Functional result;
  result.reserve(output.rows);
  for (std::size_t row = 0; row < output.rows; ++row) {
    result.push_back(product(std::as_const(rows).view().row(row), f));
  }
  return result;
}

struct HeadPart {
  std::vector<Functional> of_context;  // for each direction
  Functional of_value;                 // in the first direction, with the gate at token `at`
  std::vector<double> shares;
  std::vector<double> of_values;  // in the first direction, [n_tokens]
  std::vector<double> by_key;
  double weight = 0.0;  // sum over all keys: a learned sink takes the rest of 1
  double bias_share = 0.0;
};

struct LayerPart {
  std::vector<HeadPart> heads;
  std::vector<Functional> of_attention, of_mlp;
  double attention_scale = 1.0;
  std::vector<double> mlp, mixer;
  double stream_scale = 1.0;          // factor on this layer's input at the end of the last layer
  std::vector<double> middle, input;  // in layers with inputs: the stream before the MLP
};

// Collects the parts' shares in each direction, except for the scale of the last norm.
class Collector : public RunObserver, public PatternSink {
 public:
  Collector(const Model& model, std::size_t n_tokens, std::size_t at,
            std::span<const LogitDirection> directions)
      : RunObserver(static_cast<PatternSink&>(*this)), model_(model), at_(at) {
    for (const LogitDirection& one : directions) {
      of_stream_.push_back(before_norm(model.head.norm, one.weights));
    }
    for (const LayerWeights& layer : model.layers) {
      stream_scale_ *= static_cast<double>(layer.result_scale);
    }
    double scale = stream_scale_;  // factor that this layer and those after it apply to the stream
    for (const LayerWeights& layer : model.layers) {
      LayerPart part;
      for (const Functional& f : of_stream_) {
        const Functional added = times(f, scale * static_cast<double>(layer.branch_scale));
        part.of_attention.push_back(before_norm(layer.after_attention_norm, added));
        part.of_mlp.push_back(before_norm(layer.after_mlp_norm, added));
      }
      part.stream_scale = scale;
      scale /= static_cast<double>(layer.result_scale);
      const std::vector<StoredMatrix> outputs = head_outputs(layer);
      for (std::size_t head = 0; head < layer.heads.size(); ++head) {
        HeadPart& one = part.heads.emplace_back();
        for (const Functional& f : part.of_attention) {
          one.of_context.push_back(before_output(outputs[head], f));
        }
        one.by_key.assign(n_tokens, 0.0);
        one.of_value = one.of_context.front();
        one.bias_share = product(layer.heads[head].value.bias, one.of_value);
      }
      layers_.push_back(std::move(part));
    }
  }

  bool wants(std::size_t layer, LayerStep step) const override {
    const LayerWeights& weights = model_.layers[layer];
    return step == LayerStep::kGates || step == LayerStep::kContexts ||
           (step == LayerStep::kMlp && weights.has_mlp()) ||
           (step == LayerStep::kAttention && weights.mixer() != MixerKind::kNone &&
            (weights.heads.empty() || weights.after_attention_norm.present())) ||
           step == LayerStep::kStates ||
           (step >= LayerStep::kMiddle && model_.layers[layer].input.present()) ||
           (step == LayerStep::kBefore && layer == 0) ||
           (step == LayerStep::kAfter && layer + 1 == model_.n_layers());
  }

  void stream(const RunPlace& at, ConstMatrix x) override {
    const std::span<const float> row = x.row(at_);
    LayerPart& layer = layers_[at.layer];
    if (at.step == LayerStep::kBefore) {
      first_ = in_all(of_stream_, row, stream_scale_);
    } else if (at.step == LayerStep::kMiddle) {
      layer.middle = in_all(of_stream_, row, layer.stream_scale);
    } else if (model_.layers[at.layer].input.present()) {
      const double scale =
          layer.stream_scale / static_cast<double>(model_.layers[at.layer].result_scale);
      layer.input = in_all(of_stream_, row, scale);
      for (std::size_t i = 0; i < layer.input.size(); ++i) {
        layer.input[i] -= layer.middle[i] + layer.mlp[i];
      }
    }
    if (at.layer + 1 == model_.n_layers() && at.step == LayerStep::kAfter) {
      last_ = in_all(of_stream_, row);
      last_scale_ = scale_at(model_.head.norm, row);
    }
  }

  // Gates arrive before the values of their layer.
  void gates(const RunPlace& at, ConstMatrix open) override {
    const std::span<const float> row = open.row(at_);
    std::size_t first = 0;
    for (std::size_t head = 0; head < layers_[at.layer].heads.size(); ++head) {
      HeadPart& part = layers_[at.layer].heads[head];
      for (std::size_t i = 0; i < part.of_value.size(); ++i) {
        part.of_value[i] *= static_cast<double>(row[first + i]);
      }
      part.bias_share = product(model_.layers[at.layer].heads[head].value.bias, part.of_value);
      first += part.of_value.size();
    }
  }

  void contexts(const RunPlace& at, Matrix z) override {
    const std::span<const float> row = z.row(at_);
    std::size_t first = 0;
    for (HeadPart& head : layers_[at.layer].heads) {
      const std::size_t count = head.of_context.front().size();
      head.shares = in_all(head.of_context, row.subspan(first, count));
      first += count;
    }
  }

  void states(const RunPlace& at, ConstMatrix s) override {
    LayerPart& layer = layers_[at.layer];
    layer.mixer = in_all(layer.of_attention, s.row(at_));
  }

  void attention(const RunPlace& at, Matrix a) override {
    LayerPart& layer = layers_[at.layer];
    layer.attention_scale = scale_at(model_.layers[at.layer].after_attention_norm, a.row(at_));
    if (layer.heads.empty()) {
      layer.mixer = in_all(layer.of_attention, a.row(at_));
    }
  }

  void mlp(const RunPlace& at, Matrix y) override {
    LayerPart& layer = layers_[at.layer];
    const std::span<const float> row = y.row(at_);
    const double scale = scale_at(model_.layers[at.layer].after_mlp_norm, row);
    layer.mlp = in_all(layer.of_mlp, row, scale);
  }

  bool wants_values(HeadId /*head*/) const override { return true; }
  void values(std::size_t layer, std::span<const HeadValues> heads) override {
    for (const HeadValues& head : heads) {
      HeadPart& part = layers_[layer].heads[head.head];
      part.of_values.clear();
      for (std::size_t token = 0; token < head.values.rows; ++token) {
        part.of_values.push_back(product(head.values.row(token), part.of_value));
      }
    }
  }

  bool wants(HeadId /*head*/) const override { return true; }
  void rows(HeadId head, std::size_t first_query, std::size_t first_key,
            ConstMatrix weights) override {
    if (at_ < first_query || at_ >= first_query + weights.rows) {
      return;
    }
    HeadPart& part = layers_[head.layer].heads[head.head];
    const std::span<const float> row = weights.row(at_ - first_query);
    for (std::size_t i = 0; i < row.size(); ++i) {
      part.weight += static_cast<double>(row[i]);
      part.by_key[first_key + i] =
          static_cast<double>(row[i]) * part.of_values[first_key + i] + 0.0;  // no -0
    }
  }

  // What replaces an ablated head does not come from a key or a bias.
  void forget_keys_of(std::span<const Ablation> ablations) {
    for (const Ablation& one : ablations) {
      std::vector<HeadPart>& heads = layers_[one.layer].heads;
      for (std::size_t head = 0; head < heads.size() && !one.mlp; ++head) {
        if (one.head.value_or(head) == head) {
          heads[head].by_key.clear();
          heads[head].bias_share = 0.0;
        }
      }
    }
  }

  Attribution finish(std::span<const float> position, std::span<const LogitDirection> directions) {
    Attribution found;
    const auto add = [&](LogitPartKind kind, std::size_t layer, std::vector<double> shares,
                         double scale = 1.0) {
      for (double& one : shares) {
        one *= scale * last_scale_;
      }
      found.parts.push_back({kind, layer, 0, std::move(shares), 0.0, {}});
    };
    std::vector<double> of_position = in_all(of_stream_, position, stream_scale_);
    for (std::size_t i = 0; i < first_.size(); ++i) {
      first_[i] -= of_position[i];
    }
    add(LogitPartKind::kEmbedding, 0, first_);
    if (!position.empty()) {
      add(LogitPartKind::kPosition, 0, std::move(of_position));
    }
    for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
      LayerPart& part = layers_[layer];
      const double scale = part.attention_scale;
      for (std::size_t head = 0; head < part.heads.size(); ++head) {
        HeadPart& one = part.heads[head];
        add(LogitPartKind::kHead, layer, one.shares, scale);
        found.parts.back().head = head;
        found.parts.back().bias_share = one.bias_share * one.weight * scale * last_scale_;
        for (double& key : one.by_key) {
          key *= scale * last_scale_;
        }
        found.parts.back().by_key = std::move(one.by_key);
      }
      if (const std::span<const float> bias = model_.layers[layer].output.bias; !bias.empty()) {
        add(LogitPartKind::kOutputBias, layer, in_all(part.of_attention, bias), scale);
      }
      if (!part.mixer.empty()) {
        add(part_of(model_.layers[layer]), layer, std::move(part.mixer), scale);
      }
      if (!part.mlp.empty()) {
        add(LogitPartKind::kMlp, layer, std::move(part.mlp));
      }
      if (!part.input.empty()) {
        add(LogitPartKind::kLayerInput, layer, std::move(part.input));
      }
    }
    found.logits = last_;
    for (double& one : found.logits) {
      one *= last_scale_;
    }
    add_constants(directions, found);
    return found;
  }

 private:
  static std::vector<double> in_all(const std::vector<Functional>& directions,
                                    std::span<const float> x, double scale = 1.0) {
    std::vector<double> products(directions.size());
    std::ranges::transform(directions, products.begin(),
                           [&](const Functional& f) { return scale * product(x, f); });
    return products;
  }

  // Biases that do not depend on the state.
  void add_constants(std::span<const LogitDirection> directions, Attribution& found) const {
    std::vector<double> of_norm;
    std::vector<double> of_logit;
    bool has_logit_bias = false;
    for (std::size_t i = 0; i < directions.size(); ++i) {
      of_norm.push_back(product(model_.head.norm.bias, directions[i].weights));
      of_logit.push_back(directions[i].bias);
      has_logit_bias = has_logit_bias || directions[i].bias != 0.0;
      found.logits[i] += of_norm.back() + of_logit.back();
    }
    if (!model_.head.norm.bias.empty()) {
      found.parts.push_back({LogitPartKind::kNormBias, 0, 0, std::move(of_norm), 0.0, {}});
    }
    if (has_logit_bias) {
      found.parts.push_back({LogitPartKind::kLogitBias, 0, 0, std::move(of_logit), 0.0, {}});
    }
  }

  const Model& model_;
  std::size_t at_;
  std::vector<Functional> of_stream_;
  std::vector<LayerPart> layers_;
  std::vector<double> first_, last_;
  double stream_scale_ = 1.0;  // factor on layer 0's input at the end of the last layer
  double last_scale_ = 1.0;
};

// Carries a direction of the unembedding's input back through the projection, with the logits'
// scale.
LogitDirection of_normed_stream(const OutputHead& head, LogitDirection direction) {
  if (!head.projection.weight.empty()) {
    direction.bias += product(head.projection.bias, direction.weights);
    direction.weights = before_output(head.projection.weight, direction.weights);
  }
  direction.weights = times(direction.weights, static_cast<double>(head.scale));
  direction.bias *= static_cast<double>(head.scale);
  return direction;
}

void require_unembedding(const Model& model) {
  if (model.head.unembedding.weight.empty()) {
    throw Error(
        ErrorKind::kUnsupported,
        fmt::format("{}: the model has no output head: it predicts no tokens", model.config.name));
  }
}

}  // namespace

LogitDirection logit_direction(const Model& model, std::uint32_t id) {
  require_unembedding(model);
  const Projection& unembedding = model.head.unembedding;
  require_id(id, unembedding.d_out());
  const MatrixBuffer column = to_floats(unembedding.weight.col_block(id, 1));
  LogitDirection direction;
  for (std::size_t i = 0; i < column.rows(); ++i) {
    direction.weights.push_back(static_cast<double>(std::as_const(column).view().row(i)[0]));
  }
  direction.bias = unembedding.bias.empty() ? 0.0 : static_cast<double>(unembedding.bias[id]);
  return of_normed_stream(model.head, std::move(direction));
}

LogitDirection mean_logit_direction(const Model& model) {
  require_unembedding(model);
  const Projection& unembedding = model.head.unembedding;
  const auto n = static_cast<double>(unembedding.d_out());
  LogitDirection mean{std::vector<double>(unembedding.d_in(), 0.0), 0.0};
  constexpr std::size_t kTokens = 1024;
  for (std::size_t first = 0; first < unembedding.d_out(); first += kTokens) {
    const std::size_t count = std::min(kTokens, unembedding.d_out() - first);
    const MatrixBuffer some = to_floats(unembedding.weight.col_block(first, count));
    for (std::size_t i = 0; i < some.rows(); ++i) {
      const std::span<const float> row = std::as_const(some).view().row(i);
      mean.weights[i] += std::accumulate(row.begin(), row.end(), 0.0) / n;
    }
  }
  mean.bias = std::accumulate(unembedding.bias.begin(), unembedding.bias.end(), 0.0) / n;
  return of_normed_stream(model.head, std::move(mean));
}

LogitDirection operator-(LogitDirection one, const LogitDirection& other) {
  for (std::size_t i = 0; i < one.weights.size(); ++i) {
    one.weights[i] -= other.weights[i];
  }
  one.bias -= other.bias;
  return one;
}

Attribution attribute(const Model& model, const TokenizedText& text,
                      const AttentionRequest& request, std::size_t at,
                      std::span<const LogitDirection> directions) {
  require_unembedding(model);
  require_token(at, text.size());
  if (model.config.order == LayerOrder::kPostNorm || !model.head.transform.weight.empty()) {
    throw Error(
        ErrorKind::kUnsupported,
        fmt::format("{}: its layers end in norms, so a logit is not the sum of their outputs",
                    model.config.name));
  }
  require_one_stream(model, "so a logit is not the sum of their outputs");
  const InputColumns input(text);
  Collector collector(model, text.tokens.size(), at, directions);
  run(model, input.view(), request, static_cast<RunObserver&>(collector));
  if (request.interventions != nullptr) {
    collector.forget_keys_of(request.interventions->ablations);
  }
  std::vector<float> position;
  if (!model.position_embeddings.empty()) {
    position.resize(model.config.d_model);
    copy_row(model.position_embeddings, model.first_position + at, position);
  }
  return collector.finish(position, directions);
}

}  // namespace attnviz
