// The small models of tests/reference/models with the numbers of independent forward passes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "attnviz/formats/safetensors.h"
#include "attnviz/model/model.h"

namespace attnviz::test {

/// A text as read by a model with a family.
struct TokenIds {
  std::vector<std::uint32_t> ids;
  std::vector<std::uint8_t> segments;

  ModelInput view() const {
    ModelInput input;
    input.ids = ids;
    input.segments = segments;
    return input;
  }
};

/// One folder, with the numbers that it has; missing ones are empty.
struct ReferenceCase {
  std::string name;
  Model model;
  TokenIds text;
  std::vector<float> attention;  // [layer, head, query, key]
  std::vector<float> logits;
  std::vector<float> hidden;
};

/// The folders that have numbers, sorted by name; at least 32.
std::vector<std::filesystem::path> reference_cases();

/// Fails the test if something is missing or of another type.
ReferenceCase load_reference_case(const std::filesystem::path& folder);

/// The same with the numbers of one file and another model.
ReferenceCase load_reference_case(const std::filesystem::path& numbers, Model model);

}  // namespace attnviz::test
