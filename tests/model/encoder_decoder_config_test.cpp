// Configs of T5 and Marian: what is read, what is assumed, and what is refused.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/model/hugging_face.h"
#include "support/failure.h"
#include "support/json.h"
#include "support/run_program.h"
#include "support/stored_model.h"

namespace attnviz {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const std::string kExperts = ATTNVIZ_SOURCE_DIR "/tests/reference/experts/";

using Changes = std::vector<std::pair<std::string, json>>;

// A model of two stacks, its config with other values.
Model changed(const std::string& name, const Changes& changes) {
  const test::TemporaryFolder folder;
  for (const char* file : {"config.json", "model.safetensors"}) {
    fs::copy_file(kExperts + name + "/" + file, folder.file(file));
  }
  for (const auto& [key, value] : changes) {
    test::change_config(folder.path(), key, value);
  }
  return load_hugging_face(folder.path());
}

void check_fails(const std::string& name, const Changes& changes, ErrorKind kind,
                 std::string_view part) {
  const test::Failure failure = test::failure_of([&] { changed(name, changes); });
  CAPTURE(part);
  CAPTURE(failure.message);
  CHECK(failure.kind == kind);
  CHECK(failure.message.find(part) != std::string::npos);
}

}  // namespace

TEST_CASE("what a T5 config leaves out is as its library has it") {
  const Model silent = changed("t5-relu-tied", {{"layer_norm_epsilon", test::kAbsent},
                                                {"relative_attention_max_distance", test::kAbsent},
                                                {"relative_attention_num_buckets", test::kAbsent},
                                                {"feed_forward_proj", test::kAbsent},
                                                {"tie_word_embeddings", test::kAbsent},
                                                {"decoder_start_token_id", test::kAbsent},
                                                {"is_encoder_decoder", test::kAbsent}});
  REQUIRE(silent.encoder != nullptr);
  CHECK(silent.layers.front().distance_bias->reach == 128);
  CHECK(silent.encoder->layers.front().mlp.activation == Activation::kRelu);
  CHECK(silent.config.first_token == 0u);
  CHECK(silent.head.scale == doctest::Approx(0.17677669));
  CHECK(silent.encoder->config.family == "t5");
  CHECK(silent.layers[0].distance_bias == silent.layers[1].distance_bias);
  CHECK(silent.layers[0].distance_bias != silent.encoder->layers[0].distance_bias);
}

TEST_CASE("mT5 is T5 v1.1 by another name; UMT5 has a table of distances in each layer") {
  CHECK(changed("t5-v1.1",
                {{"model_type", "mt5"}, {"architectures", json{"MT5ForConditionalGeneration"}}})
            .config.family == "mt5");
  check_fails(
      "t5-v1.1", {{"model_type", "umt5"}, {"architectures", json{"UMT5ForConditionalGeneration"}}},
      ErrorKind::kMalformed, "encoder.block.1.layer.0.SelfAttention.relative_attention_bias");
}

TEST_CASE("the embeddings may stand under another name of theirs") {
  for (const auto& [model, shared, other] :
       {std::tuple("t5-relu-tied", "shared.weight", "encoder.embed_tokens.weight"),
        std::tuple("marian", "model.shared.weight", "lm_head.weight")}) {
    const test::TemporaryFolder folder;
    fs::copy_file(kExperts + model + "/config.json", folder.file("config.json"));
    const std::string bytes = test::read_file(kExperts + model + "/model.safetensors");
    std::uint64_t size = 0;
    std::memcpy(&size, bytes.data(), sizeof(size));
    std::string header = bytes.substr(sizeof(size), size);
    const std::string name = std::string("\"") + shared + "\"";
    header.replace(header.find(name), name.size(), std::string("\"") + other + "\"");
    const std::uint64_t new_size = header.size();
    std::string written(sizeof(new_size), '\0');
    std::memcpy(written.data(), &new_size, sizeof(new_size));
    written += header + bytes.substr(sizeof(size) + size);
    test::write_file(folder.file("model.safetensors"), written);
    const Model found = load_hugging_face(folder.path());
    CHECK(found.embeddings.rows == changed(model, {}).embeddings.rows);
  }
}

TEST_CASE("later configs say apart whether the decoder's output is scaled") {
  CHECK(changed("t5-v1.1", {{"tie_word_embeddings", true}, {"scale_decoder_outputs", false}})
            .head.scale == 1.0f);
  CHECK(changed("t5-relu-tied", {{"scale_decoder_outputs", false}}).head.scale == 1.0f);
}

TEST_CASE("configs of T5 that contradict themselves or their files are refused, naming the key") {
  const auto bad = [](const char* key, const json& value) {
    check_fails("t5-relu-tied", {{key, value}}, ErrorKind::kMalformed, key);
  };
  bad("relative_attention_num_buckets", 3);
  bad("relative_attention_num_buckets", 2);
  bad("relative_attention_max_distance", 16);
  bad("num_heads", 0);
  bad("d_kv", -1);
  bad("decoder_start_token_id", -1);
  const auto unknown = [](const char* key, const json& value) {
    check_fails("t5-relu-tied", {{key, value}}, ErrorKind::kUnsupported, key);
  };
  unknown("relative_attention_max_distance", 2000000000);
  unknown("feed_forward_proj", "gelu");
  unknown("is_encoder_decoder", false);
  unknown("architectures", json{"T5EncoderModel"});
  unknown("sliding_window", 4);
  const auto of_tensors = [](const char* key, const json& value, std::string_view tensor) {
    check_fails("t5-relu-tied", {{key, value}}, ErrorKind::kMalformed, tensor);
  };
  of_tensors("relative_attention_num_buckets", 30, "relative_attention_bias");
  of_tensors("num_heads", 3, "SelfAttention.q.weight");
  of_tensors("d_kv", 2147483648, "SelfAttention.q.weight");
  of_tensors("num_decoder_layers", 3, "decoder.block.2");
  of_tensors("num_layers", 2147483648, "encoder.block.3");
  of_tensors("d_ff", 47, "DenseReluDense.wi.weight");
}

TEST_CASE("configs of Marian that its layers do not follow are refused, naming the key") {
  const auto unknown = [](const char* key, const json& value) {
    check_fails("marian", {{key, value}}, ErrorKind::kUnsupported, key);
  };
  unknown("normalize_before", true);
  unknown("normalize_embedding", true);
  unknown("add_final_layer_norm", true);
  unknown("static_position_embeddings", false);
  unknown("share_encoder_decoder_embeddings", false);
  unknown("tie_word_embeddings", false);
  unknown("decoder_vocab_size", 76);
  unknown("activation_function", "mish");
  check_fails("marian", {{"encoder_attention_heads", 5}}, ErrorKind::kMalformed, "5 heads");
  check_fails("marian",
              {{"decoder_start_token_id", test::kAbsent}, {"pad_token_id", test::kAbsent}},
              ErrorKind::kMalformed, "decoder_start_token_id");
  const Model plain = changed("marian", {{"scale_embedding", false}});
  CHECK(plain.embedding_scale == 1.0f);
  CHECK(plain.sines_first);
  CHECK(plain.encoder->sines_first);
  CHECK(plain.config.n_ctx == 64);
}

}  // namespace attnviz
