// Families of transformers against independent forward passes in float64:
// tests/reference/families/README.md.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "attnviz/attention/decoding.h"
#include "attnviz/attention/engine.h"
#include "attnviz/core/error.h"
#include "attnviz/model/stored_model.h"
#include "support/model_run.h"
#include "support/reference_case.h"

namespace attnviz {

namespace {

namespace fs = std::filesystem;

const fs::path kOwn = ATTNVIZ_SOURCE_DIR "/tests/reference/families";
const fs::path kShared = ATTNVIZ_SOURCE_DIR "/../shared/reference/families";

std::vector<fs::path> cases_of(const fs::path& parent) {
  std::vector<fs::path> folders;
  for (const fs::directory_entry& entry : fs::directory_iterator(parent)) {
    if (fs::exists(entry.path() / "expected.safetensors")) {
      folders.push_back(entry.path());
    }
  }
  std::ranges::sort(folders);
  return folders;
}

double largest(std::span<const float> numbers) {
  double most = 0.0;
  for (const float number : numbers) {
    most = std::max(most, std::abs(static_cast<double>(number)));
  }
  return most;
}

void check_case(const fs::path& numbers, Model model) {
  const test::ReferenceCase expected = test::load_reference_case(numbers, std::move(model));
  const test::ModelRun found = test::run_model(expected.model, expected.text);
  constexpr double kTolerance = 2e-5;
  const double tolerance =
      numbers.string().find("gemma4-e2b") == std::string::npos ? kTolerance : 5 * kTolerance;
  CHECK(test::largest_difference(test::of_attention(expected.model, found.attention),
                                 expected.attention) < tolerance);
  if (!expected.logits.empty() && !expected.model.head.unembedding.weight.empty()) {
    const MatrixBuffer head = run_output_head(expected.model, found.stream.view(), 1);
    CHECK(test::largest_difference(test::all_of(head), expected.logits) <
          tolerance * largest(expected.logits));
  }
  if (!expected.hidden.empty()) {
    MatrixBuffer hidden(found.stream.rows(), found.stream.cols());
    apply_norm(expected.model.head.norm, found.stream.view(), hidden.view());
    CHECK(test::largest_difference(test::all_of(hidden), expected.hidden) <
          tolerance * largest(expected.hidden));
  }
}

std::size_t check_cases(const fs::path& parent) {
  const std::vector<fs::path> folders = cases_of(parent);
  for (const fs::path& folder : folders) {
    const std::string name = folder.filename().string();
    CAPTURE(name);
    const fs::path numbers = folder / "expected.safetensors";
    const auto check = [&](const fs::path& file, auto load) {
      if (!fs::exists(file)) {
        return;
      }
      CAPTURE(file.filename().string());
      try {
        check_case(numbers, load(file));
      } catch (const Error& error) {
        const std::string what = error.what();
        FAIL_CHECK(what);
      }
    };
    check(folder, [](const fs::path& file) { return load_hugging_face(file); });
    check(folder / (name + ".gguf"), [](const fs::path& file) { return load_gguf(file); });
  }
  return folders.size();
}

}  // namespace

TEST_CASE("families: attention within 2e-5 of float64, logits within 2e-5 of the largest") {
  CHECK(check_cases(kOwn) >= 20);
}

TEST_CASE("families: logits of a text that grows token by token are those of the whole text") {
  std::size_t n_models = 0;
  for (const fs::path& folder : cases_of(kOwn)) {
    test::ReferenceCase loaded = test::load_reference_case(folder);
    const Model& model = loaded.model;
    if (model.config.mask.looks_ahead()) {
      CHECK_THROWS_AS(Decoding(model, {}, 8), Error);
      continue;
    }
    const std::string name = folder.filename().string();
    CAPTURE(name);
    ++n_models;
    const test::ModelRun whole = test::run_model(model, loaded.text);
    const MatrixBuffer logits = run_output_head(model, whole.stream.view(), 1);
    const std::vector<std::uint32_t>& ids = loaded.text.ids;
    Decoding decoding(model, {}, ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const std::span<const float> row = decoding.feed(std::span(ids).subspan(i, 1));
      CHECK(test::largest_difference(row, logits.view().row(i)) <
            1e-5 * std::max(1.0, largest(logits.view().row(i))));
    }
    decoding.rewind(ids.size() / 2);
    const auto rest = std::span(ids).subspan(ids.size() / 2);
    CHECK(test::largest_difference(decoding.feed(rest), logits.view().row(ids.size() - 1)) <
          1e-5 * std::max(1.0, largest(logits.view().row(ids.size() - 1))));
  }
  CHECK(n_models >= 20);
}

TEST_CASE("families: the reference files beside the project") {
  if (!fs::exists(kShared)) {
    MESSAGE("SKIPPED: no ../shared/reference/families");
    return;
  }
  CHECK(check_cases(kShared) >= 20);
}

}  // namespace attnviz
