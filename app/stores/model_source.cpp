#include "stores/model_source.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/model/hugging_face.h"
#include "attnviz/text/files/load_tokenizer.h"
#include "system/memory.h"

namespace attnviz::app {

namespace {

namespace fs = std::filesystem;

// Follows random_model's defaults; an estimate, so doubles instead of checked products.
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

// Of a model without a tokenizer that can be read: ids can be given, and are shown as they are.
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

// What the options change of a model that is whole; `given` is what -m says.
Model changed(Model model, const ModelOptions& options, const std::string& given,
              const char* way_out) {
  if (options.positions) {
    if (model.config.positions != Positions::kNone &&
        model.config.positions != *options.positions) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("--positions {}: {} has positions of its own: {}{}",
                              positions_name(*options.positions), given,
                              positions_name(model.config.positions), way_out));
    }
    model.config.positions = *options.positions;
  }
  if (options.seed) {
    if (model.config.random_weights) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("--seed {}: {} says that its weights are random, from seed {}",
                              *options.seed, given, model.config.seed));
    }
    model.config.seed = *options.seed;  // of embeddings that the file leaves out
  }
  return model;
}

std::string name_of(const GivenModel& given) {
  const auto* const named = std::get_if<NamedModel>(&given);
  return named == nullptr ? kDemo : named->name;
}

// A rule's name beside a whole model's name.
[[noreturn]] void refuse_other_tokenizer(const std::string& asked, const std::string& model,
                                         const ModelSource& source) {
  throw Error(ErrorKind::kUsage,
              fmt::format("--tokenizer {}: {} has a tokenizer of its own, whose ids it was trained "
                          "on; leave the option out{}",
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
        fmt::format("{}: an encoder-decoder, which this command does not take: attnviz show "
                    "draws its attention, of the encoder, the decoder and between them, and "
                    "attnviz info describes it",
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

}  // namespace attnviz::app
