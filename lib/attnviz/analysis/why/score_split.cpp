#include "attnviz/analysis/why/attribution.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>
#include <utility>

#include "attnviz/analysis/inspection.h"
#include "attnviz/analysis/why/logit_lens.h"
#include "attnviz/attention/blocked_product.h"
#include "attnviz/attention/engine.h"
#include "attnviz/attention/head_math.h"
#include "attnviz/attention/layer.h"
#include "attnviz/core/error.h"
#include "attnviz/kernels/stored_numbers.h"

namespace attnviz {

namespace {

using Vector = std::vector<double>;

Vector doubles(std::span<const float> x) {
  return {x.begin(), x.end()};
}

void add_to(Vector& sum, std::span<const float> x) {
  std::transform(x.begin(), x.end(), sum.begin(), sum.begin(),
                 [](float one, double other) { return static_cast<double>(one) + other; });
}

Vector times(const Vector& x, ConstMatrix w) {
  Vector product(w.cols);
  for (std::size_t i = 0; i < w.rows; ++i) {
    for (std::size_t j = 0; j < w.cols; ++j) {
      product[j] += x[i] * static_cast<double>(w(i, j));
    }
  }
  return product;
}

// Applies the norm to one part of its input, which as a whole is divided by `divisor`; the norm's
// bias belongs to no part.
void pass_norm(const Norm& norm, double divisor, std::span<double> part) {
  if (!norm.present()) {
    return;
  }
  const double mean =
      norm.kind == NormKind::kLayer
          ? std::accumulate(part.begin(), part.end(), 0.0) / static_cast<double>(part.size())
          : 0.0;
  for (std::size_t i = 0; i < part.size(); ++i) {
    const double weight =
        static_cast<double>(norm.weight[i]) + static_cast<double>(norm.weight_offset);
    part[i] = (part[i] - mean) * weight / divisor;
  }
}

// The parts of one token's stream before a layer.
class StreamOfToken {
 public:
  StreamOfToken(const Model& model, std::size_t token, ConstMatrix embedded, ConstMatrix unplaced)
      : model_(model), token_(token) {
    Vector position = doubles(embedded.row(token));
    Vector embedding = doubles(unplaced.row(token));
    std::ranges::transform(position, embedding, position.begin(), std::minus());
    add({LogitPartKind::kEmbedding, 0, 0}, std::move(embedding));
    if (std::ranges::any_of(position, [](double one) { return one != 0.0; })) {
      add({LogitPartKind::kPosition, 0, 0}, std::move(position));
    }
  }

  void take_contexts(std::size_t layer, ConstMatrix z) {
    const LayerWeights& weights = model_.layers[layer];
    if (!adds_stream_first(model_, layer) && !changes_branches(weights)) {
      parts.clear();
      vectors.clear();
    }
    of_layer_ = parts.size();
    const std::vector<StoredMatrix> outputs = head_outputs(weights);
    std::size_t first = 0;
    for (std::size_t head = 0; head < weights.heads.size(); ++head) {
      const std::size_t count = weights.heads[head].d_value();
      add({LogitPartKind::kHead, layer, head},
          times(doubles(z.row(token_).subspan(first, count)), to_floats(outputs[head]).view()));
      first += count;
    }
    if (!weights.output.bias.empty()) {
      add({LogitPartKind::kOutputBias, layer, 0}, doubles(weights.output.bias));
    }
  }

  void take_states(std::size_t layer, ConstMatrix s) {
    add({part_of(model_.layers[layer]), layer, 0}, doubles(s.row(token_)));
  }

  // The heads' parts pass the norm and are scaled; another mixer is a part of its own.
  void take_attention(std::size_t layer, ConstMatrix a) {
    const LayerWeights& weights = model_.layers[layer];
    if (weights.heads.empty()) {
      of_layer_ = parts.size();
      add({part_of(weights), layer, 0}, doubles(a.row(token_)));
    }
    const Norm& norm = weights.after_attention_norm;
    const double divisor = norm_numbers(norm, a.row(token_)).divisor;
    for (std::size_t i = of_layer_; i < vectors.size(); ++i) {
      pass_norm(norm, divisor, vectors[i]);
    }
    if (!norm.bias.empty()) {
      if (weights.output.bias.empty()) {
        add({LogitPartKind::kOutputBias, layer, 0}, Vector(norm.bias.size()));
      }
      add_to(vectors.back(), norm.bias);
    }
    scale_from(of_layer_, static_cast<double>(weights.branch_scale));
  }

  void take_mlp(std::size_t layer, ConstMatrix y) {
    const LayerWeights& weights = model_.layers[layer];
    const Norm& norm = weights.after_mlp_norm;
    Vector part = doubles(y.row(token_));
    pass_norm(norm, norm_numbers(norm, y.row(token_)).divisor, part);
    add_to(part, norm.bias);
    add({LogitPartKind::kMlp, layer, 0}, std::move(part));
    scale_from(vectors.size() - 1, static_cast<double>(weights.branch_scale));
    if (!weights.input.present()) {
      scale_from(0, static_cast<double>(weights.result_scale));
    }
  }

  // For layers that add inputs of their own: the stream before the MLP, and after the layer.
  void take_middle(ConstMatrix x) { middle_ = doubles(x.row(token_)); }
  void take_result(std::size_t layer, ConstMatrix x) {
    const auto scale = static_cast<double>(model_.layers[layer].result_scale);
    Vector part = doubles(x.row(token_));
    for (std::size_t i = 0; i < part.size(); ++i) {
      part[i] = part[i] / scale - middle_[i] - vectors.back()[i];
    }
    add({LogitPartKind::kLayerInput, layer, 0}, std::move(part));
    scale_from(0, scale);
  }

  // Turns each part into its share of the head's query, or of its key.
  void read(const HeadId head, const HeadSide& side, std::span<const float> x,
            const Rotation& rotation) {
    const LayerWeights& layer = model_.layers[head.layer];
    const Latents& latents = layer.latents;
    const Projection& down = side.is_query ? latents.query_down : latents.key_down;
    const Norm& down_norm = side.is_query ? latents.query_norm : latents.key_norm;
    const Norm norm = norms_first(model_, head.layer) ? layer.attention_norm : Norm{};
    const double divisor = norm_numbers(norm, x).divisor;
    for (Vector& part : vectors) {
      pass_norm(norm, divisor, part);
    }
    const std::array biases = {norm.bias, down.bias, down_norm.bias, side.projection.bias,
                               side.norm.bias};
    if (!std::ranges::all_of(biases, &std::span<const float>::empty)) {
      add({LogitPartKind::kBias, head.layer, head.head}, Vector(x.size()));
      add_to(vectors.back(), norm.bias);
    }
    if (!down.weight.empty()) {
      project(down);
      pass_own_norm(down_norm, {});
    }
    project(side.projection);
    if (!side.norms_turned) {
      pass_own_norm(side.norm, side.joint_factors);
    }
    const Rope* const rope = layer.rope.get();
    for (Vector& part : vectors) {
      turn(head, rotation, part);
    }
    if (side.norms_turned) {
      pass_own_norm(side.norm, side.joint_factors);
    }
    scale_from(0, side.is_query && rope != nullptr ? rope->query_factor(token_) : 1.0);
  }

  std::vector<StreamPart> parts;
  std::vector<Vector> vectors;  // [d_model] each; after read() [d_head]

 private:
  void add(const StreamPart& part, Vector vector) {
    parts.push_back(part);
    vectors.push_back(std::move(vector));
  }

  void scale_from(std::size_t first, double factor) {
    for (std::size_t i = first; i < vectors.size() && factor != 1.0; ++i) {
      std::ranges::transform(vectors[i], vectors[i].begin(),
                             [factor](double one) { return one * factor; });
    }
  }

  // Numbers of a part beyond the rows of the matrix are kept, after the product.
  void project(const Projection& projection) {
    const MatrixBuffer weights = to_floats(projection.weight);
    for (Vector& part : vectors) {
      Vector made = times(part, weights.view());
      made.insert(made.end(), part.begin() + static_cast<std::ptrdiff_t>(projection.d_in()),
                  part.end());
      part = std::move(made);
    }
    add_to(vectors.back(), projection.bias);  // the biases' part, if present
  }

  // Norms the first numbers, as many as the norm has weights; uses the token's own factor if one
  // root covers all heads.
  void pass_own_norm(const Norm& norm, std::span<const float> joint) {
    if (!norm.present()) {
      return;
    }
    std::vector<float> whole;
    for (std::size_t i = 0; i < norm.weight.size(); ++i) {
      whole.push_back(static_cast<float>(
          std::accumulate(vectors.begin(), vectors.end(), 0.0,
                          [i](double sum, const Vector& part) { return sum + part[i]; })));
    }
    const double divisor = joint.empty() ? norm_numbers(norm, whole).divisor
                                         : 1.0 / static_cast<double>(joint.front());
    for (Vector& part : vectors) {
      pass_norm(norm, divisor, std::span(part).first(norm.weight.size()));
    }
    add_to(vectors.back(), norm.bias);  // the biases' part, if the norm has one
  }

  void turn(const HeadId head, const Rotation& rotation, Vector& x) const {
    const Rope* rope = model_.layers[head.layer].rope.get();
    const std::vector<double> frequencies = rotation.frequencies(x.size());
    const double length = rope == nullptr ? 1.0 : static_cast<double>(rope->magnitude);
    const std::span<double> turning = std::span(x).subspan(rope == nullptr ? 0 : rope->n_still);
    for (std::size_t pair = 0; pair < frequencies.size(); ++pair) {
      const auto [first, second] = kernels::rope_pair(
          rope == nullptr ? RopePairing::kHalves : rope->pairing, pair, frequencies.size());
      const double angle = static_cast<double>(token_) * frequencies[pair];
      const double cosine = length * std::cos(angle);
      const double sine = length * std::sin(angle);
      const double before = turning[first];
      turning[first] = before * cosine - turning[second] * sine;
      turning[second] = before * sine + turning[second] * cosine;
    }
  }

  const Model& model_;
  std::size_t token_;
  Vector middle_;             // the stream before the MLP
  std::size_t of_layer_ = 0;  // where the parts that the layer's heads added begin
};

// Follows both tokens up to the head's layer.
class ScoreParts : public RunObserver {
 public:
  ScoreParts(const Model& model, HeadId head, std::size_t query, std::size_t key,
             std::array<StreamOfToken, 2>& streams)
      : model_(model), head_(head), query_(query), key_(key), streams_(streams) {}

  bool wants(std::size_t layer, LayerStep step) const override {
    if (layer >= head_.layer) {
      return layer == head_.layer && step == LayerStep::kBefore;
    }
    const LayerWeights& weights = model_.layers[layer];
    return step == LayerStep::kContexts || (step == LayerStep::kMlp && weights.has_mlp()) ||
           (step == LayerStep::kAttention && weights.mixer() != MixerKind::kNone &&
            (changes_branches(weights) || weights.heads.empty())) ||
           step == LayerStep::kStates ||
           (step >= LayerStep::kMiddle && model_.layers[layer].input.present());
  }
  void contexts(const RunPlace& at, Matrix z) override {
    for (StreamOfToken& stream : streams_) {
      stream.take_contexts(at.layer, z);
    }
  }
  void states(const RunPlace& at, ConstMatrix s) override {
    for (StreamOfToken& stream : streams_) {
      stream.take_states(at.layer, s);
    }
  }
  void attention(const RunPlace& at, Matrix a) override {
    for (StreamOfToken& stream : streams_) {
      stream.take_attention(at.layer, a);
    }
  }
  void mlp(const RunPlace& at, Matrix y) override {
    for (StreamOfToken& stream : streams_) {
      stream.take_mlp(at.layer, y);
    }
  }
  void stream(const RunPlace& at, ConstMatrix x) override {
    for (StreamOfToken& stream : streams_) {
      if (at.step == LayerStep::kMiddle) {
        stream.take_middle(x);
      } else if (at.step == LayerStep::kAfter) {
        stream.take_result(at.layer, x);
      }
    }
    if (at.step == LayerStep::kBefore) {
      read_head(x);
    }
  }

 private:
  void read_head(ConstMatrix x) {
    const LayerWeights& layer = model_.layers[head_.layer];
    const HeadWeights& head = layer.heads[head_.head];
    const Rotation rotation(model_, layer, x.rows);
    const JointFactors of_query = joint_factors_of(x.row(query_));
    const JointFactors of_key = joint_factors_of(x.row(key_));
    const bool turned = layer.norms_turned_heads;
    streams_[0].read(head_,
                     {head.query, layer.query_norm_of(head_.head), true, of_query.queries, turned},
                     x.row(query_), rotation);
    streams_[1].read(head_, {head.key, layer.key_norm_of(head_.head), false, of_key.keys, turned},
                     x.row(key_), rotation);
  }

  JointFactors joint_factors_of(std::span<const float> x) const {
    const LayerWeights& layer = model_.layers[head_.layer];
    MatrixBuffer look(1, x.size());
    apply_norm(norms_first(model_, head_.layer) ? layer.attention_norm : Norm{},
               {x.data(), 1, x.size(), x.size()}, look.view());
    return joint_factors(layer, std::as_const(look).view(), 1);
  }

  const Model& model_;
  HeadId head_;
  std::size_t query_, key_;
  std::array<StreamOfToken, 2>& streams_;
};

// Layer 0's input without positions; the full input if a norm follows.
MatrixBuffer embed_unplaced(const Model& model, const ModelInput& input) {
  Model unplaced = model;
  if (!model.embedding_norm.present()) {
    unplaced.position_embeddings = {};
    unplaced.config.positions = Positions::kNone;
  }
  return embed(unplaced, input);
}

}  // namespace

ScoreSplit split_score(const Model& model, const TokenizedText& text,
                       const AttentionRequest& request, HeadId head, std::size_t query,
                       std::size_t key) {
  const InputColumns columns(text);
  const ModelInput input = columns.view();
  check_request(model, input, request);
  require_token(std::max(query, key), input.size());
  if (model.config.order == LayerOrder::kPostNorm) {
    throw Error(
        ErrorKind::kUnsupported,
        fmt::format("{}: its layers end in norms, so a score is not the sum of their outputs",
                    model.config.name));
  }
  require_one_stream(model, "so a score is not the sum of their outputs");
  if (const auto from = model.layers[head.layer].keys_from) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}: layer {} uses the keys of layer {}, so a score is not a product "
                            "of two parts of its own stream",
                            model.config.name, head.layer, *from));
  }
  const MatrixBuffer embedded = embed(model, input);
  const MatrixBuffer unplaced = embed_unplaced(model, input);
  std::array streams = {StreamOfToken(model, query, embedded.view(), unplaced.view()),
                        StreamOfToken(model, key, embedded.view(), unplaced.view())};
  ScoreParts run_parts(model, head, query, key, streams);
  run(model, input, request, run_parts);

  const RowRule rule = row_rule(model, head, request);
  const std::size_t distance = std::max(query, key) - std::min(query, key);
  ScoreSplit split;
  split.position_bias =
      0.0 - static_cast<double>(rule.distance_penalty) * static_cast<double>(distance);
  for (const Vector& q : streams[0].vectors) {
    for (const Vector& k : streams[1].vectors) {
      split.products.push_back(static_cast<double>(rule.factor) *
                               std::inner_product(q.begin(), q.end(), k.begin(), 0.0));
    }
  }
  split.query_parts = std::move(streams[0].parts);
  split.key_parts = std::move(streams[1].parts);
  const std::array heads = {head};
  const std::vector<Inspection> seen = inspect_heads(model, input, request, heads, query, false);
  const Inspection& own = seen.front();
  split.score = static_cast<double>(own.scaled[key]) +
                (own.bias.empty() ? 0.0 : static_cast<double>(own.bias[key]));
  split.weight = static_cast<double>(own.weights[key]);
  split.is_visible = own.is_visible(key);
  return split;
}

}  // namespace attnviz
