#include "tokenizer_choice.h"

#include <fmt/core.h>

#include <algorithm>

#include "attnviz/core/error.h"
#include "attnviz/model/hugging_face.h"
#include "attnviz/text/load_tokenizer.h"
#include "model_store.h"

namespace attnviz::app {

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
                    "on; leave the option out",
                    *asked, model.config.name));
  }
  return load_tokenizer(hugging_face_folder(find_model(*model_path)));
}

std::unique_ptr<Tokenizer> open_tokenizer(const std::optional<std::string>& asked) {
  return asked && !is_tokenizer_name(*asked) ? load_tokenizer(*asked)
                                             : make_tokenizer(asked.value_or("words"));
}

}  // namespace attnviz::app
