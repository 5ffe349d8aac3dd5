#include "attnviz/analysis/heads/fingerprint.h"

#include <fmt/core.h>

#include <bit>
#include <vector>

#include "attnviz/kernels/stored_numbers.h"

namespace attnviz {

namespace {

void absorb(RandomBits& bits, std::string_view text) {
  bits.absorb(text.size());
  for (const char sign : text) {
    bits.absorb(static_cast<unsigned char>(sign));
  }
}

void absorb(RandomBits& bits, const StoredMatrix& matrix) {
  bits.absorb(matrix.rows);
  bits.absorb(matrix.cols);
  if (matrix.empty()) {
    return;
  }
  std::vector<float> row(matrix.cols);
  copy_row(matrix, 0, row);
  for (const float number : row) {
    bits.absorb(std::bit_cast<std::uint32_t>(number));
  }
}

// Of parts that some models have.
void absorb_if_there(RandomBits& bits, const StoredMatrix& matrix) {
  if (!matrix.empty()) {
    absorb(bits, matrix);
  }
}

std::string digits(const RandomBits& bits) {
  return fmt::format("{:016x}", bits[0]);
}

}  // namespace

std::string model_fingerprint(const Model& model) {
  RandomBits bits({});
  absorb(bits, model.config.family);
  bits.absorb(model.config.seed);
  absorb(bits, model.embeddings);
  for (const StoredMatrix& part :
       {model.position_embeddings, model.layer_embeddings.table,
        model.layer_embeddings.projection.weight, model.embedding_projection.weight}) {
    absorb_if_there(bits, part);
  }
  for (const LayerWeights& layer : model.layers) {
    for (const HeadWeights& head : layer.heads) {
      absorb(bits, head.query.weight);
      absorb(bits, head.key.weight);
      absorb(bits, head.value.weight);
      absorb(bits, head.output);
      absorb(bits, head.output_gate.weight);
    }
    for (const std::span<const float> numbers : {layer.sinks, layer.recurrence.rate}) {
      for (const float number : numbers) {
        bits.absorb(std::bit_cast<std::uint32_t>(number));
      }
    }
    for (const PlacedProjection& part : layer.recurrence.in) {
      absorb(bits, part.projection.weight);
    }
    absorb(bits, layer.recurrence.out.weight);
    if (layer.latents.present()) {
      absorb(bits, layer.latents.query_down.weight);
      absorb(bits, layer.latents.key_down.weight);
    }
    for (const StoredMatrix& part :
         {layer.convolution.in.weight, layer.convolution.kernel_rows(),
          layer.convolution.out.weight, layer.input.gate.weight, layer.input.projection.weight,
          layer.laurel.left.weight, layer.laurel.right.weight, layer.altup.router.weight,
          layer.altup.prediction.weight, layer.altup.correction.weight,
          layer.experts.shared_gate.weight, layer.experts.latent_in.weight,
          layer.experts.latent_out.weight}) {
      absorb_if_there(bits, part);
    }
    absorb(bits, layer.output.weight);
    absorb(bits, layer.mlp.up.weight);
    absorb(bits, layer.mlp.gate.weight);
    absorb(bits, layer.mlp.down.weight);
    absorb(bits, layer.experts.router.gate.weight);
    Experts::Memory memory;
    for (std::size_t i = 0; i < layer.experts.each.size(); ++i) {
      const Mlp expert = layer.experts.at(i, memory);
      absorb(bits, expert.up.weight);
      absorb(bits, expert.gate.weight);
      absorb(bits, expert.down.weight);
    }
  }
  return digits(bits);
}

std::string tokenizer_fingerprint(const Tokenizer& tokenizer) {
  RandomBits bits({});
  absorb(bits, tokenizer.name());
  if (const auto* const own = dynamic_cast<const ModelTokenizer*>(&tokenizer)) {
    for (std::size_t id = 0; id < own->vocabulary_size(); ++id) {
      absorb(bits, own->piece(static_cast<TokenId>(id)));
    }
  }
  return digits(bits);
}

void LinesRead::add(std::string_view line) noexcept {
  absorb(bits_, line);
  ++count_;
}

std::string LinesRead::fingerprint() const {
  return digits(bits_);
}

}  // namespace attnviz
