// The keys and tensors of published models, and invented ones among them.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/formats/gguf.h"
#include "attnviz/formats/gguf_metadata.h"
#include "attnviz/model/stored_model.h"
#include "attnviz/text/files/tokenizer_files.h"
#include "support/failure.h"
#include "support/gguf_builder.h"
#include "support/json.h"
#include "support/run_program.h"
#include "support/stored_model.h"

namespace attnviz {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::GgufBuilder;
using test::TemporaryFolder;

struct TensorLine {
  std::string name;
  std::vector<std::size_t> shape;
};

struct ModelLines {
  std::string name;
  json keys = json::object();
  std::vector<TensorLine> tensors;
  std::set<std::string> ignored_keys;  // names on lines that begin with a tilde

  bool is_gguf() const { return name.starts_with("gguf-"); }
  // A line's name in messages; slashes lead into objects of a config.json.
  std::string path_of(std::string line) const {
    const bool is_quoted = line == "transformers.js_config";
    std::ranges::replace(line, '/', '.');
    return is_quoted ? "[\"" + line + "\"]" : line;
  }
};

ModelLines read_lines(const fs::path& path) {
  ModelLines lines;
  lines.name = path.stem().string();
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) {
      continue;
    }
    const bool is_ignored = line.starts_with("~ ");
    line.erase(0, is_ignored ? 2 : 0);
    const std::string name = line.substr(0, line.find(' '));
    if (const std::size_t equals = line.find(" = "); equals != std::string::npos) {
      lines.keys[json::json_pointer("/" + name)] = test::parse_json(line.substr(equals + 3));
    } else {
      lines.tensors.push_back({name, test::parse_json(line.substr(name.size()))});
    }
    if (is_ignored) {
      lines.ignored_keys.insert(lines.path_of(name));
    }
  }
  REQUIRE_FALSE(lines.tensors.empty());
  return lines;
}

std::vector<ModelLines> all_files() {
  std::vector<ModelLines> all;
  for (const auto& entry :
       fs::directory_iterator(ATTNVIZ_SOURCE_DIR "/tests/reference/model_files")) {
    if (entry.path().extension() == ".txt") {
      all.push_back(read_lines(entry.path()));
    }
  }
  return all;
}

std::size_t n_numbers(const TensorLine& tensor) {
  std::size_t count = 1;
  for (const std::size_t size : tensor.shape) {
    count *= size;
  }
  return count;
}

GgufType type_of(const json& value) {
  return value.is_string()         ? GgufType::kString
         : value.is_boolean()      ? GgufType::kBool
         : value.is_number_float() ? GgufType::kF32
                                   : GgufType::kI32;
}

std::string bytes_of(const GgufBuilder& file, const json& value) {
  return value.is_string()         ? file.string(value.get<std::string>())
         : value.is_boolean()      ? std::string(1, value.get<bool>() ? '\1' : '\0')
         : value.is_number_float() ? file.number(value.get<float>())
                                   : file.number(value.get<std::int32_t>());
}

std::string gguf_of(const ModelLines& lines) {
  GgufBuilder file;
  for (const auto& [key, value] : lines.keys.items()) {
    if (!value.is_array()) {
      file.add(key, type_of(value), bytes_of(file, value));
      continue;
    }
    std::string elements;
    for (const json& element : value) {
      elements += bytes_of(file, element);
    }
    file.add(key, GgufType::kArray, file.array(type_of(value.front()), value.size(), elements));
  }
  for (const TensorLine& tensor : lines.tensors) {
    std::string ones;
    for (std::size_t i = 0; i < n_numbers(tensor); ++i) {
      ones += file.number(1.0F);
    }
    file.tensors.push_back({tensor.name, {tensor.shape.rbegin(), tensor.shape.rend()}, 0, ones});
  }
  return file.bytes();
}

std::vector<test::TestTensor> tensors_of(const ModelLines& lines) {
  std::vector<test::TestTensor> tensors;
  for (const TensorLine& line : lines.tensors) {
    tensors.push_back({line.name, line.shape, std::vector<float>(n_numbers(line), 1.0F)});
  }
  return tensors;
}

std::string joined(const std::set<std::string>& names) {
  return fmt::format("{}", fmt::join(names, " "));
}

// The model and, for GGUF, the keys that its tokenizer ignored.
Model load(const ModelLines& lines) {
  const TemporaryFolder folder;
  if (lines.is_gguf()) {
    test::write_file(folder.file("m.gguf"), gguf_of(lines));
    const auto files = std::make_shared<const GgufFiles>(fs::path(folder.file("m.gguf")));
    const TokenizerParts parts = read_gguf_tokenizer(GgufMetadata(files->first()));
    Model model = load_gguf(files);
    model.config.ignored_keys.insert(model.config.ignored_keys.end(), parts.ignored_keys.begin(),
                                     parts.ignored_keys.end());
    model.config.unknown_keys.insert(model.config.unknown_keys.end(), parts.unknown_keys.begin(),
                                     parts.unknown_keys.end());
    return model;
  }
  test::write_file(folder.file("config.json"), lines.keys.dump());
  test::write_file(folder.file("model.safetensors"), test::safetensors_of(tensors_of(lines)));
  return load_hugging_face(folder.path());
}

void check_refused(const ModelLines& lines, const std::string& name) {
  CAPTURE(lines.name);
  test::check_refused([&] { load(lines); }, name);
}

// Adds an unknown key to an object of the config.
void check_key_reported(ModelLines lines, const std::string& key, const std::string& object = "") {
  CAPTURE(lines.name);
  CAPTURE(key);
  lines.keys[json::json_pointer(object)][key] = 0.5;
  const std::vector<std::string> unknown = load(lines).config.unknown_keys;
  REQUIRE(unknown.size() == 1);
  CHECK(unknown.front().ends_with(key));
}

}  // namespace

TEST_CASE("published models: every key and every tensor is read, or ignored for a reason") {
  const std::vector<ModelLines> files = all_files();
  CHECK(files.size() == 24);
  for (const ModelLines& lines : files) {
    CAPTURE(lines.name);
    try {
      std::set<std::string> names;
      for (const IgnoredKey& one : load(lines).config.ignored_keys) {
        CHECK_FALSE(one.why.empty());
        names.insert(one.name);
      }
      CHECK(joined(names) == joined(lines.ignored_keys));
    } catch (const Error& error) {
      FAIL_CHECK(error.what());
    }
  }
}

TEST_CASE(
    "published models: an invented key is reported, an invented tensor of a layer is refused") {
  for (const ModelLines& lines : all_files()) {
    if (lines.is_gguf()) {
      const std::string architecture = lines.keys["general.architecture"];
      check_key_reported(lines, architecture + ".attention.invented_scale");
      check_key_reported(lines, "tokenizer.ggml.invented_prefix");
    } else {
      check_key_reported(lines, "invented_multiplier");
      for (const char* object : {"/rope_scaling", "/text_config", "/text_config/rope_scaling"}) {
        if (const json::json_pointer pointer(object);
            lines.keys.contains(pointer) && lines.keys[pointer].is_object()) {
          check_key_reported(lines, "invented_factor", object);
        }
      }
    }
    for (const char* tensor : {"blk.0.attn_invented.weight", "layers.0.invented.bias"}) {
      ModelLines with = lines;
      with.tensors.push_back({tensor, {1}});
      check_refused(with, tensor);
    }
  }
}

TEST_CASE("published models: a BERT's context may be shorter than its table of positions") {
  ModelLines lines = read_lines(ATTNVIZ_SOURCE_DIR "/tests/reference/model_files/gguf-bert.txt");
  CHECK(load(lines).config.n_ctx == 16);
  lines.keys["bert.context_length"] = 9;
  CHECK(load(lines).config.n_ctx == 9);
}

}  // namespace attnviz
