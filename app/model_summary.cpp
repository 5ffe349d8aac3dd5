#include "model_summary.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/mapped_file.h"
#include "attnviz/core/stored_type.h"
#include "attnviz/formats/gguf_metadata.h"
#include "attnviz/formats/json_tree.h"
#include "store.h"

namespace attnviz::app {

namespace {

namespace fs = std::filesystem;

// Names of general.file_type. Source: https://github.com/ggml-org/llama.cpp, llama_ftype.
std::string_view file_type_name(std::uint32_t number) {
  constexpr std::pair<std::uint32_t, std::string_view> kNames[] = {
      {0, "F32"},      {1, "F16"},      {2, "Q4_0"},    {3, "Q4_1"},    {7, "Q8_0"},
      {8, "Q5_0"},     {9, "Q5_1"},     {10, "Q2_K"},   {11, "Q3_K_S"}, {12, "Q3_K_M"},
      {13, "Q3_K_L"},  {14, "Q4_K_S"},  {15, "Q4_K_M"}, {16, "Q5_K_S"}, {17, "Q5_K_M"},
      {18, "Q6_K"},    {19, "IQ2_XXS"}, {20, "IQ2_XS"}, {21, "Q2_K_S"}, {22, "IQ3_XS"},
      {23, "IQ3_XXS"}, {24, "IQ1_S"},   {25, "IQ4_NL"}, {26, "IQ3_S"},  {27, "IQ3_M"},
      {28, "IQ2_S"},   {29, "IQ2_M"},   {30, "IQ4_XS"}, {31, "IQ1_M"},  {32, "BF16"},
      {36, "TQ1_0"},   {37, "TQ2_0"},   {38, "MXFP4"}};
  constexpr std::uint32_t kGuessed = 1024;  // a flag
  const auto* found = std::ranges::find(kNames, number & ~kGuessed,
                                        &std::pair<std::uint32_t, std::string_view>::first);
  return found == std::end(kNames) ? std::string_view() : found->second;
}

// The type of most bytes.
std::string_view most_common_type(const Gguf& gguf) {
  std::map<StoredType, std::size_t> bytes;
  for (const StoredTensor& tensor : gguf.tensors()) {
    bytes[tensor.type] += tensor.bytes.size();
  }
  const auto most = std::ranges::max_element(
      bytes, {},
      [](const std::pair<const StoredType, std::size_t>& entry) { return entry.second; });
  return most == bytes.end() ? std::string_view() : stored_type_name(most->first);
}

std::uint64_t bytes_of(const fs::path& file) {
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(file, error);
  return error ? 0 : bytes;
}

// Of all files that one was split into.
std::uint64_t bytes_of_shards(const fs::path& file) {
  constexpr std::string_view kFirst = "-00001-of-";
  const std::string name = file.filename().string();
  const std::size_t mark = name.rfind(kFirst);
  if (mark == std::string::npos) {
    return bytes_of(file);
  }
  std::uint64_t bytes = 0;
  for (const std::string& other : names_in(file.parent_path())) {
    if (other.size() == name.size() && other.substr(0, mark) == name.substr(0, mark) &&
        other.substr(mark + kFirst.size() - 4) == name.substr(mark + kFirst.size() - 4)) {
      bytes += bytes_of(file.parent_path() / other);
    }
  }
  return bytes;
}

void summarize_gguf(const fs::path& path, ListedModel& model) {
  model.bytes = bytes_of_shards(path);
  const MappedFile file(path);
  const Gguf gguf(file.bytes(), path.string());
  const GgufMetadata metadata(gguf);
  model.family = metadata.text_or("general.architecture", "");
  const auto type = metadata.id("general.file_type");
  model.quantisation = type ? file_type_name(*type) : "";
  if (model.quantisation.empty()) {
    model.quantisation = most_common_type(gguf);
  }
  if (model.bytes == bytes_of(path)) {  // all tensors are in this file
    std::uint64_t parameters = 0;
    for (const StoredTensor& tensor : gguf.tensors()) {
      parameters += tensor.n_numbers();
    }
    model.parameters = parameters;
  }
  const std::string layers = model.family + ".block_count";
  const std::string heads = model.family + ".attention.head_count";
  if (metadata.has(layers)) {
    model.n_layers = metadata.size(layers);
  }
  // Models whose layers differ have a list of counts.
  const std::optional<std::uint64_t> n_heads =
      metadata.has(heads) ? gguf.find(heads)->as_unsigned() : std::nullopt;
  model.n_heads = n_heads;
}

// The first of some members that is a whole number; of a model that also sees, its text part's.
std::optional<std::uint64_t> count_in(const JsonNode& config,
                                      std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    if (const auto value = config.find(key); value && value->kind() == JsonKind::kNumber) {
      return value->as_unsigned();
    }
  }
  const auto text = config.find("text_config");
  return text && text->kind() == JsonKind::kObject ? count_in(*text, keys) : std::nullopt;
}

std::string text_in(const JsonNode& config, std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    if (const auto value = config.find(key); value && value->kind() == JsonKind::kString) {
      return std::string(value->as_string());
    }
  }
  return {};
}

void summarize_folder(const fs::path& path, ListedModel& model) {
  std::uint64_t bytes = 0;
  for (const std::string& name : names_in(path)) {
    bytes += name.ends_with(".safetensors") ? bytes_of(path / name) : 0;
  }
  const MappedFile file(path / "config.json");
  const JsonTree tree = JsonTree::parse(file.bytes(), (path / "config.json").string());
  const JsonNode config = tree.root();
  if (config.kind() != JsonKind::kObject) {
    config.fail("expected an object");
  }
  model.family = text_in(config, {"model_type"});
  model.n_layers = count_in(config, {"num_hidden_layers", "n_layer", "n_layers"});
  model.n_heads = count_in(config, {"num_attention_heads", "n_head", "n_heads"});
  const std::string type = text_in(config, {"dtype", "torch_dtype"});
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kTypes = {
      {{"float32", "F32"}, {"float16", "F16"}, {"bfloat16", "BF16"}, {"float64", "F64"}}};
  for (const auto& [name, short_name] : kTypes) {
    if (type == name) {
      model.quantisation = short_name;
    }
  }
  if (bytes == 0) {
    throw Error(ErrorKind::kIo,
                fmt::format("{}: expected weights as .safetensors, found none", path.string()));
  }
  model.bytes = bytes;
}

}  // namespace

void summarize_model(const fs::path& path, ListedModel& model) {
  try {
    if (is_file(path)) {
      summarize_gguf(path, model);
    } else {
      summarize_folder(path, model);
    }
  } catch (const Error& error) {
    model.problem = error.what();
  }
}

}  // namespace attnviz::app
