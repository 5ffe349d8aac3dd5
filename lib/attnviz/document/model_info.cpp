#include "attnviz/document/model_info.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <utility>

#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/document/words/formula_signs.h"
#include "attnviz/document/words/short_numbers.h"
#include "attnviz/formats/gguf_types.h"

namespace attnviz {

namespace {

constexpr std::array kActivations = {
    Choice{"gelu", Activation::kGelu}, Choice{"gelu (tanh)", Activation::kGeluTanh},
    Choice{"silu", Activation::kSilu}, Choice{"relu", Activation::kRelu},
    Choice{"tanh", Activation::kTanh}};

// What is done in a layer, in its order.
constexpr std::array kOrders = {
    Choice{"attention, added to its input; no MLP", LayerOrder::kAttentionOnly},
    Choice{"norm, attention, add; norm, MLP, add (pre-norm)", LayerOrder::kPreNorm},
    Choice{"norm, attention and norm, MLP, both added at once (parallel residual)",
           LayerOrder::kParallel},
    Choice{"attention, add, norm; MLP, add, norm (post-norm)", LayerOrder::kPostNorm}};

constexpr std::array kPositions = {
    Choice{"none", Positions::kNone},
    Choice{"sinusoidal, added to the embeddings", Positions::kSinusoidal},
    Choice{"RoPE: queries and keys are turned", Positions::kRope},
    Choice{"ALiBi: scores fall with the distance", Positions::kAlibi}};

// Those that have something to tell.
std::vector<InfoFact> told(std::vector<InfoFact> facts) {
  std::erase_if(facts, [](const InfoFact& fact) { return fact.text.empty(); });
  return facts;
}

// 10,000 or 0.125.
std::string decimal(double number) {
  constexpr double kLargest = 1e15;
  if (number == std::floor(number) && number >= 0.0 && number < kLargest) {
    return grouped(static_cast<std::size_t>(number));
  }
  return fmt::format("{:.4g}", number);
}

std::string label_of(std::string_view piece, bool ascii) {
  return ascii ? printable_ascii(piece) : printable(piece);
}

std::string counted_large(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", grouped(count), noun, count == 1 ? "" : "s");
}

// What each layer does, and which of them do it when they differ.
std::string by_layers(const Model& model,
                      const std::function<std::string(const AttentionVariant&)>& describe) {
  std::vector<std::pair<std::string, std::vector<std::size_t>>> groups;
  for (std::size_t layer = 0; layer < model.n_layers(); ++layer) {
    std::string text = describe(attention_variant(model, layer));
    const auto known =
        std::ranges::find_if(groups, [&text](const auto& group) { return group.first == text; });
    if (known == groups.end()) {
      groups.emplace_back(std::move(text), std::vector<std::size_t>{layer});
    } else {
      known->second.push_back(layer);
    }
  }
  if (groups.size() == 1) {
    return groups.front().first;
  }
  std::string all;
  for (const auto& [text, layers] : groups) {
    all +=
        fmt::format("{}{} {}: {}", all.empty() ? "" : "; ", layers.size() == 1 ? "layer" : "layers",
                    layer_list(layers), text.empty() ? "none" : text);
  }
  return all;
}

std::string mask_words(const AttentionVariant& variant) {
  const Mask& mask = variant.mask;
  if (mask.kind == MaskKind::kNone) {
    return "none: every token sees all";
  }
  const std::string name = mask.name();
  return mask.size == 0 ? name
                        : fmt::format("{} {}", name.substr(0, name.find(':')), grouped(mask.size));
}

std::string scale_words(const AttentionVariant& variant) {
  const double scale = variant.score_scale;
  if (scale == 0.0) {
    return "1/√d_head, each head's own";
  }
  const double usual = 1.0 / std::sqrt(static_cast<double>(variant.d_head));
  constexpr double kRounding = 1e-6;
  return std::abs(scale - usual) <= kRounding * usual
             ? fmt::format("1/√{} = {}", variant.d_head, decimal(scale))
             : fmt::format("{}, not 1/√{} = {}", decimal(scale), variant.d_head, decimal(usual));
}

std::string cap_words(const AttentionVariant& variant) {
  const std::string cap = decimal(variant.soft_cap);
  return variant.soft_cap > 0.0f ? fmt::format("{} tanh(score / {})", cap, cap) : "";
}

std::string rope_words(const AttentionVariant& variant) {
  if (!variant.rope) {
    return "";
  }
  const Rope& rope = *variant.rope;
  std::string text = fmt::format("base {}", decimal(rope.theta));
  if (rope.n_rotated() == variant.d_head) {
    text += fmt::format(", all {} dimensions of a head", variant.d_head);
  } else {
    text +=
        fmt::format(", {} of {} dimensions of a head (partial)", rope.n_rotated(), variant.d_head);
  }
  if (rope.scaling != "none") {
    text += fmt::format(", {} scaling by {}", rope.scaling, decimal(rope.factor));
    if (rope.original_n_ctx != 0) {
      text += fmt::format(" from {}", counted_large(rope.original_n_ctx, "token"));
    }
  }
  return text;
}

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
    text += "; what attention and MLP add is normed, too";
  }
  return text;
}

std::string position_words(const Model& model) {
  if (model.config.positions != Positions::kLearned) {
    return std::string(word_for(kPositions, model.config.positions));
  }
  std::string text =
      fmt::format("learned, {}", counted_large(model.position_embeddings.rows, "row"));
  if (model.first_position != 0) {
    text += fmt::format(", the first token takes row {}", model.first_position);
  }
  return text;
}

// Nothing of what only has attention.
std::string output_words(const ModelInfo& info) {
  const OutputHead& head = info.model->head;
  if (!info.model->config.is_transformer()) {
    return "";
  }
  if (head.unembedding.weight.empty()) {
    return "none: the model predicts nothing";
  }
  std::string text =
      info.shape.tied ? "tied: the token embeddings, turned" : "a matrix of its own (not tied)";
  if (!head.transform.weight.empty()) {
    text += ", behind a linear map, an activation and a norm";
  }
  if (head.soft_cap > 0.0f) {
    text += fmt::format(", logits capped at {}", decimal(head.soft_cap));
  }
  return text;
}

// One number, or the smallest and the largest of heads or layers that differ.
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
  const LayerShape& layer = shape.layers.front();
  std::string text = fmt::format("{} a layer", grouped(layer.n_heads()));
  const auto is_as_first = [&layer](const LayerShape& other) {
    return other.n_heads() == layer.n_heads() && other.n_kv_heads() == layer.n_kv_heads();
  };
  if (!std::ranges::all_of(shape.layers, is_as_first)) {
    return text + " in the first layer; others have others";
  }
  if (layer.n_kv_heads() != layer.n_heads()) {
    text += fmt::format(", sharing {}", counted_large(layer.n_kv_heads(), "kv head"));
  }
  return text;
}

std::string mlp_words(const ModelInfo& info) {
  const LayerShape& layer = info.shape.layers.front();
  if (layer.d_ff == 0) {
    return info.model == nullptr ? "MLP not counted: " + info.d_ff_hint : "no MLP";
  }
  std::string text = grouped(layer.d_ff);
  if (info.model != nullptr) {
    text += fmt::format(", {}", activation_name(info.model->layers.front().mlp.activation));
  }
  return text + (layer.gated ? ", gated (three matrices)" : " (two matrices)");
}

// What stands between commas.
std::string listed(const std::vector<std::string>& items) {
  return fmt::format("{}", fmt::join(items, ", "));
}

std::string special_words(const TokenizerInfo& tokenizer, bool ascii) {
  if (tokenizer.n_special == 0 && tokenizer.special.empty()) {
    return "";
  }
  std::vector<std::string> roles;
  for (const TokenizerInfo::Special& token : tokenizer.special) {
    roles.push_back(fmt::format("{} {} ({})", token.role, label_of(token.piece, ascii), token.id));
  }
  return fmt::format("{} marked as such{}{}", grouped(tokenizer.n_special),
                     roles.empty() ? "" : "; ", listed(roles));
}

std::string added_words(const TokenizerInfo& tokenizer, bool ascii) {
  std::vector<std::string> added;
  for (const std::string& piece : tokenizer.before) {
    added.push_back(label_of(piece, ascii) + " before the text");
  }
  for (const std::string& piece : tokenizer.after) {
    added.push_back(label_of(piece, ascii) + " behind the text");
  }
  return added.empty() ? "nothing (no BOS, no EOS)" : listed(added);
}

}  // namespace

AttentionVariant attention_variant(const Model& model, std::size_t layer) {
  const LayerWeights& weights = model.layers[layer];
  const std::size_t d_head = weights.heads.front().d_head();
  AttentionVariant variant{weights.mask.value_or(model.config.mask),
                           d_head,
                           weights.score_scale,
                           weights.soft_cap,
                           weights.query_norm.present(),
                           weights.key_norm.present(),
                           {}};
  const bool is_alike = std::ranges::all_of(
      weights.heads, [d_head](const HeadWeights& head) { return head.d_head() == d_head; });
  if (weights.score_scale == 0.0 && is_alike) {
    variant.score_scale = 1.0 / std::sqrt(static_cast<double>(d_head));
  }
  if (weights.rope) {
    variant.rope = *weights.rope;
  } else {
    variant.rope.emplace().inverse_frequencies.resize(d_head / 2);
  }
  if (model.config.positions != Positions::kRope) {
    variant.rope.reset();
  }
  return variant;
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

std::string layer_list(std::span<const std::size_t> layers) {
  constexpr std::size_t kRun = 3;
  std::vector<std::string> runs;
  for (std::size_t i = 0; i < layers.size();) {
    std::size_t end = i + 1;
    while (end < layers.size() && layers[end] == layers[end - 1] + 1) {
      ++end;
    }
    const bool is_run = end - i >= kRun;
    runs.push_back(is_run ? fmt::format("{}-{}", layers[i], layers[end - 1])
                          : fmt::format("{}", layers[i]));
    i = is_run ? end : i + 1;
  }
  return listed(runs);
}

std::vector<InfoFact> shape_facts(const ModelInfo& info, bool ascii) {
  const ModelShape& shape = info.shape;
  std::vector<InfoFact> facts = {
      {"origin", info.model == nullptr ? "" : info.model->config.origin},
      {"context", shape.n_ctx == 0 ? "any length" : counted_large(shape.n_ctx, "token")},
      {"vocabulary", vocabulary_words(info)},
      {"layers", grouped(shape.n_layers())},
      {"heads", head_words(shape)},
      {"d_model", grouped(shape.d_model)},
      {"d_head", range_of(shape, &HeadsShape::d_head)},
      {"d_value", range_of(shape, &HeadsShape::d_value)},
      {"d_ff", mlp_words(info)}};
  if (info.model == nullptr) {
    facts.push_back({"not counted", "biases, norms, positions"});
    return told(std::move(facts));
  }
  const Model& model = *info.model;
  const bool is_alone = model.config.order == LayerOrder::kAttentionOnly && !model.config.residual;
  facts.push_back({"positions", position_words(model)});
  facts.push_back({"norms", norm_words(model)});
  facts.push_back({"order", is_alone ? "attention alone, without a residual"
                                     : std::string(word_for(kOrders, model.config.order))});
  if (model.embedding_scale != 1.0f) {
    facts.push_back({"embeddings", fmt::format("scaled {} {}", ascii ? "x" : "×",
                                               decimal(model.embedding_scale))});
  }
  if (model.embedding_norm.present()) {
    facts.push_back({"embeddings", "normed before the first layer"});
  }
  facts.push_back({"output", output_words(info)});
  return told(std::move(facts));
}

std::vector<InfoFact> attention_facts(const ModelInfo& info, bool ascii) {
  if (info.model == nullptr) {
    return {};
  }
  const Model& model = *info.model;
  const std::string scale = by_layers(model, scale_words);
  const auto norms = [](const AttentionVariant& variant) {
    return std::string(variant.query_norm ? "each head's queries and keys, before RoPE" : "");
  };
  return told({{"mask", by_layers(model, mask_words)},
               {"score scale", ascii ? in_ascii(scale) : scale},
               {"soft cap", by_layers(model, cap_words)},
               {"q/k norms", by_layers(model, norms)},
               {"RoPE", by_layers(model, rope_words)}});
}

std::vector<InfoFact> tokenizer_facts(const ModelInfo& info, bool ascii) {
  if (!info.tokenizer) {
    return {};
  }
  const TokenizerInfo& tokenizer = *info.tokenizer;
  if (tokenizer.kind.empty()) {
    return {{"kind", "none: " + safe_message(tokenizer.missing, ascii)}};
  }
  const std::size_t n_vocab = info.shape.n_vocab;
  std::string entries = tokenizer.n_entries == 0 ? "" : grouped(tokenizer.n_entries);
  if (!entries.empty() && n_vocab > 0 && tokenizer.n_entries != n_vocab) {
    entries += fmt::format(" (the model has {})", counted_large(n_vocab, "embedding"));
  }
  return told({{"kind", tokenizer.kind},
               {"entries", std::move(entries)},
               {"special", special_words(tokenizer, ascii)},
               {"adds", info.model->config.is_transformer() ? added_words(tokenizer, ascii) : ""}});
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
    facts.push_back({"not used", fmt::format("{} in the files, {}",
                                             counted(stored.unused_tensors.size(), "tensor"),
                                             rounded_bytes(stored.n_unused_bytes))});
  }
  if (stored.used.empty()) {
    facts.push_back({"float32", rounded_bytes(bytes_of(info.parameters.total, 4))});
    if (info.model == nullptr) {
      facts.push_back({"float16", rounded_bytes(bytes_of(info.parameters.total, 2))});
    }
  }
  return facts;
}

std::vector<InfoFact> metadata_facts(const ModelInfo& info, bool ascii) {
  if (info.gguf == nullptr) {
    return {};
  }
  const Gguf& gguf = *info.gguf;
  std::vector<InfoFact> facts = {
      {"file", safe_message(gguf.file(), ascii)},
      {"format",
       fmt::format("GGUF version {}, {}-endian, tensors aligned to {} bytes", gguf.version(),
                   gguf.is_big_endian() ? "big" : "little", gguf.alignment())}};
  for (const Gguf::Entry& entry : gguf.metadata()) {
    std::string text = safe_message(entry.value.text(), ascii);
    const std::optional<std::uint64_t> number = entry.value.as_unsigned();
    if (entry.key == "general.file_type" && number && *number <= UINT32_MAX) {
      const std::string_view name = gguf_file_type_name(static_cast<std::uint32_t>(*number));
      text += name.empty() ? "" : fmt::format(" ({})", name);
    }
    facts.push_back({safe_message(shown_name(entry.key), ascii), std::move(text)});
  }
  return facts;
}

}  // namespace attnviz
