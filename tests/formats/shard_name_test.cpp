#include "attnviz/formats/shard_name.h"

#include <doctest/doctest.h>

namespace attnviz {

TEST_CASE("names of shards have two numbers of five digits at their end, and no others do") {
  const auto shard = parse_shard_name("llama-3.Q4_K_M-00002-of-00012.gguf");
  REQUIRE(shard);
  CHECK(shard->name == "llama-3.Q4_K_M");
  CHECK(shard->number == 2);
  CHECK(shard->count == 12);
  CHECK(shard_name(shard->name, 1, 12) == "llama-3.Q4_K_M-00001-of-00012.gguf");
  for (const char* name : {"", ".gguf", "a.gguf", "The-best-of-world.gguf", "a-0001-of-00002.gguf",
                           "a-00001-of-0000x.gguf", "a-00001-of-00002", "00001-of-00002.gguf",
                           "a-00001of-00002.gguf", "a-+0001-of-00002.gguf", "a-00000-of-00000.gguf",
                           "a-00000-of-00001.gguf", "a-00002-of-00001.gguf"}) {
    CAPTURE(name);
    CHECK(!parse_shard_name(name));
  }
}

TEST_CASE("shards have one name, other files that of theirs without its ending") {
  CHECK(name_of_shards("a/llama-3.Q4_K_M-00002-of-00012.gguf") == "llama-3.Q4_K_M");
  CHECK(name_of_shards("a/llama-3.Q4_K_M.gguf") == "llama-3.Q4_K_M");
  CHECK(name_of_shards("a/sha256-ab") == "sha256-ab");
}

}  // namespace attnviz
