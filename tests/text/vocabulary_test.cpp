#include "attnviz/text/tokenizers/vocabulary.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/core/string_hash.h"
#include "support/stopwatch.h"
#include "text/tiny_tokenizers.h"

namespace attnviz {

namespace {

// Eight bytes found by inverting hash_of's last steps.
std::string piece_of_hash(std::uint32_t hash, std::uint32_t number) {
  constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15;
  std::uint64_t inverse = 1;
  for (int i = 0; i < 6; ++i) {
    inverse *= 2 - kFactor * inverse;  // Newton's method modulo 2^64
  }
  // The lower half is the hash.
  const std::uint64_t mixed = std::uint64_t{number} << 32 | hash;
  const std::uint64_t second = (mixed ^ mixed >> 32) * inverse;
  const std::uint64_t first = (second ^ second >> 29 ^ second >> 58) * inverse;
  const std::uint64_t bytes = (first ^ first >> 32) ^ 8 * kFactor;
  std::string piece(sizeof(bytes), '\0');
  std::memcpy(piece.data(), &bytes, sizeof(bytes));
  return piece;
}

}  // namespace

TEST_CASE("vocabulary: any number of pieces are found by their ids and texts") {
  constexpr std::uint32_t kCount = 300000;
  Vocabulary vocabulary;
  for (std::uint32_t id = 0; id < kCount; ++id) {
    REQUIRE(vocabulary.add(fmt::format("p{}", id), id));
  }
  CHECK_FALSE(vocabulary.add("p17", 17));
  CHECK(vocabulary.find("p299999") == 299999);
  CHECK_FALSE(vocabulary.find("p300000"));
}

TEST_CASE("vocabulary: pieces that collide by chance are accepted") {
  const auto letter = [](std::uint32_t number) {  // of three bytes
    const std::uint32_t code = 0x4E00 + number;
    return std::string{static_cast<char>(0xE0 | code >> 12),
                       static_cast<char>(0x80 | (code >> 6 & 0x3F)),
                       static_cast<char>(0x80 | (code & 0x3F))};
  };
  constexpr std::uint32_t kLetters = 3000;
  for (const char* begin : {"abcde", "aaaaaaaaaa", " the ", "\u2581\u2581\u2581\u2581", ""}) {
    CAPTURE(begin);
    Vocabulary vocabulary;
    for (std::uint32_t id = 0; id < kLetters; ++id) {
      REQUIRE(vocabulary.add(begin + letter(id), id));
    }
  }
  Vocabulary pairs;
  Vocabulary numbers;
  for (std::uint32_t id = 0; id < 100000; ++id) {
    REQUIRE(pairs.add(letter(7) + letter(id % 300) + letter(id / 300), id));
    REQUIRE(numbers.add(fmt::format("tok_{:016x}", id), id));
  }
}

TEST_CASE("vocabulary: pieces constructed to collide are refused, not searched for ever") {
  REQUIRE(hash_of(piece_of_hash(0, 1)) == 0);
  REQUIRE(hash_of(piece_of_hash(0, 123456)) == 0);
  CHECK(hash_of(piece_of_hash(0, 1), 5) != hash_of(piece_of_hash(0, 123456), 5));
  Vocabulary vocabulary;
  std::uint32_t count = 0;
  try {
    for (; count < 100000; ++count) {
      vocabulary.add(piece_of_hash(0, count), count);
    }
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::kMalformed);
    CHECK(std::string(error.what()).find("hash alike") != std::string::npos);
  }
  CHECK(count > 500);
  CHECK(count < 5000);
}

TEST_CASE("vocabulary: a missing piece is not searched for in half of the pieces") {
  // One long run: each piece is in its own slot.
  constexpr std::uint32_t kCount = 60'000;
  Vocabulary vocabulary;
  for (std::uint32_t id = 0; id < kCount; ++id) {
    REQUIRE(vocabulary.add(piece_of_hash(id, 0), id));
  }
  const test::Stopwatch watch;
  const std::string missing = piece_of_hash(3, 1);
  const std::vector<std::string_view> pieces(1'000'000, missing);
  std::vector<TokenId> ids(pieces.size());
  vocabulary.find(pieces, ids);
  CHECK(std::ranges::count(ids, kNoToken) == 1'000'000);
  CHECK_FALSE(vocabulary.find(missing));
  CHECK(vocabulary.find(piece_of_hash(kCount - 1, 0)) == kCount - 1);
  CHECK(watch.is_in_time());
}

TEST_CASE("a vocabulary finds its pieces; if one occurs twice, the last counts") {
  Vocabulary vocabulary;
  for (TokenId id = 0; id < 1000; ++id) {
    CHECK(vocabulary.add("piece" + std::to_string(id), id));
  }
  CHECK_FALSE(vocabulary.add("piece7", 1000));
  CHECK(vocabulary.find("piece7") == 1000);
  CHECK(vocabulary.piece(1000) == "piece7");
  CHECK(vocabulary.find("piece999") == 999);
  CHECK_FALSE(vocabulary.find("piece1000").has_value());
  CHECK(vocabulary.piece(42) == "piece42");
  CHECK(vocabulary.piece(1001).empty());
  CHECK_THROWS_AS(vocabulary.add("x", Vocabulary::kMostIds), Error);
}

// As in npm's tokenizers 0.23.2.
TEST_CASE("a piece that occurs twice in a vocabulary: the last id counts, and the last score") {
  const auto ids = [](const std::string& model) {
    std::vector<TokenId> all;
    for (const Token& token :
         test::tokenizer_of(R"({"model": )" + model + "}").tokenize("ab").tokens) {
      all.push_back(token.id);
    }
    return all;
  };
  using Ids = std::vector<TokenId>;
  CHECK(ids(R"({"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2, "ab": 3},
                "merges": [["a", "b"]]})") == Ids{3});
  CHECK(ids(R"({"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 3, "ab": 2},
                "merges": [["a", "b"]]})") == Ids{2});
  CHECK(ids(R"({"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], ["a", -1], ["b", -1],
                ["a", -3], ["ab", -9], ["ab", -1]]})") == Ids{5});
  CHECK(ids(R"({"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], ["ab", -1], ["a", -1],
                ["b", -1], ["ab", -9]]})") == Ids{2, 3});
  CHECK(ids(R"({"type": "WordLevel", "unk_token": "b", "vocab": {"ab": 0, "ab": 5, "b": 1}})") ==
        Ids{5});
  CHECK(ids(R"({"type": "WordPiece", "unk_token": "b", "vocab": {"ab": 5, "ab": 0, "b": 1}})") ==
        Ids{0});
}

}  // namespace attnviz
