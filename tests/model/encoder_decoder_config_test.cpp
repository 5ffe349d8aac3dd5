// Configs of T5, Marian, BART and mBART: what is read, which defaults apply, and what is refused.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/model/stored_model.h"
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

// An encoder-decoder with changed values in its config.
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

// The file of a model, with header and bytes of one tensor changed.
using ChangeTensor = std::function<void(json& header, std::string& numbers)>;

void write_changed(const std::string& name, const test::TemporaryFolder& folder,
                   const ChangeTensor& change) {
  fs::copy_file(kExperts + name + "/config.json", folder.file("config.json"));
  const std::string bytes = test::read_file(kExperts + name + "/model.safetensors");
  std::uint64_t size = 0;
  std::memcpy(&size, bytes.data(), sizeof(size));
  json header = json::parse(bytes.substr(sizeof(size), size));
  std::string numbers = bytes.substr(sizeof(size) + size);
  change(header, numbers);
  const std::string text = header.dump();
  size = text.size();
  std::string written(sizeof(size), '\0');
  std::memcpy(written.data(), &size, sizeof(size));
  test::write_file(folder.file("model.safetensors"), written + text + numbers);
}

// Renames tensors: {old, new}.
Model renamed(const std::string& name, const std::vector<std::pair<std::string, std::string>>& to,
              const Changes& changes = {}) {
  const test::TemporaryFolder folder;
  write_changed(name, folder, [&to](json& header, std::string& /*numbers*/) {
    for (const auto& [one, other] : to) {
      const json tensor = header.at(one);
      header.erase(one);
      header[other] = tensor;
    }
  });
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

TEST_CASE("what a T5 config leaves out has its library's default") {
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
  CHECK(
      changed("t5-v1.1", {{"architectures", json{"MT5ForConditionalGeneration"}}}).config.family ==
      "t5");
  check_fails(
      "t5-v1.1", {{"model_type", "umt5"}, {"architectures", json{"UMT5ForConditionalGeneration"}}},
      ErrorKind::kMalformed, "encoder.block.1.layer.0.SelfAttention.relative_attention_bias");
}

TEST_CASE("the embeddings may be stored under an alternative name") {
  for (const auto& [model, shared, other] :
       {std::tuple("t5-relu-tied", "shared.weight", "encoder.embed_tokens.weight"),
        std::tuple("marian", "model.shared.weight", "lm_head.weight")}) {
    CHECK(renamed(model, {{shared, other}}).embeddings.rows == changed(model, {}).embeddings.rows);
  }
  const std::string own = ".embed_tokens.weight";
  CHECK(renamed("bart", {{"model.shared.weight", "score.a"}, {"model.encoder" + own, "score.b"}})
            .embeddings.rows == 77);
}

TEST_CASE("stacks whose own embeddings differ from the shared ones are refused") {
  const test::TemporaryFolder folder;
  write_changed("bart", folder, [](json& header, std::string& numbers) {
    const std::size_t first = header["model.decoder.embed_tokens.weight"]["data_offsets"][0];
    numbers[first + 1] = '\x40';
  });
  const test::Failure failure = test::failure_of([&] { load_hugging_face(folder.path()); });
  CHECK(failure.kind == ErrorKind::kUnsupported);
  CHECK(failure.message.find("model.decoder.embed_tokens.weight: expected the numbers of "
                             "shared.weight") != std::string::npos);
}

TEST_CASE("later configs say separately whether the decoder's output is scaled") {
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

TEST_CASE(
    "configs of Marian with settings its layers do not implement are refused, naming the key") {
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

TEST_CASE("what configs of BART and mBART leave out has their library's default") {
  const Model bart = changed("bart", {{"activation_function", test::kAbsent},
                                      {"decoder_start_token_id", test::kAbsent},
                                      {"forced_bos_token_id", test::kAbsent},
                                      {"scale_embedding", test::kAbsent},
                                      {"is_encoder_decoder", test::kAbsent}});
  CHECK(bart.config.first_token == 2u);
  CHECK(!bart.config.forced_token);
  CHECK(bart.embedding_scale == 1.0f);
  CHECK(bart.config.order == LayerOrder::kPostNorm);
  CHECK(bart.layers.front().mlp.activation == Activation::kGelu);
  CHECK(bart.first_position == 2);
  CHECK(bart.config.n_ctx == 32);
  check_fails("bart", {{"max_position_embeddings", test::kAbsent}}, ErrorKind::kMalformed,
              "encoder.embed_positions.weight: expected [1026, 16]");
  check_fails("bart", {{"encoder_layers", test::kAbsent}}, ErrorKind::kMalformed,
              "encoder.layers.3");
  const Model mbart = changed("mbart", {{"decoder_start_token_id", test::kAbsent}});
  CHECK(mbart.config.first_token == 0u);
  CHECK(mbart.embedding_scale == 4.0f);
  CHECK(mbart.config.order == LayerOrder::kPreNorm);
  CHECK(mbart.head.norm.present());
  CHECK(mbart.encoder->head.norm.present());
  // A key of other families, which these layers do not read, and one of a training program.
  const Model trained = changed("mbart", {{"layer_norm_eps", 1e-6}, {"save_step", 10}});
  CHECK(trained.config.unknown_keys == std::vector<std::string>{"save_step"});
}

TEST_CASE("configs of BART and mBART that do not have their family's architecture are refused") {
  for (const auto& [model, norms_first] : {std::pair("bart", false), std::pair("mbart", true)}) {
    for (const auto& [key, value] :
         {std::pair("normalize_before", json(!norms_first)),
          std::pair("add_final_layer_norm", json(!norms_first)),
          std::pair("normalize_embedding", json(false)), std::pair("add_bias_logits", json(true)),
          std::pair("static_position_embeddings", json(true)),
          std::pair("do_blenderbot_90_layernorm", json(true)),
          std::pair("extra_pos_embeddings", json(1)), std::pair("is_encoder_decoder", json(false)),
          std::pair("activation_function", json("mish")),
          std::pair("architectures", json{"BartForCausalDecoding"})}) {
      check_fails(model, {{key, value}}, ErrorKind::kUnsupported, key);
    }
    check_fails(model, {{"decoder_attention_heads", 3}}, ErrorKind::kMalformed, "3 heads");
  }
}

TEST_CASE("BART's files may lack the model's prefix, and contain heads of other tasks") {
  CHECK(renamed("bart", {{"final_logits_bias", "classification_head.out_proj.weight"}},
                {{"architectures", json{"BartForSequenceClassification"}}})
            .head.unembedding.bias.empty());
  const test::TemporaryFolder folder;
  write_changed("bart", folder, [](json& header, std::string& /*numbers*/) {
    json bare;
    for (const auto& [name, tensor] : header.items()) {
      bare[name.starts_with("model.") ? name.substr(6) : name] = tensor;
    }
    header = bare;
  });
  CHECK(load_hugging_face(folder.path()).n_layers() == 2);
}

TEST_CASE("an untied BART predicts with its own lm_head") {
  const std::string own = "model.encoder.embed_tokens.weight";
  CHECK(renamed("bart", {{own, "lm_head.weight"}}, {{"tie_word_embeddings", false}})
            .head.unembedding.weight.data != changed("bart", {}).embeddings.data);
  const Model base = renamed("bart", {{own, "score.a"}, {"final_logits_bias", "score.b"}},
                             {{"tie_word_embeddings", false}});
  CHECK(base.head.unembedding.weight.empty());
}

TEST_CASE(
    "generation_config.json takes precedence over config.json for the decoder's start token") {
  CHECK(changed("bart", {}).config.forced_token == 0u);
  CHECK(changed("bart", {{"forced_bos_token_id", test::kAbsent},
                         {"force_bos_token_to_be_generated", true},
                         {"bos_token_id", 5}})
            .config.forced_token == 5u);
  const test::TemporaryFolder folder;
  for (const char* file : {"config.json", "model.safetensors"}) {
    fs::copy_file(kExperts + "bart/" + file, folder.file(file));
  }
  const auto with = [&folder](const json& said) {
    test::write_file(folder.file("generation_config.json"), said.dump());
    return load_hugging_face(folder.path()).config;
  };
  const ModelConfig both = with({{"decoder_start_token_id", 7}, {"forced_bos_token_id", 9}});
  CHECK(both.first_token == 7u);
  CHECK(both.forced_token == 9u);
  CHECK(both.end_of_text == std::vector<std::uint32_t>{2});
  const ModelConfig silent = with({{"max_length", 20}});
  CHECK(silent.first_token == 2u);
  CHECK(!silent.forced_token);
}

}  // namespace attnviz
