#include "attnviz/analysis/heads/probe.h"

#include <fmt/core.h>

#include <bit>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/core/random_bits.h"
#include "attnviz/kernels/stored_numbers.h"

namespace attnviz {

namespace {

constexpr std::uint64_t kName = 0x70726f6265;  // "probe": keeps other random numbers of the seed
                                               // apart

Token plain_token(TokenId id, std::string piece) {
  Token token;
  token.id = id;
  token.text = std::move(piece);
  return token;
}

std::vector<Token> of_tokenizer(const Model& model, const ModelTokenizer& tokenizer) {
  const std::size_t n = std::min<std::size_t>(tokenizer.vocabulary_size(), model.embeddings.rows);
  std::vector<Token> tokens;
  for (std::size_t i = n / 10; i < n - n / 4; ++i) {
    const auto id = static_cast<TokenId>(i);
    std::string piece = tokenizer.piece(id);
    if (!tokenizer.is_special(id) && !piece.empty()) {
      tokens.push_back(plain_token(id, std::move(piece)));
    }
  }
  return tokens;
}

// For a model whose tokenizer cannot be read, or that has none.
std::vector<Token> of_model(const Model& model, std::size_t length) {
  std::vector<Token> tokens;
  if (model.config.is_transformer()) {
    const std::size_t n = model.embeddings.rows;
    for (std::size_t i = n / 10; i < n - n / 4; ++i) {
      tokens.push_back(plain_token(static_cast<TokenId>(i), fmt::format("{}", i)));
    }
    return tokens;
  }
  for (const std::string& piece : model.vocabulary) {
    tokens.push_back(plain_token(static_cast<TokenId>(tokens.size()), piece));
  }
  for (std::size_t i = 0; model.random_unknown && tokens.size() < length; ++i) {
    tokens.push_back(plain_token(static_cast<TokenId>(tokens.size()), fmt::format("token{}", i)));
  }
  return tokens;
}

void check_shape(const Model& model, const ProbeShape& shape, std::size_t n_candidates,
                 std::size_t n_tokens) {
  if (n_candidates < shape.length) {
    throw Error(ErrorKind::kUsage,
                fmt::format("a test on {} different tokens: {} has only {}; choose a shorter one",
                            shape.length, model.config.name, n_candidates),
                "probe length");
  }
  if (model.config.is_too_long(n_tokens)) {
    throw Error(ErrorKind::kUsage,
                fmt::format("a test on {} tokens: {} takes at most {}; choose a shorter one",
                            n_tokens, model.config.name, model.config.n_ctx),
                "probe length");
  }
}

}  // namespace

std::vector<TokenizedText> make_probes(const Model& model, const ModelTokenizer* tokenizer,
                                       const ProbeShape& shape) {
  if (!model.inputs.empty()) {
    throw Error(ErrorKind::kUsage,
                model.config.name +
                    ": heads cannot be identified, because the model has no vocabulary from which "
                    "to draw random tokens; for their scores, give its own text");
  }
  std::vector<Token> candidates =
      tokenizer == nullptr ? of_model(model, shape.length) : of_tokenizer(model, *tokenizer);
  TokenizedText beginning;
  if (tokenizer != nullptr && shape.bos) {
    const SpecialIds& ids = tokenizer->special_ids();
    if (const auto first = ids.bos ? ids.bos : ids.cls) {
      Token token = plain_token(*first, tokenizer->piece(*first));
      token.special = token.added = true;
      beginning.tokens.push_back(std::move(token));
    }
  }
  const std::size_t n_tokens =
      beginning.size() + checked_product({shape.length, shape.repeats}, "a probe's tokens");
  check_shape(model, shape, candidates.size(), n_tokens);
  std::vector<TokenizedText> probes;
  for (std::size_t probe = 0; probe < shape.count; ++probe) {
    const RandomBits bits({kName, shape.seed, probe});
    for (std::size_t i = 0; i < shape.length; ++i) {  // Fisher and Yates, as far as needed
      std::swap(candidates[i], candidates[i + bits[i] % (candidates.size() - i)]);
    }
    TokenizedText text = beginning;
    for (std::size_t i = 0; i < shape.length * shape.repeats; ++i) {
      text.tokens.push_back(candidates[i % shape.length]);
    }
    probes.push_back(std::move(text));
  }
  return probes;
}

ScoredTokens probe_tokens(const TokenizedText& probe, const ProbeShape& shape, std::size_t band) {
  ScoredTokens::Options options;
  options.band = band;
  constexpr std::size_t kCopies = 2;
  if (shape.repeats == kCopies) {
    options.copied = {.begin = probe.size() - kCopies * shape.length, .size = shape.length};
  }
  return {probe.ids(), options};
}

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

// For parts that only some models have.
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
