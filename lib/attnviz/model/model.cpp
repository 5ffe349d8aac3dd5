#include "attnviz/model/model.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numbers>
#include <optional>
#include <utility>

#include "attnviz/core/choices.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/kernels/products.h"
#include "attnviz/kernels/row_kernels.h"
#include "attnviz/kernels/stored_numbers.h"
#include "attnviz/model/different_projections.h"
#include "attnviz/model/mixers.h"
#include "attnviz/model/random_model.h"
#include "attnviz/model/transformer_parts.h"

namespace attnviz {

std::string_view positions_name(Positions positions) noexcept {
  return positions == Positions::kLearned    ? "learned"
         : positions == Positions::kRelative ? "relative"
                                             : word_for(kPositionChoices, positions);
}

Positions parse_positions(std::string_view name) {
  if (const auto positions = choice_named(kPositionChoices, name)) {
    return *positions;
  }
  throw Error(ErrorKind::kUsage,
              fmt::format("positions {}: expected none, sinusoidal, rope or alibi{}",
                          in_quotes(name), did_you_mean(name, choice_words(kPositionChoices))));
}

std::vector<std::size_t> key_value_heads(const LayerWeights& layer) {
  DifferentProjections keys;
  DifferentProjections values;
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> different;
  std::vector<std::size_t> numbers;
  numbers.reserve(layer.heads.size());
  for (const HeadWeights& head : layer.heads) {
    const std::pair places(keys.add(head.key), values.add(head.value));
    numbers.push_back(different.try_emplace(places, different.size()).first->second);
  }
  return numbers;
}

std::vector<std::size_t> context_columns(const LayerWeights& layer) {
  std::vector<std::size_t> columns = {0};
  columns.reserve(layer.heads.size() + 1);
  for (const HeadWeights& head : layer.heads) {
    columns.push_back(columns.back() + head.d_value());
  }
  return columns;
}

std::vector<StoredMatrix> head_outputs(const LayerWeights& layer) {
  std::vector<StoredMatrix> outputs;
  outputs.reserve(layer.heads.size());
  std::size_t first_row = 0;
  for (const HeadWeights& head : layer.heads) {
    outputs.push_back(layer.output.weight.empty()
                          ? head.output
                          : layer.output.weight.row_block(first_row, head.d_value()));
    first_row += head.d_value();
  }
  return outputs;
}

namespace {

// The part of a norm that belongs to one of several heads.
Norm part_of(const Norm& norm, std::size_t head, std::size_t d_head) noexcept {
  if (norm.weight.size() <= d_head) {
    return norm;
  }
  Norm part = norm;
  part.weight = norm.weight.subspan(head * d_head, d_head);
  part.bias = norm.bias.empty() ? norm.bias : norm.bias.subspan(head * d_head, d_head);
  return part;
}

}  // namespace

Norm LayerWeights::query_norm_of(std::size_t head) const noexcept {
  return part_of(query_norm, head, heads[head].d_head());
}

Norm LayerWeights::key_norm_of(std::size_t head) const noexcept {
  const std::size_t d_head = heads[head].d_head();
  const std::size_t n_kv_heads = std::max(key_norm.weight.size() / d_head, std::size_t{1});
  return part_of(key_norm, head * n_kv_heads / heads.size(), d_head);
}

MixerKind LayerWeights::mixer() const noexcept {
  return !heads.empty()          ? MixerKind::kAttention
         : convolution.present() ? MixerKind::kConvolution
                                 : recurrence.kind;
}

void Model::set_name(std::string name, std::string family) {
  if (encoder != nullptr) {
    Model named = *encoder;
    named.set_name(name, family);
    encoder = std::make_shared<const Model>(std::move(named));
  }
  config.name = std::move(name);
  config.family = std::move(family);
}

std::size_t Model::n_heads() const noexcept {
  std::size_t most = 0;
  for (const LayerWeights& layer : layers) {
    most = std::max(most, layer.heads.size());
  }
  return most;
}

const LayerWeights& Model::first_attention() const noexcept {
  const auto found = std::find_if(layers.begin(), layers.end(),
                                  [](const LayerWeights& layer) { return !layer.heads.empty(); });
  return found == layers.end() ? layers.front() : *found;
}

bool Model::shares_keys() const noexcept {
  return std::any_of(layers.begin(), layers.end(),
                     [](const LayerWeights& layer) { return layer.keys_from.has_value(); });
}

std::set<std::size_t> Model::lending_layers() const {
  std::set<std::size_t> lending;
  for (const LayerWeights& layer : layers) {
    if (layer.keys_from) {
      lending.insert(*layer.keys_from);
    }
  }
  return lending;
}

bool Model::has_states() const noexcept {
  return std::any_of(layers.begin(), layers.end(),
                     [](const LayerWeights& layer) { return layer.recurrence.present(); });
}

std::string_view mixer_name(MixerKind kind) noexcept {
  switch (kind) {
    case MixerKind::kAttention:
      return "attention";
    case MixerKind::kConvolution:
      return "convolution";
    case MixerKind::kGatedDelta:
      return "gated delta net";
    case MixerKind::kMamba2:
      return "Mamba-2";
    case MixerKind::kNone:
      break;
  }
  return "MLP";
}

std::string_view mixer_phrase(MixerKind kind) noexcept {
  switch (kind) {
    case MixerKind::kConvolution:
      return "a convolution";
    case MixerKind::kGatedDelta:
      return "a gated delta net";
    case MixerKind::kNone:
      return "an MLP alone";
    case MixerKind::kAttention:
    case MixerKind::kMamba2:
      break;
  }
  return mixer_name(kind);
}

void apply_norm(const Norm& norm, ConstMatrix x, Matrix out) noexcept {
  if (!norm.present()) {
    for (std::size_t row = 0; row < x.rows && x.data != out.data; ++row) {
      std::copy_n(x.row_data(row), x.cols, out.row_data(row));
    }
  } else if (norm.kind == NormKind::kLayer) {
    kernels::layer_norm(x, norm.weight, norm.bias, norm.epsilon, out);
  } else {
    kernels::rms_norm(x, norm.weight, norm.weight_offset, norm.epsilon, out);
  }
}

namespace {

// Combines blocks as GGUF stores them: the scale, then bytes with number i in the lower and number
// i + 16 in the upper half.
StoredMatrix brought_together(const SplitBlocks& split, const StoredMatrix& shape,
                              std::vector<std::uint8_t>& memory) {
  constexpr std::size_t kHalf = 16;
  const BlockShape block = stored_block(StoredType::kMXFP4);
  const std::size_t n_blocks = shape.rows * shape.cols / block.numbers;
  memory.resize(n_blocks * block.bytes);
  for (std::size_t i = 0; i < n_blocks; ++i) {
    const std::uint8_t* const from = split.blocks + i * split.block_step;
    std::uint8_t* const to = memory.data() + i * block.bytes;
    to[0] = split.scales[i * split.scale_step];
    for (std::size_t pair = 0; pair < kHalf / 2; ++pair) {
      const unsigned low = from[pair];
      const unsigned high = from[kHalf / 2 + pair];
      to[1 + 2 * pair] = static_cast<std::uint8_t>((low & 0x0FU) | (high & 0x0FU) << 4U);
      to[2 + 2 * pair] = static_cast<std::uint8_t>(low >> 4U | (high & 0xF0U));
    }
  }
  StoredMatrix matrix = shape;
  matrix.data = memory.data();
  return matrix;
}

}  // namespace

Mlp Experts::at(std::size_t expert, Memory& memory) const {
  Mlp mlp = each[expert];
  if (!split_up.empty()) {
    mlp.up.weight = brought_together(split_up[expert], mlp.up.weight, memory.up);
    mlp.down.weight = brought_together(split_down[expert], mlp.down.weight, memory.down);
  }
  return mlp;
}

// From pieces of text to the residual stream that enters layer 0.

namespace {

void copy_inputs(const Model& model, Matrix out) {
  if (model.inputs.rows != out.rows) {
    const std::string expected = counted(model.inputs.rows, "token");
    const std::string own =
        model.text.empty() ? "" : fmt::format(", such as its own, {}", in_quotes(model.text));
    throw Error(
        ErrorKind::kUsage,
        fmt::format("{}: \"inputs\" has vectors for {}, but the text has {}: give a text of {}{}, "
                    "or replace \"inputs\" by \"embeddings\", a vector for each token",
                    model.config.name, expected, out.rows, expected, own));
  }
  for (std::size_t i = 0; i < out.rows; ++i) {
    std::copy_n(model.inputs.row_data(i), out.cols, out.row_data(i));
  }
}

[[noreturn]] void fail_unknown(const Model& model, std::string_view piece) {
  throw Error(
      ErrorKind::kUsage,
      fmt::format("{}: no embedding for the token {}{}: add it to \"embeddings\", or "
                  "set \"unknown\" to \"random\"",
                  model.config.name, in_quotes(piece), did_you_mean(piece, model.vocabulary)));
}

// The embedding row of each piece that has one. An index of the text's pieces, not of the
// vocabulary, which may hold a million pieces.
using Rows = std::map<std::string_view, std::optional<std::size_t>>;

Rows find_rows(const Model& model, std::span<const std::string_view> pieces) {
  Rows rows;
  for (const std::string_view piece : pieces) {
    rows.emplace(piece, std::nullopt);
  }
  for (std::size_t i = 0; i < model.vocabulary.size(); ++i) {
    if (const auto found = rows.find(model.vocabulary[i]); found != rows.end()) {
      found->second = i;
    }
  }
  return rows;
}

void look_up(const Model& model, std::span<const std::string_view> pieces, Matrix out) {
  const Rows rows = find_rows(model, pieces);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (const auto row = rows.at(pieces[i])) {
      copy_row(model.embeddings, *row, out.row(i));
    } else if (model.random_unknown) {
      random_embedding(model.config.seed, pieces[i], out.row(i));
    } else {
      fail_unknown(model, pieces[i]);
    }
  }
}

void check_length(const Model& model, std::size_t n_tokens) {
  if (model.config.is_too_long(n_tokens)) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format("{}: the text has {}, but the model's context is {} tokens: shorten it or "
                    "use a model with a longer context",
                    model.config.name, counted(n_tokens, "token"), model.config.n_ctx),
        "n_ctx");
  }
}

// Adds row `index` of a table.
void add_row(const StoredMatrix& table, std::size_t index, std::span<float> scratch,
             std::span<float> out) noexcept {
  copy_row(table, index, scratch);
  std::transform(out.begin(), out.end(), scratch.begin(), out.begin(), std::plus<>());
}

void copy_embedding(const Model& model, std::uint32_t id, std::span<float> out) {
  const Projection& projection = model.embedding_projection;
  if (projection.weight.empty()) {
    return copy_row(model.embeddings, id, out);
  }
  std::vector<float> narrow(projection.d_in());
  copy_row(model.embeddings, id, narrow);
  kernels::matmul({narrow.data(), 1, narrow.size(), narrow.size()}, projection.weight,
                  projection.bias, {out.data(), 1, out.size(), out.size()});
}

// Looks up the embeddings of a transformer.
void look_up_ids(const Model& model, const ModelInput& input, Matrix out) {
  if (input.ids.size() != out.rows ||
      (!input.segments.empty() && input.segments.size() != out.rows)) {
    throw Error(ErrorKind::kUsage,
                fmt::format("{}: expected a token id, and a segment if any, for each token",
                            model.config.name));
  }
  std::vector<float> row(out.cols);
  std::size_t position = model.first_position + input.first_position;  // of the next token
  for (std::size_t i = 0; i < input.ids.size(); ++i) {
    if (input.ids[i] >= model.embeddings.rows) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("{}: token id {}: the model has {}", model.config.name, input.ids[i],
                              counted(model.embeddings.rows, "token")));
    }
    const std::span<float> sum = out.row(i);
    copy_embedding(model, input.ids[i], sum);
    if (model.embedding_scale != 1.0f) {
      kernels::scale(sum, model.embedding_scale);
    }
    if (!model.position_embeddings.empty()) {
      const bool counts = input.ids[i] != model.no_position;
      add_row(model.position_embeddings, counts ? position++ : model.first_position - 1, row, sum);
    }
    if (!model.segment_embeddings.empty()) {
      const std::size_t segment = input.segments.empty() ? 0 : input.segments[i];
      if (segment >= model.segment_embeddings.rows) {
        throw Error(ErrorKind::kUsage,
                    fmt::format("{}: segment {}: the model has {}", model.config.name, segment,
                                counted(model.segment_embeddings.rows, "segment")));
      }
      add_row(model.segment_embeddings, segment, row, sum);
    }
  }
  apply_norm(model.embedding_norm, out, out);
}

// Columns 2i and 2i + 1 hold the sine and the cosine of position / 10000^(2i / d_model); with
// `sines_first`, columns i and ⌈d_model / 2⌉ + i.
void add_sinusoidal_positions(std::size_t first_position, bool sines_first, Matrix out) {
  const std::size_t n_sines = (out.cols + 1) / 2;
  for (std::size_t col = 0; col < out.cols; ++col) {
    const bool is_sine = sines_first ? col < n_sines : col % 2 == 0;
    const std::size_t pair = sines_first ? col - (is_sine ? 0 : n_sines) : col / 2;
    const double exponent = static_cast<double>(2 * pair) / static_cast<double>(out.cols);
    const double frequency = std::pow(10000.0, -exponent);
    for (std::size_t row = 0; row < out.rows; ++row) {
      const double angle = static_cast<double>(first_position + row) * frequency;
      out(row, col) += static_cast<float>(is_sine ? std::sin(angle) : std::cos(angle));
    }
  }
}

}  // namespace

std::vector<std::string_view> random_pieces(const Model& model,
                                            std::span<const std::string_view> pieces) {
  std::vector<std::string_view> found;
  if (model.config.is_transformer() || !model.inputs.empty() || !model.random_unknown) {
    return found;
  }
  Rows rows = find_rows(model, pieces);
  for (const std::string_view piece : pieces) {
    // Erased, so that each piece is listed once.
    if (const auto row = rows.find(piece); row != rows.end() && !row->second) {
      found.push_back(piece);
      rows.erase(row);
    }
  }
  return found;
}

MatrixBuffer embed_for_layers(const Model& model, const ModelInput& input, ConstMatrix stream) {
  const LayerEmbeddings& own = model.layer_embeddings;
  if (!own.present()) {
    return {};
  }
  const std::size_t width = own.norm.weight.size();
  const float of_stream = 1.0f / std::sqrt(static_cast<float>(stream.cols));
  const float of_row = std::sqrt(static_cast<float>(width));
  MatrixBuffer inputs(stream.rows, own.table.cols);
  std::vector<float> row(own.table.cols);
  kernels::matmul(stream, own.projection.weight, own.projection.bias, inputs.view());
  for (std::size_t token = 0; token < stream.rows; ++token) {
    const std::span<float> all = inputs.view().row(token);
    kernels::scale(all, of_stream);
    const Matrix by_layer{all.data(), all.size() / width, width, width};
    apply_norm(own.norm, by_layer, by_layer);
    copy_row(own.table, input.ids[token] < own.table.rows ? input.ids[token] : 0, row);
    std::transform(all.begin(), all.end(), row.begin(), all.begin(),
                   [of_row](float x, float number) {
                     return (x + of_row * number) * std::numbers::sqrt2_v<float> / 2.0f;
                   });
  }
  return inputs;
}

MatrixBuffer embed(const Model& model, const ModelInput& input) {
  check_length(model, input.first_position + input.size());
  MatrixBuffer stream(input.size(), model.config.d_model);
  if (model.config.is_transformer()) {
    look_up_ids(model, input, stream.view());
  } else if (model.inputs.empty()) {
    look_up(model, input.pieces, stream.view());
  } else {
    copy_inputs(model, stream.view());
  }
  if (model.config.positions == Positions::kSinusoidal) {
    add_sinusoidal_positions(input.first_position, model.sines_first, stream.view());
  }
  return stream;
}

}  // namespace attnviz
