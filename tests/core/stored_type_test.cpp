#include "attnviz/core/stored_type.h"

#include <doctest/doctest.h>

namespace attnviz {

TEST_CASE("stored types: names are those of safetensors files, sizes are bytes") {
  CHECK(stored_type_name(StoredType::kF8E4M3) == "F8_E4M3");
  CHECK(stored_type_size(StoredType::kF8E5M2) == 1);
  CHECK(stored_type_name(StoredType::kBf16) == "BF16");
  CHECK(stored_type_size(StoredType::kBf16) == 2);
  CHECK(stored_type_size(StoredType::kF32) == 4);
  CHECK(stored_type_size(StoredType::kF64) == 8);
  CHECK(stored_type_name(StoredType::kBool) == "BOOL");
  CHECK(stored_type_size(StoredType::kBool) == 1);
}

TEST_CASE("stored types: each is found by its name, and no other") {
  for (int i = 0; i <= static_cast<int>(StoredType::kBool); ++i) {
    const auto type = static_cast<StoredType>(i);
    CHECK(stored_type_named(stored_type_name(type)) == type);
  }
  CHECK(!stored_type_named("f32"));
  CHECK(!stored_type_named(""));
  CHECK(!stored_type_named("F4"));
}

}  // namespace attnviz
