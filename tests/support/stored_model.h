// Small safetensors files and model folders for tests.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/model/model.h"
#include "support/json.h"

namespace attnviz::test {

struct TestTensor {
  std::string name;
  std::vector<std::size_t> shape;
  std::vector<float> numbers;  // row-major
};

/// The bytes of a file with these tensors as F32, in the order given.
std::string safetensors_of(const std::vector<TestTensor>& tensors);

/// The tensors of a file, by name; fails the test for other types than those of tensors.
std::vector<TestTensor> tensors_of(const std::filesystem::path& file);

/// A copy of a folder of tests/reference/models, families or experts that a test may change.
void copy_model(const std::string& name, const std::filesystem::path& to);

/// Instead of a value: removes the key from the config.
inline const nlohmann::json kAbsent(nlohmann::json::value_t::discarded);

/// Changes or adds a value in a folder's config.json; slashes in `key` lead into objects.
void change_config(const std::filesystem::path& folder, const std::string& key,
                   const nlohmann::json& value);

/// A model of tests/reference/models, families or experts with other values for these keys of its
/// config.
Model with_settings(const std::string& model,
                    const std::vector<std::pair<std::string, nlohmann::json>>& settings);

}  // namespace attnviz::test
