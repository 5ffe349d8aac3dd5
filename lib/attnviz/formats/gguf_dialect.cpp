#include "attnviz/formats/gguf_dialect.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <utility>

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

GgufDialect renamed(std::string_view said, std::string_view meant) {
  GgufDialect dialect;
  dialect.architecture = said;
  dialect.meant.push_back({"general.architecture", "", text(meant), true});
  return dialect;
}

// Where the file names no way of cutting texts.
void cut_as(std::string_view pre, const Gguf& gguf, GgufDialect& dialect) {
  const std::string_view said = string_at(gguf, "tokenizer.ggml.pre");
  if (said.empty() || said == "default") {
    dialect.meant.push_back({"tokenizer.ggml.pre", "", text(pre), true});
  }
}

bool has_tensors(const Gguf& gguf, std::initializer_list<std::string_view> prefixes) {
  return std::ranges::any_of(gguf.tensors(), [&](const StoredTensor& one) {
    return std::ranges::any_of(
        prefixes, [&](std::string_view prefix) { return one.name.starts_with(prefix); });
  });
}

GgufDialect gemma3(const Gguf& gguf) {
  static constexpr auto kEpsilon = little(1e-6F);
  static constexpr auto kBase = little(1e6F);
  static constexpr auto kLocalBase = little(1e4F);
  static constexpr auto kFactor = little(8.0F);
  constexpr std::uint64_t kScaledContext = 131072;
  GgufDialect dialect;
  if (tensor(gguf, "dense.0.weight") != nullptr) {
    dialect = renamed("gemma3", "gemma-embedding");
    dialect.meant.push_back({"gemma-embedding.rope.freq_base_swa", "", real(kLocalBase)});
    dialect.tensors = {{"output_norm.weight", "norm.weight"}};
    return dialect;
  }
  const auto has = [&](std::string_view key) { return gguf.find(key) != nullptr; };
  if (!has_tensors(gguf, {"v.", "mm."}) && !has("gemma3.mm.tokens_per_image") &&
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

GgufDialect gemma3n(const Gguf& gguf) {
  GgufDialect dialect;
  for (const auto& [key, said] :
       {std::pair("gemma3n.rope.freq_base_swa", "gemma3n.rope.freq_base_local"),
        std::pair("gemma3n.attention.key_length", "gemma3n.head_dim")}) {
    if (gguf.find(said) != nullptr) {
      dialect.meant.push_back({key, said});
    }
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

// A BPE where there are merges, whatever the file calls it.
GgufDialect gemma4(const Gguf& gguf) {
  GgufDialect dialect;
  if (string_at(gguf, "tokenizer.ggml.model") == "llama" &&
      gguf.find("tokenizer.ggml.merges") != nullptr) {
    dialect.meant.push_back({"tokenizer.ggml.model", "", text("gemma4"), true});
  }
  return dialect;
}

GgufDialect mistral3(const Gguf& gguf) {
  GgufDialect dialect;
  const auto has = [&](std::string_view key) { return gguf.find(key) != nullptr; };
  if (!has_tensors(gguf, {"v.", "mm."}) && !has("mistral3.rope.scaling.beta_fast") &&
      !has("mistral3.rope.scaling.mscale_all_dim") && !has("mistral3.rope.scaling_beta")) {
    return dialect;
  }
  for (const auto& [key, said] :
       {std::pair("mistral3.rope.scaling.yarn_beta_fast", "mistral3.rope.scaling.beta_fast"),
        std::pair("mistral3.rope.scaling.yarn_beta_slow", "mistral3.rope.scaling.beta_slow"),
        std::pair("mistral3.rope.scaling.yarn_log_multiplier",
                  "mistral3.rope.scaling.mscale_all_dim"),
        std::pair("mistral3.attention.temperature_scale", "mistral3.rope.scaling_beta")}) {
    if (has(said)) {
      dialect.meant.push_back({key, said});
    }
  }
  cut_as("tekken", gguf, dialect);
  return dialect;
}

GgufDialect qwen25vl(const Gguf& gguf) {
  constexpr std::string_view kSections = "qwen25vl.rope.mrope_section";
  GgufDialect dialect = renamed("qwen25vl", "qwen2vl");
  if (gguf.find(kSections) != nullptr) {
    dialect.meant.push_back({"qwen2vl.rope.dimension_sections", kSections});
  }
  return dialect;
}

// The last norm under another name, and a width that is not that of its matrices.
GgufDialect lfm2(const Gguf& gguf) {
  GgufDialect dialect;
  if (tensor(gguf, "output_norm.weight") == nullptr ||
      tensor(gguf, "token_embd_norm.weight") != nullptr) {
    return dialect;
  }
  dialect.tensors = {{"token_embd_norm.weight", "output_norm.weight"}};
  cut_as("lfm2", gguf, dialect);
  const StoredTensor* const gate = tensor(gguf, "blk.0.ffn_gate.weight");
  if (gate != nullptr && gate->shape.size() == 2 &&
      gate->shape.front() <= std::numeric_limits<std::uint32_t>::max()) {
    const auto bytes = little(static_cast<std::uint32_t>(gate->shape.front()));
    dialect.made = std::make_shared<const std::string>(bytes.begin(), bytes.end());
    dialect.meant.push_back(
        {"lfm2.feed_forward_length", "", GgufValue::made(GgufType::kU32, *dialect.made), true});
  }
  return dialect;
}

}  // namespace

GgufDialect gguf_dialect(const Gguf& gguf) {
  const std::string_view architecture = string_at(gguf, "general.architecture");
  return architecture == "gemma3"     ? gemma3(gguf)
         : architecture == "gemma3n"  ? gemma3n(gguf)
         : architecture == "gemma4"   ? gemma4(gguf)
         : architecture == "lfm2"     ? lfm2(gguf)
         : architecture == "llama"    ? llama(gguf)
         : architecture == "mistral3" ? mistral3(gguf)
         : architecture == "olmo3"    ? renamed("olmo3", "olmo2")
         : architecture == "qwen25vl" ? qwen25vl(gguf)
                                      : GgufDialect();
}

}  // namespace attnviz
