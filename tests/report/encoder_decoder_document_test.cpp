#include "attnviz/report/attention_facts.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <memory>
#include <vector>

#include "attnviz/attention/interventions.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/model/stored_model.h"

namespace attnviz {

TEST_CASE("part_document: the encoder's own sizes, and the model's name") {
  const std::filesystem::path folder = ATTNVIZ_SOURCE_DIR "/tests/reference/experts/t5-relu-tied";
  Model model = load_hugging_face(folder);
  // Two heads that share keys, instead of four.
  auto encoder = std::make_shared<Model>(*model.encoder);
  for (LayerWeights& layer : encoder->layers) {
    layer.heads.resize(2);
    layer.heads[1].key = layer.heads[0].key;
    layer.heads[1].value = layer.heads[0].value;
  }
  encoder->config.name = "a half";
  encoder->config.d_model = 16;
  model.encoder = encoder;
  TokenizedText text;
  text.tokens.resize(3);
  const auto facts = [&](AttentionPart part) {
    const Model& stack = part == AttentionPart::kEncoder ? *model.encoder : model;
    const auto patterns = std::make_shared<PatternStore>(select_heads(stack, "", ""), 3);
    return *part_document(model, part, {text}, {text}, {}, patterns).model;
  };
  const ModelFacts own = facts(AttentionPart::kEncoder);
  CHECK(own.name == "t5-relu-tied");
  CHECK(own.family == "t5");
  CHECK(own.n_layers == 3);
  CHECK(own.n_heads == 2);
  CHECK(own.n_kv_heads == 1);
  CHECK(own.d_model == 16);
  const ModelFacts decoder = facts(AttentionPart::kDecoder);
  CHECK(decoder.n_layers == 2);
  CHECK(decoder.n_heads == 4);
  CHECK(decoder.n_kv_heads == 4);
  CHECK(decoder.d_model == 32);
}

}  // namespace attnviz
