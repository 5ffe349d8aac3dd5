// All patterns and the output of a whole model, to compare with reference numbers.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "attnviz/core/tensor.h"
#include "attnviz/model/model.h"
#include "support/reference_case.h"

namespace attnviz::test {

struct ModelRun {
  std::vector<float> attention;  // [layer, head, query, key]; hidden keys are 0
  MatrixBuffer stream;           // [n_tokens, d_model]
};

ModelRun run_model(const Model& model, const TokenIds& text, std::size_t n_threads = 1);

/// Patterns without the zeros that represent layers without heads.
std::vector<float> of_attention(const Model& model, const std::vector<float>& patterns);

std::span<const float> all_of(const MatrixBuffer& matrix);

/// 1e9 if one is NaN. Fails the test if the sizes differ.
double largest_difference(std::span<const float> a, std::span<const float> b);

/// Attention within 1e-5; logits, or hidden states if there is no output head, within 1e-4.
void check_numbers(const ReferenceCase& expected);

/// The same for the bytes of a GGUF file and a folder's expected.safetensors.
void check_gguf(const std::filesystem::path& folder, const std::string& bytes);

}  // namespace attnviz::test
