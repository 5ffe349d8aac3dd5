#include "attnviz/core/stored_type.h"

#include <doctest/doctest.h>

namespace attnviz {

TEST_CASE("stored types: names are those of safetensors files, sizes are bytes") {
  CHECK(stored_type_name(StoredType::kF8E4M3) == "F8_E4M3");
  CHECK(stored_block(StoredType::kF8E5M2).bytes == 1);
  CHECK(stored_type_name(StoredType::kBf16) == "BF16");
  CHECK(stored_block(StoredType::kBf16).bytes == 2);
  CHECK(stored_block(StoredType::kF32).bytes == 4);
  CHECK(stored_block(StoredType::kF64).bytes == 8);
  CHECK(stored_type_name(StoredType::kBool) == "BOOL");
  CHECK(stored_block(StoredType::kBool).bytes == 1);
}

TEST_CASE("stored types: quantised numbers fill blocks, others stand by themselves") {
  CHECK(stored_type_name(StoredType::kQ4_K) == "Q4_K");
  CHECK(stored_block(StoredType::kQ4_K).numbers == 256);
  CHECK(stored_block(StoredType::kQ4_K).bytes == 144);
  CHECK(stored_block(StoredType::kMXFP4).numbers == 32);
  CHECK(stored_block(StoredType::kMXFP4).bytes == 17);
  CHECK(stored_bytes(StoredType::kQ8_0, 64) == 68);
  CHECK(stored_bytes(StoredType::kBf16, 64) == 128);
  CHECK(stored_bytes(StoredType::kIQ1_S, 0) == 0);
  for (int i = 0; i <= static_cast<int>(kLastStoredType); ++i) {
    const auto type = static_cast<StoredType>(i);
    CAPTURE(stored_type_name(type));
    const BlockShape block = stored_block(type);
    CHECK(is_quantised(type) == (type >= StoredType::kQ4_0));
    CHECK(is_quantised(type) == (block.numbers == 32 || block.numbers == 256));
    CHECK(is_quantised(type) == (block.numbers != 1));
    // From 1.5 to 8.5 bits a number.
    CHECK((!is_quantised(type) ||
           (16 * block.bytes >= 3 * block.numbers && 16 * block.bytes <= 17 * block.numbers)));
  }
}

TEST_CASE("stored types: each is found by its name, and no other") {
  for (int i = 0; i <= static_cast<int>(kLastStoredType); ++i) {
    const auto type = static_cast<StoredType>(i);
    CHECK(stored_type_named(stored_type_name(type)) == type);
  }
  CHECK(!stored_type_named("f32"));
  CHECK(!stored_type_named(""));
  CHECK(!stored_type_named("F4"));
}

}  // namespace attnviz
