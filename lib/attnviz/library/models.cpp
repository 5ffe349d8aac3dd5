#include "attnviz/library/models.h"

#include <utility>

#include "attnviz/model/random_model.h"
#include "attnviz/model/stored_model.h"
#include "attnviz/text/files/load_tokenizer.h"

namespace attnviz {

namespace {

LanguageModel with_tokenizer(Model model, std::shared_ptr<const Tokenizer> tokenizer) {
  model.config.tokenizer = tokenizer->name();
  return {std::make_shared<const Model>(std::move(model)), std::move(tokenizer)};
}

LanguageModel with_named_tokenizer(Model model) {
  auto tokenizer = make_tokenizer(model.config.tokenizer, model.vocabulary);
  return with_tokenizer(std::move(model), std::move(tokenizer));
}

}  // namespace

LanguageModel load_language_model(const std::filesystem::path& path) {
  if (is_gguf_file(path)) {
    return with_tokenizer(load_gguf(path), load_tokenizer(path));
  }
  if (is_hugging_face(path)) {
    return with_tokenizer(load_hugging_face(path), load_tokenizer(hugging_face_folder(path)));
  }
  return with_named_tokenizer(load_weights_json(path));
}

LanguageModel demo_language_model() {
  return with_tokenizer(demo_model(), demo_tokenizer());
}

LanguageModel random_language_model(const RandomShape& shape, std::uint64_t seed) {
  return with_named_tokenizer(random_model(shape, seed));
}

RandomShape shape_of(const LanguageModel& model) {
  const LayerWeights& layer = model.model->first_attention();
  const HeadWeights& head = layer.heads.front();
  return {model.model->n_layers(),     layer.heads.size(), key_value_heads(layer).size(),
          model.model->config.d_model, head.d_head(),      head.d_value()};
}

}  // namespace attnviz
