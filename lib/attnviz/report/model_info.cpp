#include "attnviz/report/model_info.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/formats/gguf.h"
#include "attnviz/formats/llama_cpp_keys.h"
#include "attnviz/report/attention_facts.h"
#include "attnviz/report/run_facts.h"
#include "attnviz/report/words/number_formats.h"
#include "attnviz/report/words/words.h"

namespace attnviz {

namespace {

constexpr std::array kActivations = {Choice{"gelu", Activation::kGelu},
                                     Choice{"gelu (tanh)", Activation::kGeluTanh},
                                     Choice{"silu", Activation::kSilu},
                                     Choice{"relu", Activation::kRelu},
                                     Choice{"relu squared", Activation::kReluSquared},
                                     Choice{"tanh", Activation::kTanh},
                                     Choice{"sigmoid", Activation::kSigmoid}};

// The operations of a layer, in order.
constexpr std::array kOrders = {
    Choice{"attention, added to its input; no MLP", LayerOrder::kAttentionOnly},
    Choice{"norm, attention, add; norm, MLP, add (pre-norm)", LayerOrder::kPreNorm},
    Choice{"norm, attention and norm, MLP, both added together (parallel residual)",
           LayerOrder::kParallel},
    Choice{"attention, add, norm; MLP, add, norm (post-norm)", LayerOrder::kPostNorm}};

constexpr std::array kPositions = {
    Choice{"none", Positions::kNone},
    Choice{"sinusoidal, added to the embeddings", Positions::kSinusoidal},
    Choice{"RoPE: queries and keys are rotated", Positions::kRope},
    Choice{"ALiBi: scores fall with the distance", Positions::kAlibi}};

std::string norm_words(const Model& model) {
  const Norm* norm = any_norm(model);
  if (norm == nullptr) {
    return "none";
  }
  std::string text = fmt::format(
      "{}, epsilon {:g}", norm->kind == NormKind::kRms ? "RMS norm" : "layer norm", norm->epsilon);
  if (norm->weight_offset != 0.0f) {
    text += fmt::format(", weights stored less {:g}", norm->weight_offset);
  }
  if (model.layers.front().after_attention_norm.present()) {
    text += model.layers.front().attention_norm.present()
                ? "; the outputs of attention and MLP are normalised, too"
                : "; on the outputs of attention and MLP, not on their inputs";
  }
  return text;
}

std::string distance_words(const DistanceBias& bias) {
  return fmt::format("relative: a learned number for each distance, up to {}, is added to scores",
                     counted_large(bias.reach, "token"));
}

std::string position_words(const Model& model) {
  if (model.config.positions == Positions::kRelative && model.layers.front().distance_bias) {
    return distance_words(*model.layers.front().distance_bias);
  }
  if (model.config.positions != Positions::kLearned) {
    return std::string(word_for(kPositions, model.config.positions));
  }
  std::string text =
      fmt::format("learned, {}", counted_large(model.position_embeddings.rows, "row"));
  if (model.first_position != 0) {
    text += fmt::format(", the first token uses row {}", model.first_position);
  }
  return text;
}

// Empty unless the model is a transformer.
std::string output_words(const ModelInfo& info) {
  const OutputHead& head = info.model->head;
  if (!info.model->config.is_transformer()) {
    return "";
  }
  if (head.unembedding.weight.empty()) {
    return "none: the model does not predict tokens";
  }
  std::string text =
      info.shape.tied ? "tied: the token embeddings, transposed" : "a separate matrix (not tied)";
  if (!head.transform.weight.empty()) {
    text += ", after a linear map, an activation and a norm";
  }
  if (!head.projection.weight.empty()) {
    text += fmt::format(", after a projection to {}", grouped(head.projection.d_out()));
  }
  if (head.scale != 1.0f) {
    text += fmt::format(", logits times {}", decimal(head.scale));
  }
  if (head.soft_cap > 0.0f) {
    text += fmt::format(", logits capped at {}", decimal(head.soft_cap));
  }
  return text;
}

// One number, or the smallest and the largest if heads or layers differ.
std::string range_of(const ModelShape& shape, std::size_t HeadsShape::*number) {
  std::set<std::size_t> numbers;
  for (const LayerShape& layer : shape.layers) {
    for (const HeadsShape& heads : layer.heads) {
      numbers.insert(heads.*number);
    }
  }
  return numbers.size() == 1
             ? grouped(*numbers.begin())
             : fmt::format("{} to {}", grouped(*numbers.begin()), grouped(*numbers.rbegin()));
}

std::string vocabulary_words(const ModelInfo& info) {
  if (info.shape.n_vocab > 0) {
    return counted_large(info.shape.n_vocab, "token");
  }
  return info.model == nullptr ? "not counted: " + info.n_vocab_hint : "none: no token embeddings";
}

std::string head_words(const ModelShape& shape) {
  const LayerShape& layer = shape.first_attention();
  std::string text = fmt::format("{} per layer", grouped(layer.n_heads()));
  const auto is_as_first = [&layer](const LayerShape& other) {
    return other.n_heads() == layer.n_heads() && other.n_kv_heads() == layer.n_kv_heads();
  };
  if (!std::ranges::all_of(shape.layers, is_as_first)) {
    const bool is_first = &layer == &shape.layers.front();
    return text + (is_first ? " in the first layer; other layers differ"
                            : " in layers with attention; the others have none");
  }
  if (layer.n_kv_heads() != layer.n_heads()) {
    text += fmt::format(", sharing {}", counted_large(layer.n_kv_heads(), "kv head"));
  }
  return text;
}

std::string encoder_words(const ModelInfo& info) {
  const Model* const encoder = info.model == nullptr ? nullptr : info.model->encoder.get();
  return encoder == nullptr
             ? ""
             : fmt::format(
                   "{}, {} each: they read the source. Everything else here describes the decoder, "
                   "whose layers also attend to the encoder's output",
                   counted(encoder->n_layers(), "layer"), counted(encoder->n_heads(), "head"));
}

std::string mlp_words(const ModelInfo& info) {
  const LayerShape& layer = info.shape.layers.front();
  if (layer.d_ff == 0 && layer.n_experts > 0) {
    return "";
  }
  if (layer.d_ff == 0) {
    return info.model == nullptr ? "MLP not counted: " + info.d_ff_hint : "no MLP";
  }
  std::string text = grouped(layer.d_ff);
  if (info.model != nullptr) {
    text += fmt::format(", {}", activation_name(any_mlp(*info.model).activation));
  }
  return text + (layer.gated ? ", gated (three matrices)" : " (two matrices)");
}

std::string sparsity_words(const Model& model) {
  std::map<double, std::vector<std::size_t>> layers;
  for (std::size_t layer = 0; layer < model.n_layers(); ++layer) {
    if (const double share = model.layers[layer].mlp.sparsity; share > 0.0) {
      layers[share].push_back(layer);
    }
  }
  std::vector<std::string> words;
  words.reserve(layers.size());
  for (const auto& [share, with] : layers) {
    words.push_back(fmt::format("{} {}: about {:.3g} % of the gates set to 0",
                                with.size() == 1 ? "layer" : "layers", layer_list(with),
                                100.0 * share));
  }
  return joined_by(words, "; ");
}

// "8 in each of 24 layers, of which a token gets 2; d_ff 1,408".
std::string expert_words(const ModelInfo& info) {
  const LayerShape* const routed = info.shape.first_routed();
  if (routed == nullptr) {
    return "";
  }
  std::size_t n_layers = 0;
  for (const LayerShape& layer : info.shape.layers) {
    n_layers += layer.n_experts > 0 ? layer.n_layers : 0;
  }
  const std::string where = n_layers == info.shape.n_layers()
                                ? "per layer"
                                : fmt::format("in each of {}", counted(n_layers, "layer"));
  std::string text =
      fmt::format("{} {}, of which each token uses {}; d_ff {}, {}", grouped(routed->n_experts),
                  where, routed->n_used_experts, grouped(routed->expert_d_ff),
                  activation_name(any_mlp(*info.model).activation));
  if (info.model != nullptr) {
    for (const LayerWeights& layer : info.model->layers) {
      if (layer.experts.present() && layer.experts.each.front().limit > 0.0f) {
        text += fmt::format(", cut at {:.4g}", layer.experts.each.front().limit);
        break;
      }
    }
  }
  if (routed->d_ff > 0) {
    text += fmt::format("; also an MLP shared by all tokens, d_ff {}", grouped(routed->d_ff));
  }
  return text;
}

std::string latent_words(const ModelShape& shape) {
  const LayerShape* const latent = shape.first_latent();
  if (latent == nullptr) {
    return "";
  }
  const HeadsShape& heads = latent->heads.front();
  const auto of = static_cast<double>(latent->kept());
  std::string text = fmt::format(
      "{} numbers for the keys and values of all heads, and {} more shared by every key",
      grouped(latent->key_rank), grouped(latent->shared_key));
  if (latent->query_rank > 0) {
    text += fmt::format("; {} for queries", grouped(latent->query_rank));
  }
  return text + fmt::format(
                    "; a cache stores {} numbers for each token and layer instead of {} · ({} + "
                    "{}) = {}: {:.3g} times less",
                    grouped(latent->kept_latents()), heads.n_kv_heads, heads.d_head, heads.d_value,
                    grouped(latent->kept()), of / static_cast<double>(latent->kept_latents()));
}

std::string special_words(const TokenizerInfo& tokenizer) {
  if (tokenizer.n_special == 0 && tokenizer.special.empty()) {
    return "";
  }
  std::vector<std::string> roles;
  for (const TokenizerInfo::Special& token : tokenizer.special) {
    roles.push_back(fmt::format("{} {} ({})", token.role, printable(token.piece), token.id));
  }
  return fmt::format("{} marked as special{}{}", grouped(tokenizer.n_special),
                     roles.empty() ? "" : "; ", joined_by(roles, ", "));
}

std::string added_words(const TokenizerInfo& tokenizer) {
  std::vector<std::string> added;
  for (const std::string& piece : tokenizer.before) {
    added.push_back(printable(piece) + " before the text");
  }
  for (const std::string& piece : tokenizer.after) {
    added.push_back(printable(piece) + " after the text");
  }
  return added.empty() ? "nothing (no BOS, no EOS)" : joined_by(added, ", ");
}

}  // namespace

const Mlp& any_mlp(const Model& model) noexcept {
  const auto found = std::ranges::find_if(model.layers, &LayerWeights::has_mlp);
  const LayerWeights& any = found == model.layers.end() ? model.layers.front() : *found;
  return !any.mlp.present() && any.experts.present() ? any.experts.each.front() : any.mlp;
}

const Norm* any_norm(const Model& model) noexcept {
  for (const Norm* norm :
       {&model.layers.front().attention_norm, &model.layers.front().mlp_norm, &model.head.norm}) {
    if (norm->present()) {
      return norm;
    }
  }
  return nullptr;
}

std::string_view activation_name(Activation activation) noexcept {
  return word_for(kActivations, activation);
}

std::vector<InfoFact> shape_facts(const ModelInfo& info) {
  const ModelShape& shape = info.shape;
  std::vector<InfoFact> facts = {
      {"origin", info.model == nullptr ? "" : info.model->config.origin},
      {"keys", info.model == nullptr ? "" : unknown_keys_note(info.model->config.unknown_keys)},
      {"context", shape.n_ctx == 0 ? "any length" : counted_large(shape.n_ctx, "token")},
      {"vocabulary", vocabulary_words(info)},
      {"encoder", encoder_words(info)},
      {"layers", grouped(shape.n_layers())},
      {"heads", head_words(shape)},
      {"d_model", grouped(shape.d_model)},
      {"d_head", range_of(shape, &HeadsShape::d_head)},
      {"d_value", range_of(shape, &HeadsShape::d_value)},
      {"latents", latent_words(shape)},
      {"d_ff", mlp_words(info)},
      {"experts", expert_words(info)}};
  if (info.model == nullptr) {
    facts.push_back({"not counted", "biases, norms, positions"});
    return known_facts(std::move(facts));
  }
  const Model& model = *info.model;
  const bool is_alone = model.config.order == LayerOrder::kAttentionOnly && !model.config.residual;
  facts.push_back({"positions", position_words(model)});
  facts.push_back({"norms", norm_words(model)});
  const LayerWeights& first = model.first_attention();
  const bool norms_after = model.config.order == LayerOrder::kPreNorm &&
                           !first.attention_norm.present() && first.after_attention_norm.present();
  facts.push_back({"order", is_alone      ? "only attention, without a residual connection"
                            : norms_after ? "attention, norm, add; MLP, norm, add"
                                          : std::string(word_for(kOrders, model.config.order))});
  if (model.embedding_scale != 1.0f) {
    facts.push_back(
        {"embeddings", fmt::format("scaled {} {}", "×", decimal(model.embedding_scale))});
  }
  if (first.branch_scale != 1.0f) {
    facts.push_back(
        {"residual", fmt::format("the output of {} is scaled {} {}",
                                 first.has_both() ? "attention adds" : "attention and MLP", "×",
                                 decimal(first.branch_scale))});
  }
  if (model.altup.present()) {
    facts.push_back({"streams", fmt::format("{}, of which layers compute with stream {} (AltUp)",
                                            model.altup.n_streams(), model.altup.active)});
  }
  if (model.layers.front().laurel.present()) {
    facts.push_back({"residual", fmt::format("with a learned part of rank {} (LAuReL)",
                                             grouped(model.layers.front().laurel.left.d_out()))});
  }
  facts.push_back({"sparse MLPs", sparsity_words(model)});
  if (model.layer_embeddings.present()) {
    facts.push_back(
        {"embeddings", fmt::format("{} more numbers for each token in every layer",
                                   grouped(model.layer_embeddings.norm.weight.size()))});
  }
  if (model.embedding_norm.present()) {
    facts.push_back({"embeddings", "normalised before the first layer"});
  }
  facts.push_back({"output", output_words(info)});
  return known_facts(std::move(facts));
}

std::vector<InfoFact> tokenizer_facts(const ModelInfo& info) {
  if (!info.tokenizer) {
    return {};
  }
  const TokenizerInfo& tokenizer = *info.tokenizer;
  if (tokenizer.kind.empty()) {
    return {{"kind", "none: " + std::string(tokenizer.missing)}};
  }
  const std::size_t n_vocab = info.shape.n_vocab;
  std::string entries = tokenizer.n_entries == 0 ? "" : grouped(tokenizer.n_entries);
  if (!entries.empty() && n_vocab > 0 && tokenizer.n_entries != n_vocab) {
    entries += fmt::format(" (the model has {})", counted_large(n_vocab, "embedding"));
  }
  return known_facts({{"kind", tokenizer.kind},
                      {"entries", std::move(entries)},
                      {"special", special_words(tokenizer)},
                      {"adds", info.model->config.is_transformer() ? added_words(tokenizer) : ""},
                      {"chat", tokenizer.chat_template.empty()
                                   ? ""
                                   : fmt::format("a template in {}", tokenizer.chat_template)}});
}

std::vector<InfoFact> weights_facts(const ModelInfo& info) {
  std::vector<InfoFact> facts;
  const StoredWeights stored = info.stored();
  double n_numbers = 0.0;
  double n_bytes = 0.0;
  for (const StoredWeights::Numbers& numbers : stored.used) {
    const bool is_double = numbers.type == StoredType::kF64;
    facts.push_back(
        {std::string(stored_type_name(numbers.type)),
         fmt::format("{}, {}, {} bytes ({}){}", counted(numbers.n_tensors, "tensor"),
                     counted_large(numbers.count, "number"), grouped(numbers.bytes()),
                     rounded_bytes(numbers.bytes()), is_double ? ", read as float32" : "")});
    n_numbers += static_cast<double>(numbers.count);
    n_bytes += static_cast<double>(numbers.bytes());
  }
  if (info.gguf != nullptr && n_numbers > 0.0) {
    facts.push_back({"a weight", fmt::format("{:.2f} bits on average", 8.0 * n_bytes / n_numbers)});
  }
  if (!stored.unused_tensors.empty()) {
    const auto n_ahead =
        std::ranges::count(stored.unused_tensors, kMultiToken, &StoredWeights::Unused::why);
    facts.push_back(
        {"not used",
         fmt::format("{} in the files, {}{}", counted(stored.unused_tensors.size(), "tensor"),
                     rounded_bytes(stored.n_unused_bytes),
                     n_ahead == 0 ? "" : fmt::format("; {} of multi-token prediction", n_ahead))});
  }
  if (stored.used.empty()) {
    facts.push_back({"float32", rounded_bytes(bytes_of(info.parameters.total, 4))});
    if (info.model == nullptr) {
      facts.push_back({"float16", rounded_bytes(bytes_of(info.parameters.total, 2))});
    }
  }
  return facts;
}

std::vector<InfoFact> metadata_facts(const ModelInfo& info) {
  if (info.gguf == nullptr) {
    return {};
  }
  const Gguf& gguf = *info.gguf;
  std::vector<InfoFact> facts = {
      {"file", std::string(gguf.file())},
      {"format",
       fmt::format("GGUF version {}, {}-endian, tensors aligned to {} bytes", gguf.version(),
                   gguf.is_big_endian() ? "big" : "little", gguf.alignment())}};
  for (const Gguf::Entry& entry : gguf.metadata()) {
    std::string text = std::string(entry.value.text());
    const std::optional<std::uint64_t> number = entry.value.as_unsigned();
    if (entry.key == "general.file_type" && number && *number <= UINT32_MAX) {
      const std::string_view name = gguf_file_type_name(static_cast<std::uint32_t>(*number));
      text += name.empty() ? "" : fmt::format(" ({})", name);
    }
    facts.push_back({std::string(shown_name(entry.key)), std::move(text)});
  }
  return facts;
}

}  // namespace attnviz
