#include "attnviz/model/stored_model.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/core/choices.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/formats/gguf.h"
#include "attnviz/formats/gguf_metadata.h"
#include "attnviz/formats/llama_cpp_keys.h"
#include "attnviz/formats/tensor_files.h"
#include "attnviz/formats/tensor_index.h"
#include "attnviz/model/families/gguf/gguf_families.h"
#include "attnviz/model/known_keys.h"

namespace attnviz {

namespace {

namespace fs = std::filesystem;

// Adapters, image projectors and similar files have an architecture, too, but are not models.
void require_model(const GgufMetadata& metadata) {
  constexpr std::string_view kKey = "general.type";
  if (const std::string_view type = metadata.text_or(kKey, "model"); type != "model") {
    const bool is_adapter = type == "adapter";
    throw Error(
        ErrorKind::kUnsupported,
        fmt::format("{}: {} {}: expected model{}", metadata.gguf().file(), kKey, in_quotes(type),
                    is_adapter ? "; adapters are not applied: merge it into its base model "
                                 "(llama-export-lora of llama.cpp) and give the result, or "
                                 "give the base model alone"
                               : ""));
  }
}

const GgufArchitecture& architecture_of(const GgufMetadata& metadata) {
  constexpr std::string_view kKey = "general.architecture";
  const std::string_view name = metadata.text(kKey);
  const std::span<const GgufArchitecture> known = gguf_architectures();
  const auto found = std::ranges::find(known, name, &GgufArchitecture::name);
  if (found == known.end()) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}: {}", metadata.gguf().file(), unknown_family(kKey, name)),
                "family");
  }
  return *found;
}

// Every id that the file declares as the end of a text or of a chat turn, and the tokens that end
// one by name.
std::vector<std::uint32_t> read_end_of_text(const GgufMetadata& metadata) {
  std::vector<std::uint32_t> ids;
  const auto add = [&ids](std::optional<std::uint32_t> id) {
    if (id && std::ranges::find(ids, *id) == ids.end()) {
      ids.push_back(*id);
    }
  };
  for (const char* key : {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id",
                          "tokenizer.ggml.eom_token_id"}) {
    add(metadata.id(key));
  }
  constexpr const char* kMore = "tokenizer.ggml.eos_token_ids";  // Ollama's list of several
  for (const double id : metadata.numbers(kMore)) {
    constexpr double kMost = 4294967295.0;
    if (!(id >= 0.0 && id <= kMost && id == std::floor(id))) {
      metadata.fail(kMore, fmt::format("expected token ids, found {}", id));
    }
    add(static_cast<std::uint32_t>(id));
  }
  std::vector<std::string_view> pieces = metadata.strings("tokenizer.ggml.tokens");
  pieces.resize(std::min(pieces.size(), metadata.dialect().most_tokens));
  for (const GgufNamedToken& token : gguf_named_tokens(pieces)) {
    if (token.ends_text) {
      add(token.id);
    } else {
      std::erase(ids, token.id);  // regardless of keys: gpt-oss ends messages with <|end|>
    }
  }
  return ids;
}

void require_embeddings(const GgufMetadata& metadata, const Model& model) {
  constexpr std::string_view kKey = "tokenizer.ggml.tokens";
  const GgufValue* const tokens = metadata.find(kKey);
  if (tokens != nullptr &&
      std::min(tokens->size(), metadata.dialect().most_tokens) > model.embeddings.rows) {
    metadata.fail(kKey, fmt::format("expected at most {} as token_embd.weight has, found {}",
                                    counted(model.embeddings.rows, "token"), tokens->size()));
  }
}

}  // namespace

bool is_gguf_file(const fs::path& path, OpenFiles files) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::none) {
    throw Error(ErrorKind::kIo, fmt::format("{}: cannot read: {}", path.string(), error.message()));
  }
  if (!fs::is_regular_file(status)) {  // a pipe may be opened only once
    return false;
  }
  if (path.extension() == ".gguf") {
    return true;
  }
  try {
    return is_gguf(files.open(path).bytes());
  } catch (const Error&) {
    return false;  // the reader will report the error
  }
}

Model load_gguf(const fs::path& path) {
  return load_gguf(std::make_shared<const GgufFiles>(path));
}

Model load_gguf(const std::shared_ptr<const GgufFiles>& files) {
  const GgufMetadata metadata(files->first());
  require_model(metadata);
  const GgufArchitecture& architecture = architecture_of(metadata);
  WeightReader weights(TensorFiles::of_gguf(files), {}, "");
  weights.pass_over({{"v.*", kOtherPart},
                     {"mm.*", kOtherPart},
                     {"a.*", kOtherPart},
                     {"mtp.*", kMultiToken},
                     {"model.vision_tower.*", kOtherPart}});
  for (const GgufDialect::Renamed& tensor : metadata.dialect().tensors) {
    weights.rename(tensor.name, tensor.said);
  }
  Model model = architecture.read(metadata, std::move(weights));
  require_embeddings(metadata, model);
  pass_over_keys(metadata, model);
  pass_over_tensors(model);
  model.config.kind = ModelKind::kTransformer;
  model.set_name(name_of_shards(files->first().file()), std::string(architecture.family));
  model.config.end_of_text = read_end_of_text(metadata);
  return model;
}

}  // namespace attnviz
