#include "support/why_cases.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <utility>

#include "attnviz/model/stored_model.h"

namespace attnviz::test {

std::vector<WhyCase> why_cases() {
  const std::filesystem::path folder = ATTNVIZ_SOURCE_DIR "/../shared/reference/why";
  std::vector<WhyCase> all;
  if (!std::filesystem::exists(folder)) {
    MESSAGE("SKIPPED: no ../shared/reference/why");
    return all;
  }
  const auto add = [&](Model model, const std::string& file) {
    nlohmann::json numbers = read_json(folder / file);
    auto ids = numbers["ids"].get<std::vector<std::uint32_t>>();
    all.push_back({std::move(model), std::move(numbers), std::move(ids)});
  };
  add(demo_model(), "demo.json");
  add(demo_model(), "demo-induction.json");
  for (const std::string name : {"stories260k", "gpt-nano-sort"}) {
    add(load_hugging_face(folder / ".." / "models" / name), name + ".json");
  }
  for (const std::string name : {"gpt2-tiny", "qwen2-tiny"}) {
    add(load_hugging_face(folder / "models" / name), name + ".json");
  }
  return all;
}

TokenizedText text_of(const std::vector<std::uint32_t>& ids) {
  TokenizedText text;
  for (const std::uint32_t id : ids) {
    text.tokens.emplace_back().id = id;
  }
  return text;
}

void check_why(double found, double expected) {
  CAPTURE(found);
  CAPTURE(expected);
  CHECK(std::abs(found - expected) <= 1e-4 * std::max(1.0, std::abs(expected)));
}

}  // namespace attnviz::test
