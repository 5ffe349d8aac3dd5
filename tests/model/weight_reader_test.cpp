// Which tensors of a file are read, and which others are allowed.
#include "attnviz/model/weight_reader.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>

#include "attnviz/model/stored_model.h"
#include "support/failure.h"
#include "support/json.h"
#include "support/run_program.h"
#include "support/stored_model.h"

namespace attnviz {
namespace {

using nlohmann::json;
using test::TemporaryFolder;

using FileEdit = std::function<void(json& header, std::string& data)>;

void nothing(json& /*header*/, std::string& /*data*/) {}

// A reference model with changed tensors.
Model with_file(const std::string& model, const FileEdit& edit,
                const std::string& file = "model.safetensors") {
  const TemporaryFolder folder;
  test::copy_model(model, folder.path());
  const std::string bytes = test::read_file(folder.path() / file);
  std::uint64_t size = 0;  // of the header, little-endian
  std::memcpy(&size, bytes.data(), sizeof size);
  json header = test::parse_json(bytes.substr(sizeof size, size));
  std::string data = bytes.substr(sizeof size + size);
  edit(header, data);
  const std::string edited = header.dump();
  size = edited.size();
  std::string front(sizeof size, '\0');
  std::memcpy(front.data(), &size, sizeof size);
  test::write_file(folder.path() / file, front + edited + data);
  return load_hugging_face(folder.path());
}

}  // namespace

TEST_CASE("Hugging Face: unread tensors are refused by name, except for known ones") {
  struct Unread {
    const char* model;
    const char* tensor;
    bool is_ignorable;
  };
  const Unread all[] = {
      {"llama-mha-untied", "model.layers.0.self_attn.rotary_emb.cos_cached", true},
      {"llama-mha-untied", "model.rotary_emb.inv_freq", true},
      {"llama-mha-untied", "vision_tower.patch.weight", true},
      {"llama-mha-untied", "model.visual.patch.weight", true},
      {"llama-mha-untied", "score.weight", true},
      {"llama-mha-untied", "model.layers.1.self_attn.q_proj.bias", false},
      {"llama-mha-untied", "model.layers.0.invented", false},
      {"llama-mha-untied", "model.layers.0.self_attn.sinks", false},
      {"llama-mha-untied", "model.layers.0.self_attn.score.gate", false},
      {"llama-mha-untied", "model.layers.0.self_attn.rotary_emb.inv_freq_scale", false},
      {"llama-mha-untied", "model.layers.0.pooler.w", false},
      {"llama-mha-untied", "v.blk.0.weight", false},
      {"gpt2-tied", "h.0.attn.masked_bias", true},
      {"gpt-neox-parallel", "gpt_neox.layers.0.attention.rotary_emb.cos_cached", true},
      {"bert-pair", "linear.weight", true},
      {"gpt2-tied", "lm_head.weight", true},
      {"gpt2-tied", "h.0.attention.bias", false},
      {"bert-pair", "cls.seq_relationship.weight", true},
      {"bert-pair", "encoder.layer.0.pooler.w", false},
      {"roberta-mlm", "lm_head.decoder.weight", true},
      {"llama-mha-untied", "model.layers.0.self_attn.masked_bias", true},
      {"llama-mha-untied", "base_model.lora_embedding_A", false},
  };
  for (const Unread& one : all) {
    CAPTURE(one.model);
    CAPTURE(one.tensor);
    const std::size_t n_there = with_file(one.model, nothing).config.ignored_keys.size();
    const auto load = [&] {
      return with_file(one.model, [&](json& header, std::string& data) {
        header[one.tensor] = {
            {"dtype", "F32"}, {"shape", {0}}, {"data_offsets", {data.size(), data.size()}}};
      });
    };
    if (one.is_ignorable) {
      CHECK(load().config.ignored_keys.size() == n_there + 1);
    } else {
      test::check_refused(load, one.tensor);
    }
  }
}

TEST_CASE("Hugging Face: an unknown tensor outside of the layers is reported, not refused") {
  struct Unknown {
    const char* model;
    const char* tensor;
  };
  const Unknown all[] = {
      {"llama-mha-untied", "v_head.summary.weight"},
      {"llama-mha-untied", "x.lm_head.weight"},
      {"llama-mha-untied", "lm_head.decoder.weight"},
      {"llama-mha-untied", "model.layers.x.self_attn.rotary_emb.inv_freq"},
      {"gpt2-untied-inverse-layer", "embed_out.weight"},
      {"roberta-mlm", "lm_head.decoder.extra"},
      {"mistral-window", "projection.0.weight"},
  };
  for (const Unknown& one : all) {
    CAPTURE(std::string(one.tensor));
    const Model model = with_file(one.model, [&](json& header, std::string& data) {
      header[one.tensor] = {
          {"dtype", "F32"}, {"shape", {0}}, {"data_offsets", {data.size(), data.size()}}};
    });
    CHECK(model.config.unknown_keys == std::vector<std::string>{one.tensor});
  }
}

TEST_CASE("Hugging Face: masks stored with attention's weights are ignored and recomputed") {
  const Model model = with_file("llama-mha-untied", [](json& header, std::string& data) {
    header["model.layers.0.self_attn.bias"] = {
        {"dtype", "BOOL"}, {"shape", {1, 1, 0, 0}}, {"data_offsets", {data.size(), data.size()}}};
  });
  CHECK(model.config.unknown_keys.empty());
  CHECK(std::ranges::count(model.config.ignored_keys, "model.layers.0.self_attn.bias",
                           &IgnoredKey::name) == 1);
}

TEST_CASE("Hugging Face: only tensors in use need a supported type") {
  const auto as_type = [](const char* tensor, const char* type) {
    return with_file("llama-mha-untied", [&](json& header, std::string& data) {
      if (header.contains(tensor)) {
        header[tensor]["dtype"] = type;
      } else {
        header[tensor] = {
            {"dtype", type}, {"shape", {3, 2}}, {"data_offsets", {data.size(), data.size() + 3}}};
        data += "abc";
      }
    });
  };
  for (const char* type : {"F4", "F6_E2M3", "I4", "C64", "F8_E8M0"}) {
    CAPTURE(type);
    const Model model = as_type("v_head.scales", type);
    CHECK(model.config.unknown_keys == std::vector<std::string>{"v_head.scales"});
    test::check_refused([&] { as_type("model.norm.weight", type); },
                        std::string("model.norm.weight: expected F32, F16, BF16, F64 or a "
                                    "quantised type of GGUF, found ") +
                            type);
  }
}

TEST_CASE("Hugging Face: a head is read under any prefix outside of the layers") {
  const Model plain = with_file("llama-mha-untied", nothing);
  const Model moved = with_file("llama-mha-untied", [](json& header, std::string& /*data*/) {
    json renamed;
    for (const auto& [name, tensor] : header.items()) {
      renamed[name == "__metadata__" ? name : "language_model." + name] = tensor;
    }
    header = renamed;
  });
  const StoredMatrix& head = moved.head.unembedding.weight;
  REQUIRE(head.rows == plain.head.unembedding.weight.rows);
  CHECK(moved.config.ignored_keys.size() == plain.config.ignored_keys.size());
  CHECK(std::memcmp(head.data, plain.head.unembedding.weight.data,
                    sizeof(float) * head.rows * head.cols) == 0);
}

TEST_CASE("Hugging Face: a bias that is stored twice must be the same both times") {
  const auto twice = [](float more) {
    return with_file("roberta-mlm", [more](json& header, std::string& data) {
      const std::size_t first = header["lm_head.bias"]["data_offsets"][0];
      const std::size_t last = header["lm_head.bias"]["data_offsets"][1];
      std::string copy = data.substr(first, last - first);
      float number = 0.0F;
      std::memcpy(&number, copy.data(), sizeof number);
      number += more;
      std::memcpy(copy.data(), &number, sizeof number);
      header["lm_head.decoder.bias"] = header["lm_head.bias"];
      header["lm_head.decoder.bias"]["data_offsets"] = {data.size(), data.size() + copy.size()};
      data += copy;
    });
  };
  CHECK(twice(0.0F).head.unembedding.bias.size() == twice(0.0F).embeddings.rows);
  test::check_refused([&] { twice(0.5F); },
                      "model.safetensors: lm_head.decoder.bias: expected the numbers of "
                      "lm_head.bias");
}

TEST_CASE("Hugging Face: an unread tensor is reported with its file") {
  const auto name = [](int shard) {
    return fmt::format("model-0000{}-of-00003.safetensors", shard);
  };
  for (const int shard : {1, 3}) {
    test::check_refused(
        [&] {
          with_file(
              "llama-sharded-bf16",
              [](json& header, std::string& data) {
                header["model.layers.9.invented"] = {
                    {"dtype", "F32"}, {"shape", {0}}, {"data_offsets", {data.size(), data.size()}}};
              },
              name(shard));
        },
        name(shard) + ": model.layers.9.invented: ");
  }
}

}  // namespace attnviz
