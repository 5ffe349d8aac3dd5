#include "attnviz/text/tokenizers/vocabulary.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "attnviz/core/error.h"

namespace attnviz {

namespace {

// Eight bytes for which hash_of's last steps are gone back from a hash of 0.
std::string piece_of_hash_0(std::uint32_t number) {
  constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15;
  std::uint64_t inverse = 1;
  for (int i = 0; i < 6; ++i) {
    inverse *= 2 - kFactor * inverse;  // Newton's method modulo 2^64
  }
  // Bits 8 to 39 of this are the hash.
  const std::uint64_t folded = std::uint64_t{number >> 8} << 40 | (number & 0xFF);
  const std::uint64_t product = folded ^ folded >> 29 ^ folded >> 58;
  const std::uint64_t bytes = product * inverse ^ 8 * kFactor;
  std::string piece(sizeof(bytes), '\0');
  std::memcpy(piece.data(), &bytes, sizeof(bytes));
  return piece;
}

}  // namespace

TEST_CASE("vocabulary: pieces are found by their ids and texts, however many there are") {
  constexpr std::uint32_t kCount = 300000;
  Vocabulary vocabulary;
  for (std::uint32_t id = 0; id < kCount; ++id) {
    REQUIRE(vocabulary.add(fmt::format("p{}", id), id));
  }
  CHECK_FALSE(vocabulary.add("p17", 17));
  CHECK(vocabulary.find("p299999") == 299999);
  CHECK_FALSE(vocabulary.find("p300000"));
}

TEST_CASE("vocabulary: pieces that were made to hash alike are refused, not searched for ever") {
  REQUIRE(hash_of(piece_of_hash_0(1)) == 0);
  REQUIRE(hash_of(piece_of_hash_0(123456)) == 0);
  CHECK(hash_of(piece_of_hash_0(1), 5) != hash_of(piece_of_hash_0(123456), 5));
  Vocabulary vocabulary;
  std::uint32_t count = 0;
  try {
    for (; count < 100000; ++count) {
      vocabulary.add(piece_of_hash_0(count), count);
    }
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::kMalformed);
    CHECK(std::string(error.what()).find("hash alike") != std::string::npos);
  }
  CHECK(count > 1000);
  CHECK(count < 5000);
}

}  // namespace attnviz
