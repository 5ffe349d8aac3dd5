// Models that predict with their embeddings, and files that contain an unembedding anyway.
#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>

#include "attnviz/model/stored_model.h"
#include "support/json.h"
#include "support/run_program.h"
#include "support/stored_model.h"

namespace attnviz {
namespace {

// Overwrites one tensor in a safetensors file with the numbers of another.
void copy_tensor(const std::filesystem::path& file, const std::string& from,
                 const std::string& to) {
  std::string bytes = test::read_file(file.string());
  std::uint64_t header_size = 0;
  std::memcpy(&header_size, bytes.data(), sizeof(header_size));
  const std::size_t begin = sizeof(header_size) + static_cast<std::size_t>(header_size);
  const auto header =
      nlohmann::json::parse(bytes.substr(sizeof(header_size), begin - sizeof(header_size)));
  const auto range = [&](const std::string& name) {
    return header.at(name).at("data_offsets").get<std::array<std::size_t, 2>>();
  };
  const auto [first, last] = range(from);
  bytes.replace(begin + range(to)[0], last - first, bytes.substr(begin + first, last - first));
  test::write_file(file, bytes);
}

}  // namespace

TEST_CASE("a tied model's lm_head.weight is reported if it differs from the embeddings") {
  const test::TemporaryFolder folder;
  test::copy_model("llama-mha-untied", folder.path());
  CHECK(load_hugging_face(folder.path()).config.origin.empty());
  test::change_config(folder.path(), "tie_word_embeddings", true);
  const std::string origin = load_hugging_face(folder.path()).config.origin;
  CHECK(origin.find("the embeddings predict") == 0);
  CHECK(origin.find("lm_head.weight") != std::string::npos);
  copy_tensor(folder.file("model.safetensors"), "model.embed_tokens.weight", "lm_head.weight");
  CHECK(load_hugging_face(folder.path()).config.origin.empty());
}

TEST_CASE("a listing does not compare a tied model's matrices") {
  const test::TemporaryFolder folder;
  test::copy_model("llama-mha-untied", folder.path());
  test::change_config(folder.path(), "tie_word_embeddings", true);
  CHECK(load_hugging_face(folder.path(), {}, Copies::kNotCompared).config.origin.empty());
}

TEST_CASE("a tied T5 reports a different lm_head.weight") {
  const Model model = test::with_settings("t5-v1.1", {{"tie_word_embeddings", true}});
  CHECK(model.config.origin.find("lm_head.weight") != std::string::npos);
}

}  // namespace attnviz
