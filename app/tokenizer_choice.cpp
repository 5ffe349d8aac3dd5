#include "tokenizer_choice.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/model/gguf_model.h"
#include "attnviz/model/hugging_face.h"
#include "attnviz/text/load_tokenizer.h"
#include "model_store.h"

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
  if (is_demo(model_path)) {
    return demo_tokenizer();
  }
  return load_tokenizer(is_gguf_file(model_path) ? model_path : hugging_face_folder(model_path));
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
    throw Error(
        ErrorKind::kUsage,
        fmt::format("--tokenizer {}: {} has a tokenizer of its own, whose ids it was trained "
                    "on; leave the option out{}",
                    *asked, model.config.name, is_demo(*model_path) ? ", or give --random" : ""));
  }
  const std::filesystem::path path = find_model(*model_path);
  try {
    return load_own_tokenizer(path);
  } catch (const Error& error) {
    std::error_code ignored;
    const bool is_there =
        !is_gguf_file(path) &&
        std::filesystem::exists(hugging_face_folder(path) / "tokenizer.json", ignored);
    const bool is_unknown = error.kind() == ErrorKind::kUnsupported && is_gguf_file(path);
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
