#include "attnviz/formats/gguf_metadata.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"

namespace attnviz {

namespace {

// The bytes of a number in a little-endian file.
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

// Sets the tokenizer's pre-splitting, if the file does not name it.
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

// Llama 3 files that state neither the pre-splitting nor the token that ends a turn. Ollama also
// uses the end-of-text token as end of turn if `pre` is present; but base models' files have that
// form, and nothing else would end their texts.
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

// A file with merges is BPE, under any name.
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

// The last norm has another name, and the stated width is not that of the matrices.
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

GgufMetadata::GgufMetadata(const Gguf& gguf)
    : gguf_(&gguf),
      dialect_(gguf_dialect(gguf)),
      asked_(std::make_shared<std::set<std::string, std::less<>>>()) {}

std::vector<std::string_view> GgufMetadata::unread_keys() const {
  std::vector<std::string_view> unread;
  for (const Gguf::Entry& entry : gguf_->metadata()) {
    if (!asked_->contains(entry.key)) {
      unread.push_back(entry.key);
    }
  }
  return unread;
}

std::optional<std::string_view> GgufMetadata::of_architecture(std::string_view key) const {
  for (const std::string_view name :
       {text("general.architecture"), std::string_view(dialect_.architecture)}) {
    if (!name.empty() && key.starts_with(name) && key.substr(name.size()).starts_with('.')) {
      return key.substr(name.size() + 1);
    }
  }
  return std::nullopt;
}

const GgufValue* GgufMetadata::own(std::string_view key) const {
  const GgufValue* const found = gguf_->find(key);
  if (found != nullptr || dialect_.architecture.empty()) {
    return found;
  }
  const std::string_view meant =
      dialect_.meant.front().value.as_string().value_or(std::string_view());
  if (!key.starts_with(meant) || !key.substr(meant.size()).starts_with('.')) {
    return nullptr;
  }
  const std::string said = fmt::format("{}{}", dialect_.architecture, key.substr(meant.size()));
  asked_->insert(said);
  return gguf_->find(said);
}

const GgufValue* GgufMetadata::find(std::string_view key) const {
  asked_->emplace(key);
  const GgufValue* const own = this->own(key);
  const auto meant = std::ranges::find(dialect_.meant, key, &GgufDialect::Meant::key);
  if (meant == dialect_.meant.end() || (own != nullptr && !meant->overrides)) {
    return own;
  }
  if (meant->said.empty()) {
    return &meant->value;
  }
  asked_->emplace(meant->said);
  return gguf_->find(meant->said);
}

void GgufMetadata::fail(std::string_view key, std::string_view message) const {
  throw Error(ErrorKind::kMalformed,
              fmt::format("{}: {}: {}", gguf_->file(), shown_name(key), message));
}

template <class T, class IsRight>
T GgufMetadata::get(std::string_view key, std::string_view expected,
                    std::optional<T> (GgufValue::*read)() const, IsRight is_right) const {
  const GgufValue* const value = find(key);
  if (value == nullptr) {
    fail(key, fmt::format("expected {}, but the key is missing", expected));
  }
  std::optional<T> found = (value->*read)();
  if (!found || !is_right(*found)) {
    const bool is_list = value->type() == GgufType::kArray;
    fail(key, fmt::format("expected {}, found {}{}{}", expected,
                          is_list ? "" : gguf_type_name(value->type()), is_list ? "" : " ",
                          value->text()));
  }
  return std::move(*found);
}

std::size_t GgufMetadata::size(std::string_view key) const {
  return get(key, "a whole number from 1 to 2147483648", &GgufValue::as_unsigned,
             [](std::uint64_t size) { return size > 0 && size <= std::uint64_t{1} << 31; });
}

std::size_t GgufMetadata::size_or(std::string_view key, std::size_t otherwise) const {
  return has(key) ? size(key) : otherwise;
}

std::optional<std::uint32_t> GgufMetadata::id(std::string_view key) const {
  if (!has(key)) {
    return std::nullopt;
  }
  return static_cast<std::uint32_t>(
      get(key, "a whole number from 0 to 4294967295", &GgufValue::as_unsigned,
          [](std::uint64_t id) { return std::in_range<std::uint32_t>(id); }));
}

double GgufMetadata::positive(std::string_view key) const {
  return get(key, "a finite number greater than 0", &GgufValue::as_number,
             [](double number) { return std::isfinite(number) && number > 0; });
}

double GgufMetadata::positive_or(std::string_view key, double otherwise) const {
  return has(key) ? positive(key) : otherwise;
}

double GgufMetadata::number_or(std::string_view key, double otherwise) const {
  return has(key) ? get(key, "a finite number", &GgufValue::as_number,
                        [](double number) { return std::isfinite(number); })
                  : otherwise;
}

std::optional<bool> GgufMetadata::flag(std::string_view key) const {
  return has(key) ? std::optional(get(key, "a bool", &GgufValue::as_bool)) : std::nullopt;
}

bool GgufMetadata::flag_or(std::string_view key, bool otherwise) const {
  return flag(key).value_or(otherwise);
}

std::string_view GgufMetadata::text(std::string_view key) const {
  return get(key, "a string of UTF-8", &GgufValue::as_string, is_utf8);
}

std::string_view GgufMetadata::text_or(std::string_view key, std::string_view otherwise) const {
  return has(key) ? text(key) : otherwise;
}

std::vector<std::string_view> GgufMetadata::strings(std::string_view key) const {
  return has(key) ? get(key, "an array of strings", &GgufValue::as_strings)
                  : std::vector<std::string_view>();
}

std::vector<double> GgufMetadata::numbers(std::string_view key) const {
  return has(key) ? get(key, "an array of numbers", &GgufValue::as_numbers) : std::vector<double>();
}

std::vector<bool> GgufMetadata::flags(std::string_view key) const {
  return has(key) ? get(key, "an array of bools", &GgufValue::as_flags) : std::vector<bool>();
}

}  // namespace attnviz
