#include "attnviz/analysis/model_shape.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "attnviz/core/error.h"
#include "attnviz/model/stored_model.h"

namespace attnviz {
namespace {

const std::filesystem::path kModelFolders = ATTNVIZ_SOURCE_DIR "/tests/reference/models";

// As 3Blue1Brown's lecture on attention counts it.
DescribedModel gpt3() {
  DescribedModel model;
  model.attention.n_layers = 96;
  model.attention.n_heads = 96;
  model.attention.d_model = 12288;
  model.attention.d_head = 128;
  return model;
}

}  // namespace

TEST_CASE("GPT-3 in numbers: 6.3 million a head, 604 million a block, 58 billion in attention") {
  const ParameterCounts counts = count_parameters(model_shape(gpt3()));
  REQUIRE(counts.head.has_value());
  CHECK(counts.head->query == 1572864);
  CHECK(counts.head->key == 1572864);
  CHECK(counts.head->value == 1572864);
  CHECK(counts.head->output == 1572864);
  CHECK(counts.head->total() == 6291456);
  REQUIRE(counts.layer.has_value());
  CHECK(counts.layer->attention.total() == 603979776);
  CHECK(counts.layers.attention.query == 14495514624);
  CHECK(counts.layers.attention.total() == 57982058496);
  CHECK(counts.total == 57982058496);
}

TEST_CASE("GPT-3 in numbers: with vocabulary and MLPs, 175,181,291,520 as in the lecture") {
  DescribedModel model = gpt3();
  model.n_vocab = 50257;
  model.d_ff = 49152;
  const ParameterCounts counts = count_parameters(model_shape(model));
  CHECK(counts.token_embeddings == 617558016);
  CHECK(counts.output_head == 617558016);
  CHECK(counts.layers.mlp == 115964116992);
  CHECK(counts.total == 175181291520);
  model.tied = true;
  CHECK(count_parameters(model_shape(model)).total == 175181291520 - 617558016);
}

TEST_CASE("GPT-2 small has 124,439,808 parameters") {
  ModelShape shape;
  shape.d_model = 768;
  shape.n_vocab = 50257;
  shape.n_positions = 1024;
  shape.outer_norms = 2 * 768;
  shape.tied = true;
  LayerShape layer;
  layer.heads = {{12, 12, 64, 64, true, true, true}};
  layer.output_biases = 768;
  layer.d_ff = 3072;
  layer.mlp_biases = 3072 + 768;
  layer.norms = 4 * 768;
  layer.n_layers = 12;
  shape.layers = {layer};
  const ParameterCounts counts = count_parameters(shape);
  CHECK(counts.total == 124439808);
  CHECK(counts.layer->total() == 7087872);
  CHECK(counts.layers.attention.biases == 12 * 3072);
  CHECK(counts.output_head == 0);
}

TEST_CASE("Llama 3.2 1B: 32 heads share 8 keys and values, counted once per layer") {
  DescribedModel model;
  model.attention = {16, 32, 8, 2048, 64};
  model.n_vocab = 128256;
  model.d_ff = 8192;
  model.gated = true;
  model.tied = true;
  const ModelShape shape = model_shape(model);
  const ParameterCounts counts = count_parameters(shape);
  CHECK(counts.head->key == 131072);  // whole, though four heads share it
  CHECK(counts.layer->attention.query == 4194304);
  CHECK(counts.layer->attention.key == 1048576);
  CHECK(counts.layer->attention.total() == 10485760);
  CHECK(counts.layer->mlp == 50331648);
  // 1,235,814,400 of the published model, minus its 33 norms, which no setting describes.
  CHECK(counts.total == 1235814400 - 33 * 2048);
  // 16 layers with 8 keys and 8 values of 64 numbers each.
  CHECK(kept_bytes(shape, 1, 2) == 32768);
  CHECK(kept_bytes(shape, 131072, 2) == 4294967296);
}

TEST_CASE("a tiny Llama with groups, biases and tied embeddings, counted by hand") {
  const Model model = load_hugging_face(kModelFolders / "llama-gqa-bias");
  const ModelShape shape = model_shape(model);
  CHECK(shape.tied);
  CHECK(shape.layers.size() == 1);  // two identical layers
  CHECK(shape.n_layers() == 2);
  CHECK(shape.n_ctx == 64);
  const ParameterCounts counts = count_parameters(shape);
  CHECK(*counts.head == AttentionCounts{60, 60, 60, 60, 18});
  CHECK(counts.layer->attention == AttentionCounts{240, 120, 120, 240, 24 + 12 + 12 + 10});
  CHECK(counts.layer->mlp == 3 * 90 + 9 + 9 + 10);
  CHECK(counts.layer->norms == 20);
  CHECK(counts.token_embeddings == 410);
  CHECK(counts.outer_norms == 10);
  CHECK(counts.total == 2 * (778 + 298 + 20) + 410 + 10);
  CHECK(kept_bytes(shape, 128, 4) == 128 * 2 * 2 * 12 * 4);
}

TEST_CASE("a tiny GPT-2, counted by hand; its file holds the same number of values") {
  const Model model = load_hugging_face(kModelFolders / "gpt2-tied");
  const ParameterCounts counts = count_parameters(model_shape(model));
  CHECK(counts.positions == 17 * 12);
  CHECK(counts.layer->attention.total() == 4 * 144 + 48);
  CHECK(counts.layer->mlp == 2 * 12 * 48 + 48 + 12);
  CHECK(counts.total == 4560);
  REQUIRE(model.stored.used.size() == 1);
  CHECK(model.stored.used[0].type == StoredType::kF32);
  CHECK(model.stored.used[0].count == 4560);
}

TEST_CASE("every model folder: as many parameters as the tensors in use have numbers") {
  std::size_t n_models = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kModelFolders)) {
    if (!std::filesystem::exists(entry.path() / "config.json")) {
      continue;
    }
    CAPTURE(entry.path().filename().string());
    const Model model = load_hugging_face(entry.path());
    std::size_t stored = 0;
    for (const StoredWeights::Numbers& numbers : model.stored.used) {
      stored += numbers.count;
    }
    CHECK(count_parameters(model_shape(model)).total == stored);
    ++n_models;
  }
  CHECK(n_models > 25);
}

TEST_CASE("a random model has the sizes of its description") {
  DescribedModel described;
  described.attention = {3, 4, 2, 20, 6, 5};
  const ParameterCounts in_numbers = count_parameters(model_shape(described));
  const Model model = random_model(described.attention, 1);
  const ParameterCounts counts = count_parameters(model_shape(model));
  CHECK(counts.layers == in_numbers.layers);
  CHECK(counts.layers.attention == AttentionCounts{1440, 720, 600, 1200, 0});
  CHECK(counts.head == in_numbers.head);
}

TEST_CASE("heads and layers that differ are counted, but no single head represents all") {
  LayerShape narrow;
  narrow.heads = {{1, 1, 2, 2}, {1, 1, 3, 2}};
  LayerShape wide;
  wide.heads = {{2, 2, 4, 4}};
  wide.output = false;
  ModelShape shape;
  shape.d_model = 10;
  shape.layers = {narrow, wide};
  const ParameterCounts counts = count_parameters(shape);
  CHECK(!counts.head);
  CHECK(!counts.layer);
  CHECK(counts.layers.attention.query == 20 + 30 + 80);
  CHECK(counts.layers.attention.value == 40 + 80);
  CHECK(counts.layers.attention.output == 40);
}

TEST_CASE("patterns take four bytes per pair of tokens and head, up to the context's length") {
  ModelShape shape = model_shape(gpt3());
  shape.n_ctx = 2048;
  CHECK(pattern_bytes(shape, 1024).head == 4194304);
  CHECK(pattern_bytes(shape, 1024).all == 4194304UL * 9216);
  const std::vector<TextMemory> rows = text_memory(shape);
  REQUIRE(rows.size() == 6);
  CHECK(rows[0].n_tokens == 128);
  CHECK(rows[0].kept_float32 == 128UL * 96 * 96 * 256 * 4);
  CHECK(rows[0].kept_float16 == 128UL * 96 * 96 * 256 * 2);
  CHECK(!rows[2].beyond_context);
  CHECK(rows[3].n_tokens == 4096);
  CHECK(rows[3].beyond_context);
}

TEST_CASE("models in which tokens see later ones keep no keys for the next token") {
  CHECK(!model_shape(load_hugging_face(kModelFolders / "bert-pair")).keeps_keys);
  CHECK(model_shape(load_hugging_face(kModelFolders / "gemma2-softcap-window")).keeps_keys);
}

TEST_CASE("a model too large to count is refused") {
  DescribedModel model;
  model.attention = {1000000, 1000000, 0, 1000000, 1000000};
  CHECK_THROWS_AS(count_parameters(model_shape(model)), Error);
  model.attention = {1000000, 1000000, 0, 1, 1};
  CHECK_THROWS_AS(text_memory(model_shape(model)), Error);
}

}  // namespace attnviz
