#include "stores/tokenizer_choice.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/model/hugging_face.h"
#include "attnviz/text/files/demo_tokenizer.h"
#include "attnviz/text/files/load_tokenizer.h"
#include "options/options.h"
#include "stores/model_store.h"

namespace attnviz::app {

namespace {

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

}  // namespace

std::unique_ptr<ModelTokenizer> load_own_tokenizer(const std::filesystem::path& model_path) {
  switch (model_kind(model_path)) {
    case ModelKind::kEmbedded:
      return demo_tokenizer();
    case ModelKind::kGguf:
      return load_tokenizer(model_path);
    default:
      return load_tokenizer(hugging_face_folder(model_path));
  }
}

void refuse_other_tokenizer(const std::string& asked, const std::string& model) {
  throw Error(ErrorKind::kUsage,
              fmt::format("--tokenizer {}: {} has a tokenizer of its own, whose ids it was trained "
                          "on; leave the option out{}",
                          asked, model, model == kDemo ? ", or give --random" : ""));
}

bool is_tokenizer_name(const std::string& name) {
  const auto names = tokenizer_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::unique_ptr<Tokenizer> open_tokenizer(const std::optional<std::string>& asked,
                                          const Model& model,
                                          const std::optional<std::filesystem::path>& model_path) {
  const bool has_own = !model.config.family.empty() && model_path.has_value();
  if (asked && !is_tokenizer_name(*asked)) {
    return load_tokenizer(*asked);
  }
  if (!has_own) {
    return make_tokenizer(asked.value_or(model.config.tokenizer), model.vocabulary);
  }
  if (asked) {
    refuse_other_tokenizer(*asked, model.config.name);
  }
  const std::filesystem::path path = find_model(*model_path);
  try {
    return load_own_tokenizer(path);
  } catch (const Error& error) {
    std::error_code ignored;
    const bool is_gguf = model_kind(path) == ModelKind::kGguf;
    const bool is_there =
        !is_gguf && std::filesystem::exists(hugging_face_folder(path) / "tokenizer.json", ignored);
    const bool is_unknown = error.kind() == ErrorKind::kUnsupported && is_gguf;
    if (!is_unknown && (error.kind() != ErrorKind::kIo || is_there)) {
      throw;
    }
    return std::make_unique<NoTokenizer>(error);
  }
}

std::unique_ptr<Tokenizer> open_tokenizer(const std::optional<std::string>& asked) {
  return asked && !is_tokenizer_name(*asked) ? load_tokenizer(*asked)
                                             : make_tokenizer(asked.value_or("words"));
}

}  // namespace attnviz::app
