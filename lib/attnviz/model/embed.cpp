// From pieces of text to the residual stream that enters layer 0.

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numbers>
#include <optional>

#include "attnviz/core/choices.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/kernels/matmul.h"
#include "attnviz/kernels/softmax.h"
#include "attnviz/kernels/stored_numbers.h"
#include "attnviz/model/model.h"
#include "attnviz/model/random_model.h"

namespace attnviz {

namespace {

void copy_inputs(const Model& model, Matrix out) {
  if (model.inputs.rows != out.rows) {
    const std::string expected = counted(model.inputs.rows, "token");
    const std::string own =
        model.text.empty() ? "" : fmt::format(", such as its own, {}", quoted(model.text));
    throw Error(
        ErrorKind::kUsage,
        fmt::format("{}: \"inputs\" is for {}, but the text has {}: give a text of {}{}, or "
                    "\"embeddings\" by token in place of \"inputs\"",
                    model.config.name, expected, out.rows, expected, own));
  }
  for (std::size_t i = 0; i < out.rows; ++i) {
    std::copy_n(model.inputs.row_data(i), out.cols, out.row_data(i));
  }
}

[[noreturn]] void fail_unknown(const Model& model, std::string_view piece) {
  throw Error(ErrorKind::kUsage,
              fmt::format("{}: no embedding for the token {}{}: add it to \"embeddings\", or "
                          "set \"unknown\" to \"random\"",
                          model.config.name, quoted(piece), did_you_mean(piece, model.vocabulary)));
}

// The embedding's row of each piece that has one. An index of the text's pieces, not of the
// vocabulary, which may hold a million.
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
        fmt::format("{}: the text has {}, but the model's context ends at {}: shorten it or "
                    "take a model with a longer context",
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

// Of a transformer.
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

// Columns 2i and 2i + 1 hold the sine and the cosine of position / 10000^(2i / d_model); or, where
// sines come first, columns i and ⌈d_model / 2⌉ + i.
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
    // Taken out when told, so that each is told once.
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
