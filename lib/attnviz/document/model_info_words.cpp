#include "attnviz/document/model_info_words.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "attnviz/core/message.h"
#include "attnviz/core/stored_type.h"
#include "attnviz/core/utf8.h"
#include "attnviz/document/words/large_numbers.h"
#include "attnviz/formats/gguf_types.h"

namespace attnviz {

namespace {

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

std::string mask_words(const Mask& mask) {
  switch (mask.kind) {
    case MaskKind::kCausal:
      return "causal";
    case MaskKind::kNone:
      return "none: every token sees all";
    case MaskKind::kWindow:
      return fmt::format("window {}", grouped(mask.size));
    case MaskKind::kStrided:
      return fmt::format("strided {}", grouped(mask.size));
    case MaskKind::kBlock:
      return fmt::format("block {}", grouped(mask.size));
  }
  return "";
}

std::string rope_words(const AttentionVariant& variant) {
  std::string text = fmt::format("base {}", decimal(variant.rope_base));
  if (variant.n_rotated == variant.d_head) {
    text += fmt::format(", all {} dimensions of a head", variant.d_head);
  } else {
    text +=
        fmt::format(", {} of {} dimensions of a head (partial)", variant.n_rotated, variant.d_head);
  }
  if (variant.rope_scaling != "none") {
    text += fmt::format(", {} scaling by {}", variant.rope_scaling, decimal(variant.rope_factor));
    if (variant.original_n_ctx != 0) {
      text += fmt::format(" from {}", counted_large(variant.original_n_ctx, "token"));
    }
  }
  return text;
}

std::string scale_words(double scale, std::size_t d_head, bool ascii) {
  if (scale == 0.0) {
    return ascii ? "1/sqrt(d_head), each head's own" : "1/√d_head, each head's own";
  }
  const double usual = 1.0 / std::sqrt(static_cast<double>(d_head));
  const std::string root = ascii ? fmt::format("1/sqrt({})", d_head) : fmt::format("1/√{}", d_head);
  constexpr double kRounding = 1e-6;
  return std::abs(scale - usual) <= kRounding * usual
             ? fmt::format("{} = {}", root, decimal(scale))
             : fmt::format("{}, not {} = {}", decimal(scale), root, decimal(usual));
}

std::string_view order_words(LayerOrder order, bool residual) {
  switch (order) {
    case LayerOrder::kAttentionOnly:
      return residual ? "attention, added to its input; no MLP"
                      : "attention alone, without a residual";
    case LayerOrder::kPreNorm:
      return "norm, attention, add; norm, MLP, add (pre-norm)";
    case LayerOrder::kParallel:
      return "norm, attention and norm, MLP, both added at once (parallel residual)";
    case LayerOrder::kPostNorm:
      return "attention, add, norm; MLP, add, norm (post-norm)";
  }
  return "";
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
  switch (model.config.positions) {
    case Positions::kNone:
      return "none";
    case Positions::kSinusoidal:
      return "sinusoidal, added to the embeddings";
    case Positions::kRope:
      return "RoPE: queries and keys are turned";
    case Positions::kAlibi:
      return "ALiBi: scores fall with the distance";
    case Positions::kLearned: {
      std::string text =
          fmt::format("learned, {}", counted_large(model.position_embeddings.rows, "row"));
      if (model.first_position != 0) {
        text += fmt::format(", the first token takes row {}", model.first_position);
      }
      return text;
    }
  }
  return "";
}

std::string output_words(const ModelInfo& info) {
  const OutputHead& head = info.model->head;
  if (head.unembedding.weight.empty()) {
    return "none: the model predicts nothing";
  }
  std::string text =
      info.shape.tied ? "tied: the token embeddings, turned" : "a matrix of its own (not tied)";
  if (!head.transform.weight.empty()) {
    text += ", behind a linear map, an activation and a norm";
  }
  if (head.soft_cap > 0.0f) {
    text += fmt::format(", logits capped at {}", decimal(static_cast<double>(head.soft_cap)));
  }
  return text;
}

// One number, or the smallest and the largest of heads or layers that differ.
std::string range_of(const ModelShape& shape,
                     const std::function<std::size_t(const HeadsShape&)>& number) {
  std::size_t least = number(shape.layers.front().heads.front());
  std::size_t most = least;
  for (const LayerShape& layer : shape.layers) {
    for (const HeadsShape& heads : layer.heads) {
      least = std::min(least, number(heads));
      most = std::max(most, number(heads));
    }
  }
  return least == most ? grouped(least) : fmt::format("{} to {}", grouped(least), grouped(most));
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

}  // namespace

std::string layer_list(std::span<const std::size_t> layers) {
  constexpr std::size_t kRun = 3;
  std::string text;
  for (std::size_t i = 0; i < layers.size();) {
    std::size_t end = i + 1;
    while (end < layers.size() && layers[end] == layers[end - 1] + 1) {
      ++end;
    }
    if (end - i < kRun) {
      end = i + 1;
    }
    text += fmt::format("{}{}", text.empty() ? "" : ", ", layers[i]);
    if (end - i >= kRun) {
      text += fmt::format("-{}", layers[end - 1]);
    }
    i = end;
  }
  return text;
}

std::vector<InfoFact> shape_facts(const ModelInfo& info, bool ascii) {
  const ModelShape& shape = info.shape;
  std::vector<InfoFact> facts;
  if (info.model != nullptr && !info.model->config.origin.empty()) {
    facts.push_back({"origin", info.model->config.origin});
  }
  facts.push_back(
      {"context", shape.n_ctx == 0 ? "any length" : counted_large(shape.n_ctx, "token")});
  if (shape.n_vocab > 0) {
    facts.push_back({"vocabulary", counted_large(shape.n_vocab, "token")});
  } else {
    facts.push_back({"vocabulary", info.model == nullptr ? "not counted: " + info.n_vocab_hint
                                                         : "none: no token embeddings"});
  }
  facts.push_back({"layers", grouped(shape.n_layers())});
  facts.push_back({"heads", head_words(shape)});
  facts.push_back({"d_model", grouped(shape.d_model)});
  facts.push_back({"d_head", range_of(shape, [](const HeadsShape& h) { return h.d_head; })});
  facts.push_back({"d_value", range_of(shape, [](const HeadsShape& h) { return h.d_value; })});
  facts.push_back({"d_ff", mlp_words(info)});
  if (info.model == nullptr) {
    facts.push_back({"not counted", "biases, norms, positions"});
    return facts;
  }
  const Model& model = *info.model;
  facts.push_back({"positions", position_words(model)});
  facts.push_back({"norms", norm_words(model)});
  facts.push_back({"order", std::string(order_words(model.config.order, model.config.residual))});
  if (model.embedding_scale != 1.0f) {
    facts.push_back(
        {"embeddings", fmt::format("scaled {} {}", ascii ? "x" : "×",
                                   decimal(static_cast<double>(model.embedding_scale)))});
  }
  if (model.embedding_norm.present()) {
    facts.push_back({"embeddings", "normed before the first layer"});
  }
  if (model.config.is_transformer()) {
    facts.push_back({"output", output_words(info)});
  }
  return facts;
}

std::vector<InfoFact> attention_facts(const ModelInfo& info, bool ascii) {
  std::vector<InfoFact> facts;
  if (info.model == nullptr) {
    return facts;
  }
  const Model& model = *info.model;
  facts.push_back(
      {"mask", by_layers(model, [](const AttentionVariant& v) { return mask_words(v.mask); })});
  facts.push_back({"score scale", by_layers(model, [=](const AttentionVariant& v) {
                     return scale_words(v.score_scale, v.d_head, ascii);
                   })});
  const auto add_if_any = [&facts](const char* label, std::string text) {
    if (!text.empty()) {
      facts.push_back({label, std::move(text)});
    }
  };
  add_if_any("soft cap", by_layers(model, [](const AttentionVariant& v) {
               const std::string cap = decimal(static_cast<double>(v.soft_cap));
               return v.soft_cap > 0.0f ? fmt::format("{} tanh(score / {})", cap, cap) : "";
             }));
  add_if_any("q/k norms", by_layers(model, [](const AttentionVariant& v) {
               return std::string(v.query_norm ? "each head's queries and keys, before RoPE" : "");
             }));
  add_if_any("RoPE", by_layers(model, [=](const AttentionVariant& v) {
               return v.has_rope ? rope_words(v) : std::string();
             }));
  return facts;
}

std::vector<InfoFact> tokenizer_facts(const ModelInfo& info, bool ascii) {
  std::vector<InfoFact> facts;
  if (!info.tokenizer) {
    return facts;
  }
  const TokenizerInfo& tokenizer = *info.tokenizer;
  if (tokenizer.kind.empty()) {
    return {{"kind", "none: " + safe_message(tokenizer.missing, ascii)}};
  }
  facts.push_back({"kind", tokenizer.kind});
  if (tokenizer.n_entries > 0) {
    std::string entries = grouped(tokenizer.n_entries);
    if (info.shape.n_vocab > 0 && tokenizer.n_entries != info.shape.n_vocab) {
      entries += fmt::format(" (the model has {})", counted_large(info.shape.n_vocab, "embedding"));
    }
    facts.push_back({"entries", std::move(entries)});
  }
  if (tokenizer.n_special > 0 || !tokenizer.special.empty()) {
    std::string special;
    for (const TokenizerInfo::Special& token : tokenizer.special) {
      special += fmt::format("{}{} {} ({})", special.empty() ? "" : ", ", token.role,
                             label_of(token.piece, ascii), token.id);
    }
    facts.push_back({"special", fmt::format("{} marked as such{}{}", grouped(tokenizer.n_special),
                                            special.empty() ? "" : "; ", special)});
  }
  if (info.model->config.is_transformer()) {
    std::string added;
    for (const auto& [place, pieces] :
         {std::pair("before", &tokenizer.before), std::pair("behind", &tokenizer.after)}) {
      for (const std::string& piece : *pieces) {
        added += fmt::format("{}{} {} the text", added.empty() ? "" : ", ", label_of(piece, ascii),
                             place);
      }
    }
    facts.push_back({"adds", added.empty() ? "nothing (no BOS, no EOS)" : std::move(added)});
  }
  return facts;
}

std::vector<InfoFact> weights_facts(const ModelInfo& info) {
  std::vector<InfoFact> facts;
  const std::size_t total = info.parameters.total;
  const StoredWeights none;
  const StoredWeights& stored = info.model == nullptr ? none : info.model->stored;
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
  if (stored.n_unused_tensors > 0) {
    facts.push_back(
        {"not used", fmt::format("{} in the files, {}", counted(stored.n_unused_tensors, "tensor"),
                                 rounded_bytes(stored.n_unused_bytes))});
  }
  if (stored.used.empty()) {
    facts.push_back({"float32", rounded_bytes(bytes_of(total, 4))});
    if (info.model == nullptr) {
      facts.push_back({"float16", rounded_bytes(bytes_of(total, 2))});
    }
  }
  return facts;
}

std::vector<InfoFact> metadata_facts(const ModelInfo& info, bool ascii) {
  std::vector<InfoFact> facts;
  if (info.gguf == nullptr) {
    return facts;
  }
  const Gguf& gguf = *info.gguf;
  facts.reserve(gguf.metadata().size() + 2);
  facts.push_back({"file", safe_message(gguf.file(), ascii)});
  facts.push_back({"format", fmt::format("GGUF version {}, {}-endian, tensors aligned to {} bytes",
                                         gguf.version(), gguf.is_big_endian() ? "big" : "little",
                                         gguf.alignment())});
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
