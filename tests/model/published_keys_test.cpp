// Published configs have keys that small test models lack.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "attnviz/core/error.h"
#include "attnviz/model/stored_model.h"
#include "support/json.h"
#include "support/run_program.h"

namespace attnviz {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const std::string kFamilies = ATTNVIZ_SOURCE_DIR "/tests/reference/families/";

}  // namespace

TEST_CASE("keys of published configs are known to their families") {
  const json keys = test::read_json(kFamilies + "published_keys.json");
  for (const auto& entry : keys["families"].items()) {
    const std::string& name = entry.key();
    const json& of_family = entry.value();
    CAPTURE(name);
    json config = test::read_json(kFamilies + name + "/config.json");
    for (const json& more : {keys["all"], of_family}) {
      for (const auto& [key, value] : more.items()) {
        if (!config.contains(key)) {
          config[key] = value;
        }
      }
    }
    const test::TemporaryFolder folder;
    test::write_file(folder.file("config.json"), config.dump());
    fs::create_symlink(kFamilies + name + "/model.safetensors", folder.file("model.safetensors"));
    CHECK_NOTHROW(load_hugging_face(folder.path()));
  }
}

}  // namespace attnviz
