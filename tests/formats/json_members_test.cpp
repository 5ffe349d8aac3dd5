#include "attnviz/formats/json_tree.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>

#include "attnviz/core/error.h"

namespace attnviz {

TEST_CASE("JSON members: null counts as absent where a default is given") {
  const JsonTree tree = JsonTree::parse(R"({"yes": true, "name": "cat", "none": null})", "m.json");
  const JsonNode root = tree.root();
  CHECK(find_value(root, "yes"));
  CHECK_FALSE(find_value(root, "none"));
  CHECK_FALSE(find_value(root, "nowhere"));
  CHECK(flag_or(root, "yes", false));
  CHECK(flag_or(root, "none", true));
  CHECK_FALSE(flag_or(root, "nowhere", false));
  CHECK(text_or(root, "name", "dog") == "cat");
  CHECK(text_or(root, "none", "dog") == "dog");
  CHECK(optional_string(root, "name") == "cat");
  CHECK(optional_string(root, "yes").empty());
  CHECK(optional_string(root, "nowhere").empty());
  CHECK(optional_string(root.at("name"), "name").empty());
  CHECK_THROWS_WITH_AS(flag_or(root, "name", false),
                       "m.json: name: expected true or false, found a string", Error);
}

TEST_CASE("JSON members: present members are read in the target's type, the rest keeps its value") {
  const JsonTree tree = JsonTree::parse(
      R"({"yes": true, "name": "cat", "size": 4096, "cap": 0.5, "none": null})", "m.json");
  const JsonNode root = tree.root();
  bool flag = false;
  std::string name = "dog";
  std::uint64_t size = 1;
  float cap = 0.0f;
  std::optional<std::uint64_t> seed;
  read_optional(root, "yes", flag);
  read_optional(root, "name", name);
  read_optional(root, "size", size);
  read_optional(root, "cap", cap);
  read_optional(root, "size", seed);
  CHECK(flag);
  CHECK(name == "cat");
  CHECK(size == 4096);
  CHECK(cap == 0.5f);
  CHECK(seed == 4096);
  read_optional(root, "nowhere", name);
  CHECK(name == "cat");
  CHECK_THROWS_AS(read_optional(root, "none", name), Error);
  CHECK_THROWS_AS(read_optional(root, "cap", size), Error);
}

}  // namespace attnviz
