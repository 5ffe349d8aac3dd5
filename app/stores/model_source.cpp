#include "stores/model_source.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "attnviz/core/choices.h"
#include "attnviz/core/error.h"
#include "attnviz/core/mapped_file.h"
#include "attnviz/core/message.h"
#include "attnviz/model/stored_model.h"
#include "attnviz/text/files/load_tokenizer.h"
#include "system/process.h"

namespace attnviz::app {

namespace {

namespace fs = std::filesystem;

// Follows the defaults of random_model; as an estimate, it uses doubles instead of checked
// products.
double random_model_bytes(const RandomShape& shape) {
  constexpr double kDefaultHeadWidth = 16.0;
  const auto heads = static_cast<double>(shape.n_heads);
  const auto or_else = [](std::size_t size, double otherwise) {
    return size == 0 ? otherwise : static_cast<double>(size);
  };
  const double guess =
      shape.d_model == 0 ? kDefaultHeadWidth : static_cast<double>(shape.d_model) / heads;
  const double d_head = or_else(shape.d_head, guess);
  const double d_model = or_else(shape.d_model, heads * d_head);
  const double d_value = or_else(shape.d_value, d_head);
  const double kv_heads = or_else(shape.n_kv_heads, heads);
  const double a_layer = d_model * (heads * (d_head + d_value) + kv_heads * (d_head + d_value));
  const double bookkeeping = heads * static_cast<double>(sizeof(HeadWeights));
  return static_cast<double>(shape.n_layers) *
         (a_layer * static_cast<double>(sizeof(float)) + bookkeeping);
}

Model make_random_model(const RandomShape& shape, const ModelOptions& options) {
  require_memory(random_model_bytes(shape), "a random model of this shape",
                 "make --layers, --heads, --d-model, --d-head or --d-value smaller");
  return random_model(shape, options.seed.value_or(kDefaultSeed),
                      options.positions.value_or(Positions::kNone));
}

// For a model without a readable tokenizer: takes ids and shows them as numbers.
class NoTokenizer : public Tokenizer {
 public:
  explicit NoTokenizer(const Error& why) : kind_(why.kind()), why_(why.what()) {}

  std::string_view name() const noexcept override { return "ids"; }
  TokenizedText tokenize(std::string_view /*text*/) const override {
    throw Error(kind_, fmt::format("{}; give --tokenizer PATH, or token ids with --ids", why_));
  }
  TokenizedText from_ids(std::span<const TokenId> ids) const override {
    TokenizedText text;
    for (const TokenId id : ids) {
      Token token;
      token.id = id;
      token.text = fmt::format("{}", id);
      token.begin = text.source.size() + (text.source.empty() ? 0 : 1);
      text.source += (text.source.empty() ? "" : " ") + token.text;
      token.end = text.source.size();
      text.tokens.push_back(std::move(token));
    }
    return text;
  }

 private:
  ErrorKind kind_;
  std::string why_;
};

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

// Applies the options that change a whole model; `given` is its name for -m.
Model changed(Model model, const ModelOptions& options, const std::string& given,
              const char* way_out) {
  if (options.positions) {
    if (model.config.positions != Positions::kNone &&
        model.config.positions != *options.positions) {
      throw Error(ErrorKind::kUsage, fmt::format("--positions {}: {} has its own positions: {}{}",
                                                 positions_name(*options.positions), given,
                                                 positions_name(model.config.positions), way_out));
    }
    model.config.positions = *options.positions;
  }
  if (options.seed) {
    if (model.config.random_weights) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("--seed {}: the weights of {} are random, from seed {}",
                              *options.seed, given, model.config.seed));
    }
    model.config.seed = *options.seed;  // for embeddings missing in the file
  }
  return model;
}

std::string name_of(const GivenModel& given) {
  const auto* const named = std::get_if<NamedModel>(&given);
  return named == nullptr ? kDemo : named->name;
}

// Refuses a tokenizer name for a model that has its own tokenizer.
[[noreturn]] void refuse_other_tokenizer(const std::string& asked, const std::string& model,
                                         const ModelSource& source) {
  throw Error(ErrorKind::kUsage,
              fmt::format("--tokenizer {}: {} has its own tokenizer, whose ids it was trained on; "
                          "leave the option out{}",
                          asked, model, is_embedded(source) ? ", or give --random" : ""));
}

}  // namespace

bool is_tokenizer_name(const std::string& name) {
  const auto names = tokenizer_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

ModelSource model_source(const GivenModel& given) {
  return std::visit(
      Overloaded{[](EmbeddedModel model) -> ModelSource { return model; },
                 [](const NamedModel& model) -> ModelSource { return StoredModel(model.name); }},
      given);
}

ModelSource model_source(const ModelOptions& options) {
  return std::visit(Overloaded{[](const GivenModel& given) { return model_source(given); },
                               [](const RandomShape& shape) -> ModelSource { return shape; }},
                    options.model);
}

std::vector<fs::path> files_of(const ModelSource& source) {
  const StoredModel* const stored = stored_model(source);
  return stored == nullptr ? std::vector<fs::path>() : stored->files();
}

Model open_model(ModelSource& source, const ModelOptions& options, Architecture architecture) {
  Model model = std::visit(
      Overloaded{
          [&](EmbeddedModel) {
            return changed(demo_model(), options, kDemo, "; --random takes any");
          },
          [&](StoredModel& stored) { return changed(stored.load(), options, stored.given(), ""); },
          [&](const RandomShape& shape) { return make_random_model(shape, options); }},
      source);
  if (model.encoder != nullptr && architecture == Architecture::kDecoderOnly) {
    throw Error(
        ErrorKind::kUnsupported,
        fmt::format("{}: this command does not support encoder-decoders; attnviz show draws their "
                    "attention (encoder, decoder, cross), and attnviz info describes them",
                    model.config.name));
  }
  return model;
}

std::unique_ptr<ModelTokenizer> own_tokenizer(ModelSource& source) {
  using Own = std::unique_ptr<ModelTokenizer>;
  return std::visit(Overloaded{[](EmbeddedModel) -> Own { return demo_tokenizer(); },
                               [](StoredModel& stored) -> Own { return stored.load_tokenizer(); },
                               [](const RandomShape&) -> Own { return nullptr; }},
                    source);
}

std::unique_ptr<Tokenizer> open_tokenizer(const std::optional<std::string>& asked,
                                          ModelSource& source, const Model& model) {
  if (asked && !is_tokenizer_name(*asked)) {
    return load_tokenizer(*asked);
  }
  if (!model.config.is_transformer()) {
    return make_tokenizer(asked.value_or(model.config.tokenizer), model.vocabulary);
  }
  if (asked) {
    refuse_other_tokenizer(*asked, model.config.name, source);
  }
  try {
    return own_tokenizer(source);
  } catch (const Error& error) {
    const StoredModel* const stored = stored_model(source);
    if (stored == nullptr || !stored->lacks_tokenizer(error)) {
      throw;
    }
    return std::make_unique<NoTokenizer>(error);
  }
}

std::unique_ptr<Tokenizer> open_tokenizer(const std::optional<std::string>& asked,
                                          const std::optional<GivenModel>& model) {
  const bool is_rule = asked && is_tokenizer_name(*asked);
  if (!model) {
    return asked && !is_rule ? load_tokenizer(*asked) : make_tokenizer(asked.value_or("words"));
  }
  ModelSource source = model_source(*model);
  if (auto* const stored = std::get_if<StoredModel>(&source);
      stored != nullptr && stored->form() == ModelForm::kWeightsJson) {
    return open_tokenizer(asked, source, stored->load());
  }
  if (is_rule) {
    refuse_other_tokenizer(*asked, name_of(*model), source);
  }
  return asked ? load_tokenizer(*asked) : own_tokenizer(source);
}

namespace {

namespace fs = std::filesystem;

constexpr const char* kSampleEndings[] = {".json", ".npy"};

bool is_sample(const fs::path& file) {
  return std::ranges::find(kSampleEndings, file.extension()) != std::end(kSampleEndings);
}

// Files in attnviz's format begin with their schema.
bool is_weights(const fs::path& file) {
  constexpr std::size_t kBeginning = 300;
  return MappedFile(file).bytes().substr(0, kBeginning).find("attnviz.weights/") !=
         std::string_view::npos;
}

std::optional<fs::path> find_sample(const fs::path& folder, std::string_view name) {
  for (const std::string& file : names_in(folder)) {
    const fs::path path = folder / file;
    if (is_sample(path) && (file == name || path.stem() == name)) {
      return path;
    }
  }
  return std::nullopt;
}

std::string name_of_sample(const fs::path& file) {
  return std::string(kSamplePrefix) + file.stem().string();
}

}  // namespace

fs::path samples_folder() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  for (const char* place : {ATTNVIZ_SAMPLES_INSTALLED, ATTNVIZ_SAMPLES_BUILT}) {
    fs::path folder = (program.parent_path() / place).lexically_normal();
    if (!error && is_there(folder)) {
      return folder;
    }
  }
  return {};
}

std::vector<std::string> sample_names() {
  std::vector<std::string> names;
  for (const std::string& file : names_in(samples_folder())) {
    if (is_sample(file)) {
      names.push_back(name_of_sample(file));
    }
  }
  return names;
}

std::optional<fs::path> sample_path(const fs::path& given) {
  const std::string word = given.string();
  if (!word.starts_with(kSamplePrefix) || is_there(given)) {
    return std::nullopt;
  }
  const std::string name = word.substr(kSamplePrefix.size());
  if (auto found = find_sample(samples_folder(), name)) {
    return found;
  }
  const std::vector<std::string> names = sample_names();
  throw Error(ErrorKind::kIo,
              names.empty()  ? fmt::format("{}: the samples are not installed", word)
              : name.empty() ? fmt::format("{} needs a name: {}", word, joined(names, "or"))
                             : fmt::format("{}: unknown sample{}; there {} {}", word,
                                           did_you_mean(word, names),
                                           names.size() == 1 ? "is" : "are", joined(names, "and")));
}

bool is_sample_of_attention(const std::string& word) {
  const auto path = word.starts_with(kSamplePrefix)
                        ? find_sample(samples_folder(), word.substr(kSamplePrefix.size()))
                        : std::nullopt;
  try {
    return path && !is_weights(*path);
  } catch (const Error&) {
    return false;
  }
}

Store sample_store() {
  return {kSampleStore, samples_folder(),
          [](const fs::path& root, const ModelName& name) {
            return name.path() + ":" == kSamplePrefix ? find_sample(root, name.tag) : std::nullopt;
          },
          [](const fs::path& root, Unread& unread) {
            std::vector<StoreEntry> entries;
            for (const std::string& file : names_in(root, &unread)) {
              const fs::path path = root / file;
              try {
                if (is_sample(path) && is_weights(path)) {
                  entries.push_back({name_of_sample(path), path, {}});
                }
              } catch (const Error& error) {
                entries.push_back({name_of_sample(path), path, error.what()});
              }
            }
            return entries;
          }};
}

}  // namespace attnviz::app
