#include "support/reference_case.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "attnviz/core/mapped_file.h"
#include "attnviz/model/stored_model.h"

namespace attnviz::test {

namespace fs = std::filesystem;

namespace {

std::vector<float> floats_of(const StoredTensor* tensor) {
  if (tensor == nullptr) {
    return {};
  }
  REQUIRE(tensor->type == StoredType::kF32);
  std::vector<float> numbers(tensor->n_numbers());
  std::memcpy(numbers.data(), tensor->bytes.data(), tensor->bytes.size());
  return numbers;
}

template <class To>
std::vector<To> integers_of(const StoredTensor* tensor) {
  if (tensor == nullptr) {
    return {};
  }
  REQUIRE(tensor->type == StoredType::kI64);
  std::vector<To> numbers;
  numbers.reserve(tensor->n_numbers());
  for (std::size_t i = 0; i < tensor->n_numbers(); ++i) {
    std::int64_t number = 0;
    std::memcpy(&number, tensor->bytes.data() + i * sizeof(number), sizeof(number));
    numbers.push_back(static_cast<To>(number));
  }
  return numbers;
}

}  // namespace

std::vector<fs::path> reference_cases() {
  std::vector<fs::path> folders;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(ATTNVIZ_SOURCE_DIR "/tests/reference/models")) {
    if (fs::exists(entry.path() / "expected.safetensors")) {
      folders.push_back(entry.path());
    }
  }
  std::sort(folders.begin(), folders.end());
  REQUIRE(folders.size() >= 32);
  return folders;
}

ReferenceCase load_reference_case(const fs::path& folder) {
  return load_reference_case(folder / "expected.safetensors", load_hugging_face(folder));
}

ReferenceCase load_reference_case(const fs::path& numbers, Model model) {
  ReferenceCase loaded;
  loaded.name = model.config.name;
  const MappedFile file(numbers);
  const Safetensors expected(file.bytes(), numbers.string());
  loaded.text.ids = integers_of<std::uint32_t>(expected.find("ids"));
  loaded.text.segments = integers_of<std::uint8_t>(expected.find("token_types"));
  loaded.attention = floats_of(expected.find("attention"));
  loaded.logits = floats_of(expected.find("logits"));
  loaded.hidden = floats_of(expected.find("hidden"));
  loaded.model = std::move(model);
  REQUIRE(!loaded.text.ids.empty());
  return loaded;
}

}  // namespace attnviz::test
