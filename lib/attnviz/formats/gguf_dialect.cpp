#include "attnviz/formats/gguf_dialect.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>

namespace attnviz {

namespace {

// A number as it lies in a little-endian file.
template <class T>
constexpr std::array<char, sizeof(T)> little(T number) noexcept {
  auto bytes = std::bit_cast<std::array<char, sizeof(T)>>(number);
  if (std::endian::native == std::endian::big) {
    std::reverse(bytes.begin(), bytes.end());
  }
  return bytes;
}

GgufValue real(const std::array<char, sizeof(float)>& bytes) noexcept {
  return GgufValue::made(GgufType::kF32, {bytes.data(), bytes.size()});
}

GgufValue text(std::string_view words) noexcept {
  return GgufValue::made(GgufType::kString, words);
}

std::string_view string_at(const Gguf& gguf, std::string_view key) noexcept {
  const GgufValue* const value = gguf.find(key);
  return value == nullptr ? std::string_view() : value->as_string().value_or(std::string_view());
}

std::optional<std::uint64_t> number_at(const Gguf& gguf, std::string_view key) noexcept {
  const GgufValue* const value = gguf.find(key);
  return value == nullptr ? std::nullopt : value->as_unsigned();
}

const StoredTensor* tensor(const Gguf& gguf, std::string_view name) noexcept {
  const auto found = std::ranges::find(gguf.tensors(), name, &StoredTensor::name);
  return found == gguf.tensors().end() ? nullptr : &*found;
}

GgufDialect gemma3(const Gguf& gguf) {
  static constexpr auto kEpsilon = little(1e-6F);
  static constexpr auto kBase = little(1e6F);
  static constexpr auto kLocalBase = little(1e4F);
  static constexpr auto kFactor = little(8.0F);
  constexpr std::uint64_t kScaledContext = 131072;
  GgufDialect dialect;
  if (tensor(gguf, "dense.0.weight") != nullptr) {
    dialect.meant = {{"general.architecture", "", text("gemma-embedding"), true}};
    return dialect;
  }
  const auto has = [&](std::string_view key) { return gguf.find(key) != nullptr; };
  const bool has_other_parts = std::ranges::any_of(gguf.tensors(), [](const StoredTensor& one) {
    return one.name.starts_with("v.") || one.name.starts_with("mm.");
  });
  if (!has_other_parts && !has("gemma3.mm.tokens_per_image") &&
      !has("gemma3.rope.global.freq_base") && !has("gemma3.rope.local.freq_base") &&
      !has("tokenizer.ggml.add_padding_token") && !has("tokenizer.ggml.add_unknown_token") &&
      has("gemma3.attention.layer_norm_rms_epsilon")) {
    return dialect;
  }
  const auto instead = [&](std::string_view key, std::string_view said, const GgufValue& value) {
    dialect.meant.push_back({key, has(said) ? said : std::string_view(), value});
  };
  instead("gemma3.rope.freq_base", "gemma3.rope.global.freq_base", real(kBase));
  instead("gemma3.rope.freq_base_swa", "gemma3.rope.local.freq_base", real(kLocalBase));
  dialect.meant.push_back({"gemma3.attention.layer_norm_rms_epsilon", "", real(kEpsilon)});
  if (number_at(gguf, "gemma3.context_length").value_or(0) >= kScaledContext) {
    dialect.meant.push_back({"gemma3.rope.scaling.type", "", text("linear")});
    dialect.meant.push_back({"gemma3.rope.scaling.factor", "", real(kFactor)});
  }
  const StoredTensor* const embeddings = tensor(gguf, "token_embd.weight");
  if (embeddings != nullptr && !embeddings->shape.empty()) {
    dialect.most_tokens = embeddings->shape.front();
  }
  return dialect;
}

// Llama 3, whose file does not say how its texts are cut, nor what ends a turn. Ollama also takes
// the end of texts for that of turns where `pre` is there; but files of base models say it so, and
// nothing else would end their texts.
GgufDialect llama(const Gguf& gguf) {
  static constexpr auto kEndOfTurn = little(std::uint32_t{128009});
  constexpr std::size_t kEndOfText = 128001;
  constexpr std::size_t kHeader = 128006;
  constexpr std::size_t kTurn = 128009;
  const std::string_view pre = string_at(gguf, "tokenizer.ggml.pre");
  const auto eos = number_at(gguf, "tokenizer.ggml.eos_token_id");
  const GgufValue* const tokens = gguf.find("tokenizer.ggml.tokens");
  GgufDialect dialect;
  if (tokens == nullptr || !(pre.empty() || pre == "default")) {
    return dialect;
  }
  const auto names = tokens->as_strings(kHeader, kTurn - kHeader + 1);
  const std::string_view chat = string_at(gguf, "tokenizer.chat_template");
  const bool has_header = (names && names->front() == "<|start_header_id|>") ||
                          chat.find("<|start_header_id|>") != std::string_view::npos ||
                          chat.find("<|eot_id|>") != std::string_view::npos;
  if (!names || names->back() != "<|eot_id|>" || !has_header) {
    return dialect;
  }
  const GgufValue turn = GgufValue::made(GgufType::kU32, {kEndOfTurn.data(), kEndOfTurn.size()});
  dialect.meant.push_back({"tokenizer.ggml.pre", "", text("llama-bpe"), true});
  dialect.meant.push_back({"tokenizer.ggml.eos_token_id", "", turn, eos == kEndOfText});
  dialect.meant.push_back({"tokenizer.ggml.eot_token_id", "", turn,
                           number_at(gguf, "tokenizer.ggml.eot_token_id") == kEndOfText});
  return dialect;
}

}  // namespace

GgufDialect gguf_dialect(const Gguf& gguf) {
  const std::string_view architecture = string_at(gguf, "general.architecture");
  return architecture == "gemma3"  ? gemma3(gguf)
         : architecture == "llama" ? llama(gguf)
                                   : GgufDialect();
}

}  // namespace attnviz
