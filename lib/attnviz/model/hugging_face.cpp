#include "attnviz/model/stored_model.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "attnviz/core/choices.h"
#include "attnviz/core/demo_files.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/formats/json_tree.h"
#include "attnviz/formats/tensor_files.h"
#include "attnviz/model/families/families.h"
#include "attnviz/model/hf_config.h"
#include "attnviz/model/known_keys.h"

namespace attnviz {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kGeneration = "generation_config.json";

bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

bool is_index(const fs::path& path) {
  return path.filename().string().ends_with(".safetensors.index.json");
}

bool is_config(const fs::path& path) {
  return path.filename() == "config.json";
}

// The folder's name; for a snapshot in the Hugging Face cache, models--owner--name/snapshots/…, the
// name of the model.
std::string model_name(const fs::path& given) {
  fs::path folder = fs::absolute(given).lexically_normal();
  if (!folder.has_filename()) {
    folder = folder.parent_path();
  }
  const std::string repository = folder.parent_path().parent_path().filename().string();
  const auto name =
      folder.parent_path().filename() == "snapshots" ? repository_name(repository) : std::nullopt;
  return name ? *name : folder.filename().string();
}

const Family& family_of(const HfConfig& config) {
  const std::string_view type = config.at("model_type").as_string();
  const std::span<const Family> known = families();
  const auto found = std::ranges::find(known, type, &Family::model_type);
  if (found == known.end()) {
    throw Error(ErrorKind::kUnsupported, config.node().where() + unknown_family("model_type", type),
                "family");
  }
  return *found;
}

// Models for text and pictures have a config for each.
HfConfig text_config(const HfConfig& config) {
  return config.object("text_config").value_or(config);
}

// As above, checked for a model of this family.
HfConfig text_config(const HfConfig& config, const Family& family) {
  HfConfig text = text_config(config);
  const std::string_view own = family.model_type;
  std::vector<std::string> known = {std::string(own), fmt::format("{}_text", own)};
  for (const std::string_view other : family.text_types) {
    if (!other.empty()) {
      known.emplace_back(other);
    }
  }
  const std::string_view type = text.text_or("model_type", own);
  if (std::ranges::find(known, type) == known.end()) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}model_type {}: expected {}", text.node().where(), in_quotes(type),
                            joined(known, "or")));
  }
  return text;
}

// A token id, or a list of them; negative ids mean none.
std::vector<std::uint32_t> read_ids(const JsonNode& node) {
  if (node.kind() == JsonKind::kNumber && node.as_number() < 0.0f) {
    return {};
  }
  if (node.kind() != JsonKind::kNumbers) {
    const std::uint64_t id = node.as_unsigned();
    if (id > std::numeric_limits<std::uint32_t>::max()) {
      node.fail(fmt::format("expected a token id, found {}", id));
    }
    return {static_cast<std::uint32_t>(id)};
  }
  std::vector<std::uint32_t> ids;
  for (const float number : node.as_numbers()) {
    constexpr float kMostExact = 16777216.0f;
    if (!(number >= 0.0f && number <= kMostExact) || number != std::floor(number)) {
      node.fail(fmt::format("expected token ids, found {}", number));
    }
    ids.push_back(static_cast<std::uint32_t>(number));
  }
  return ids;
}

// The ids in a config, or in its text config.
std::optional<std::vector<std::uint32_t>> read_end_of_text(const HfConfig& config) {
  for (const HfConfig& place : {config, text_config(config)}) {
    if (const auto found = place.find("eos_token_id")) {
      return read_ids(*found);
    }
  }
  return std::nullopt;
}

// Settings for generation.
struct GenerationFacts {
  std::optional<std::vector<std::uint32_t>> end_of_text;
  std::optional<std::uint32_t> first_token, forced_token;  // of an encoder-decoder's decoder
};

GenerationFacts read_generation_facts(const HfConfig& config) {
  return {read_end_of_text(config), token_id(config, "decoder_start_token_id"),
          token_id(config, "forced_bos_token_id")};
}

// The settings in generation_config.json, which take precedence over the config.
struct GenerationConfig {
  std::optional<GenerationFacts> facts;
  bool is_broken = false;  // then ignored, as in transformers
};

GenerationConfig read_generation_config(const fs::path& folder, OpenFiles& files) {
  const fs::path path = folder / kGeneration;
  std::error_code error;
  if (!fs::exists(path, error)) {
    return {};
  }
  try {
    const MappedFile bytes = files.open(path);
    const JsonTree tree = JsonTree::parse(bytes.bytes(), path.string());
    return {read_generation_facts(HfConfig(tree.root()))};
  } catch (const Error&) {
    return {std::nullopt, true};
  }
}

// Adapters that are not merged: their weights are stored beside those that they change.
void refuse_adapters(const TensorFiles& files) {
  if (const std::string_view name = adapter_tensor(files); !name.empty()) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}: {}: an adapter (PEFT) that is not merged into the model's "
                            "weights: expected a model that was saved after merge_and_unload()",
                            files.name(), shown_name(name)));
  }
}

// Python writes Infinity, which is not JSON: replaces it by a number of equal length.
std::string without_infinities(std::string_view bytes) {
  constexpr std::string_view kInfinity = "Infinity";
  constexpr std::string_view kLargest = "3.4e+038";
  std::string text(bytes);
  bool is_quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_quoted && text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      is_quoted = !is_quoted;
    } else if (!is_quoted && std::string_view(text).substr(i).starts_with(kInfinity)) {
      text.replace(i, kInfinity.size(), kLargest);
    }
  }
  return text;
}

// The config of a model of a known family.
class ModelFile {
 public:
  explicit ModelFile(const NamedBytes& file)
      : name_(file.name),
        tree_(JsonTree::parse(without_infinities(file.bytes), file.name)),
        config_(tree_.root()),
        family_(family_of(config_)) {
    for (const char* const key : {"quantization_config", "quantization"}) {  // the latter is MLX's
      const auto quantization = config_.object(key);
      if (quantization && !quantization->node().as_object().empty() && !reads(*quantization)) {
        throw Error(
            ErrorKind::kUnsupported,
            fmt::format("{}{}: expected none, found {}: weights that other tools quantised are not "
                        "read; use the model they were made from, or convert them to BF16 or GGUF",
                        config_.node().where(), key, described(*quantization)));
      }
    }
  }

  // `said`, from generation_config.json, takes precedence over the config.
  Model read(TensorFiles files, const std::optional<GenerationFacts>& said) const {
    refuse_adapters(files);
    Model model = family_.read(text_config(config_, family_), std::move(files));
    const GenerationFacts own = read_generation_facts(config_);
    const GenerationFacts& facts = said ? *said : own;
    model.config.end_of_text = (facts.end_of_text ? facts.end_of_text : own.end_of_text)
                                   .value_or(std::vector<std::uint32_t>());
    if (model.encoder != nullptr) {
      model.config.first_token = facts.first_token ? facts.first_token : model.config.first_token;
      if (said || facts.forced_token) {
        model.config.forced_token = facts.forced_token;
      }
    }
    pass_over_keys(config_, name_, family_, model);
    pass_over_tensors(model);
    model.config.kind = ModelKind::kTransformer;
    model.config.family = family_.model_type;
    return model;
  }

 private:
  // As its author names it: a method, an algorithm or, in MLX files, only bits and groups.
  static std::string described(const HfConfig& quantization) {
    for (const char* const key : {"quant_method", "quant_algo"}) {
      if (const std::string_view method = quantization.text_or(key, ""); !method.empty()) {
        return fmt::format("{} {}", key, in_quotes(method));
      }
    }
    const auto bits = quantization.find("bits");
    const auto group = quantization.find("group_size");
    return bits && group ? fmt::format("{} bits in groups of {}, as MLX writes them",
                                       value_text(*bits), value_text(*group))
                         : "an unnamed method";
  }

  // Whether the family supports this quantisation; the tensors determine the rest.
  bool reads(const HfConfig& quantization) const {
    quantization.find("modules_to_not_convert");
    return !family_.quant_method.empty() &&
           quantization.text_or("quant_method", "") == family_.quant_method;
  }

  std::string name_;
  JsonTree tree_;
  HfConfig config_;
  const Family& family_;
};

}  // namespace

std::optional<std::string> repository_name(std::string_view folder) {
  constexpr std::string_view kModels = "models--";
  if (!folder.starts_with(kModels)) {
    return std::nullopt;
  }
  std::string name(folder.substr(kModels.size()));
  if (const std::size_t owner = name.find("--"); owner != std::string::npos) {
    name.replace(owner, 2, "/");
  }
  return name;
}

bool is_hugging_face(const fs::path& path) {
  return is_folder(path) || is_config(path) || path.extension() == ".safetensors" || is_index(path);
}

fs::path hugging_face_folder(const fs::path& path) {
  return is_folder(path) ? path : path.parent_path();
}

Model load_hugging_face(const fs::path& path, OpenFiles files, Copies copies) {
  const fs::path folder = hugging_face_folder(path);
  // Before the config, so that the error for a folder without weights lists what it has.
  const fs::path place = is_config(path) ? folder : path;
  const fs::path weights_file = find_weights(place);
  const std::string config_path = (folder / "config.json").string();
  std::error_code error;
  if (fs::symlink_status(config_path, error).type() == fs::file_type::not_found) {
    // If the weights are of another kind, that error comes first.
    const OpenedWeights alone = open_weights(place, weights_file, files);
    refuse_adapters(alone.tensors);
    throw Error(ErrorKind::kIo, fmt::format("{}: weights in safetensors, which are read with a "
                                            "config.json beside them: expected {}",
                                            weights_file.string(), config_path));
  }
  const MappedFile config = files.open(config_path);
  const ModelFile file({config.bytes(), config_path});
  OpenedWeights weights = open_weights(place, weights_file, files);
  if (copies == Copies::kNotCompared) {
    weights.tensors.skip_comparisons();
  }
  const GenerationConfig generation = read_generation_config(folder, files);
  Model model = file.read(std::move(weights.tensors), generation.facts);
  model.set_name(model_name(folder), model.config.family);
  std::ranges::move(weights.ignored_keys, std::back_inserter(model.config.ignored_keys));
  if (generation.is_broken) {
    model.config.ignored_keys.push_back(
        {std::string(kGeneration), "it cannot be read; transformers ignores it, too"});
  }
  return model;
}

Model load_hugging_face(const NamedBytes& config, const NamedBytes& weights) {
  return ModelFile(config).read(TensorFiles::in_memory(weights), std::nullopt);
}

Model demo_model() {
  Model model = load_hugging_face(demo_file(kDemoConfig, "demo: config.json"),
                                  demo_file(kDemoWeights, "demo: model.safetensors"));
  model.config.name = "demo";
  model.config.origin = "built into attnviz, trained on generated text";
  // The results of measured_names().
  model.config.named_heads = {{0, 1, "current-token"}, {0, 2, "current-token"},
                              {0, 3, "current-token"}, {1, 3, "previous-token"},
                              {2, 1, "induction"},     {2, 3, "induction"}};
  return model;
}

}  // namespace attnviz
