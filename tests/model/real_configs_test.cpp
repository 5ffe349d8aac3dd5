// Published config.json files, with the weights of small models of their families.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/model/stored_model.h"
#include "support/json.h"
#include "support/run_program.h"
#include "support/stored_model.h"

namespace attnviz {
namespace {

using nlohmann::json;

// For "=text_config/hidden_size" the value at this path in the small model's config; else the value
// itself.
json value_of(const json& value, const json& small) {
  const bool is_reference = value.is_string() && value.get<std::string>().starts_with('=');
  return is_reference ? small.at(json::json_pointer("/" + value.get<std::string>().substr(1)))
                      : value;
}

Model load(const json& table, const json& one) {
  const test::TemporaryFolder folder;
  test::copy_model(one["small"], folder.path());
  const json small = test::read_json(folder.path() / "config.json");
  json config = small;
  const std::string usual = one.value("usual", "");
  for (const json& keys : {table["all"], usual.empty() ? json::object() : table["usual"][usual],
                           one.value("also", json::object())}) {
    for (const auto& [key, value] : keys.items()) {
      config[key] = value_of(value, small);
    }
  }
  test::write_file(folder.path() / "config.json", config.dump());
  return load_hugging_face(folder.path());
}

}  // namespace

TEST_CASE("published configs are read, or refused for settings that change the result") {
  const json table =
      test::read_json(ATTNVIZ_SOURCE_DIR "/tests/reference/families/real_configs.json");
  CHECK(table["configs"].size() >= 150);
  for (const json& one : table["configs"]) {
    CAPTURE(one["from"].get<std::string>());
    const std::string refused = one.value("refused", "");
    try {
      const Model model = load(table, one);
      CHECK(refused.empty());
      std::vector<std::string> unknown = model.config.unknown_keys;
      std::ranges::sort(unknown);
      CHECK(unknown == one.value("unknown", std::vector<std::string>()));
    } catch (const Error& error) {
      const std::string message = error.what();
      CAPTURE(message);
      CHECK(error.kind() == ErrorKind::kUnsupported);
      CHECK_FALSE(refused.empty());
      CHECK(message.find(refused) != std::string::npos);
    }
  }
}

}  // namespace attnviz
