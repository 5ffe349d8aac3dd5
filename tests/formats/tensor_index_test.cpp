#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cstring>
#include <string>

#include "attnviz/formats/tensor_index.h"

namespace attnviz {

TEST_CASE(
    "native tensors: numbers are in the machine's byte order, quantised blocks little-endian") {
  constexpr auto kLittle = std::endian::little;
  constexpr auto kBig = std::endian::big;
  for (const StoredType type : {StoredType::kF64, StoredType::kF32, StoredType::kF16,
                                StoredType::kBf16, StoredType::kI32, StoredType::kU16}) {
    CHECK(!is_turned(type, kLittle, kLittle));
    CHECK(is_turned(type, kBig, kLittle));
    CHECK(is_turned(type, kLittle, kBig));
    CHECK(!is_turned(type, kBig, kBig));
  }
  for (const StoredType type : {StoredType::kQ4_0, StoredType::kQ6_K, StoredType::kMXFP4}) {
    CHECK(!is_turned(type, kLittle, kLittle));
    CHECK(is_turned(type, kBig, kLittle));
    CHECK(!is_turned(type, kLittle, kBig));
    CHECK(is_turned(type, kBig, kBig));
  }
  CHECK(!is_turned(StoredType::kU8, kLittle, kBig));
  CHECK(!is_turned(StoredType::kF8E4M3, kBig, kLittle));
}

TEST_CASE("native tensors: a number is the same from a file of either byte order") {
  const std::string little("\0\0\x80\x3F\0\0\x80\x40", 8);  // 1 and 4
  const std::string big("\x3F\x80\0\0\x40\x80\0\0", 8);
  StoredTensor one;
  StoredTensor other;
  one.bytes = little;
  other.bytes = big;
  NativeTensors tensors;
  const StoredTensor& first = tensors.of(one, std::endian::little);
  const StoredTensor& second = tensors.of(other, std::endian::big);
  for (const StoredTensor* tensor : {&first, &second}) {
    std::array<float, 2> numbers{};
    REQUIRE(tensor->bytes.size() == sizeof(numbers));
    std::memcpy(numbers.data(), tensor->bytes.data(), sizeof(numbers));
    CHECK(numbers == std::array{1.0f, 4.0f});
  }
  // Numbers already in the right order are not copied.
  const bool is_little = std::endian::native == std::endian::little;
  CHECK((&first == &one) == is_little);
  CHECK((&second == &other) == !is_little);
}

TEST_CASE("shard names end in two five-digit numbers, other names are not shards") {
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

TEST_CASE("all shards share one name, other files are named without their extension") {
  CHECK(name_of_shards("a/llama-3.Q4_K_M-00002-of-00012.gguf") == "llama-3.Q4_K_M");
  CHECK(name_of_shards("a/llama-3.Q4_K_M.gguf") == "llama-3.Q4_K_M");
  CHECK(name_of_shards("a/sha256-ab") == "sha256-ab");
}

}  // namespace attnviz
