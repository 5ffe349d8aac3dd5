#include "attnviz/kernels/unpack.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attnviz/core/mapped_file.h"
#include "kernels/simd_targets.h"

namespace attnviz {
namespace {

namespace fs = std::filesystem;

using test::for_each_target;

template <class Number>
std::vector<float> numbers_of(const fs::path& path) {
  const MappedFile file(path);
  std::vector<Number> numbers(file.bytes().size() / sizeof(Number));
  std::memcpy(numbers.data(), file.bytes().data(), numbers.size() * sizeof(Number));
  return {numbers.begin(), numbers.end()};
}

// Blocks, one byte past the start of their memory, and the floats that they stand for.
struct Reference {
  Reference(const fs::path& blocks, StoredType of) : name(blocks.filename()), type(of) {
    const MappedFile file(blocks);
    bytes.resize(1 + file.bytes().size());
    std::memcpy(&bytes[1], file.bytes().data(), file.bytes().size());
    const fs::path integers = fs::path(blocks).replace_extension(".i8");
    floats = fs::exists(integers) ? numbers_of<std::int8_t>(integers)
                                  : numbers_of<float>(fs::path(blocks).replace_extension(".f32"));
  }

  std::string name;
  StoredType type;
  std::vector<char> bytes;
  std::vector<float> floats;
};

// NAME.bin and NAME.kind.bin, with floats or integers next to them, for the names of quantised
// types. NAME.big.bin is for tests of byte order.
std::vector<Reference> references_in(const fs::path& folder) {
  std::vector<Reference> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    const std::optional<StoredType> type = stored_type_named(name.substr(0, name.find('.')));
    const bool is_big_endian = name.ends_with(".big.bin");
    if (entry.path().extension() == ".bin" && !is_big_endian && type && is_quantised(*type)) {
      found.emplace_back(entry.path(), *type);
    }
  }
  return found;
}

void require_bits(std::span<const float> actual, std::span<const float> expected) {
  REQUIRE(actual.size() == expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (std::bit_cast<std::uint32_t>(actual[i]) != std::bit_cast<std::uint32_t>(expected[i])) {
      CAPTURE(i);
      REQUIRE(actual[i] == expected[i]);
      FAIL("zeros of different signs");
    }
  }
}

void check_references(const std::vector<Reference>& references) {
  for (const Reference& reference : references) {
    CAPTURE(reference.name);
    const std::size_t count = reference.floats.size();
    REQUIRE(reference.bytes.size() == 1 + stored_bytes(reference.type, count));
    for_each_target([&] {
      std::vector<float> actual(count, -1.0f);
      kernels::dequantise(reference.type, &reference.bytes[1], 0, actual);
      require_bits(actual, reference.floats);
      // Parts that begin and end anywhere, and touch nothing else.
      for (std::size_t first = 0; first < std::min<std::size_t>(count, 300); first += 7) {
        const std::size_t size = std::min(count - first, 1 + first * 37 % 600);
        std::vector<float> part(size + 1, -1.0f);
        kernels::dequantise(reference.type, &reference.bytes[1], first,
                            std::span(part).first(size));
        require_bits(std::span(part).first(size), std::span(reference.floats).subspan(first, size));
        REQUIRE(part[size] == -1.0f);
      }
    });
  }
}

std::size_t types_of(const std::vector<Reference>& references) {
  std::vector<StoredType> types;
  for (const Reference& reference : references) {
    if (std::find(types.begin(), types.end(), reference.type) == types.end()) {
      types.push_back(reference.type);
    }
  }
  return types.size();
}

constexpr std::size_t kQuantisedTypes =
    static_cast<std::size_t>(kLastStoredType) + 1 - static_cast<std::size_t>(StoredType::kQ4_0);

}  // namespace

TEST_CASE("dequantise: blocks of every type are bit-identical to those of an independent program") {
  const fs::path folder = ATTNVIZ_SOURCE_DIR "/tests/reference/gguf/quants";
  REQUIRE(fs::exists(folder));
  const std::vector<Reference> references = references_in(folder);
  CHECK(types_of(references) == kQuantisedTypes);
  check_references(references);
}

TEST_CASE("dequantise: every type is bit-identical to the format's own implementation") {
  const fs::path extract = ATTNVIZ_SOURCE_DIR "/tests/reference/gguf/ggml";
  const fs::path whole = ATTNVIZ_SOURCE_DIR "/../shared/reference/gguf/quants/A";
  const std::vector<Reference> references = references_in(fs::exists(whole) ? whole : extract);
  CHECK(types_of(references) == kQuantisedTypes);
  check_references(references);
}

TEST_CASE("dequantise: a block computed by hand") {
  // Scale 0.5; byte j holds j and 15 - j, from which 8 is subtracted.
  std::uint8_t block[18] = {0x00, 0x38};
  for (unsigned j = 0; j < 16; ++j) {
    block[2 + j] = static_cast<std::uint8_t>(j | (15 - j) << 4);
  }
  for_each_target([&] {
    std::vector<float> numbers(32, -1.0f);
    kernels::dequantise(StoredType::kQ4_0, block, 0, numbers);
    CHECK(numbers[0] == -4.0f);
    CHECK(numbers[15] == 3.5f);
    CHECK(numbers[16] == 3.5f);
    CHECK(numbers[31] == -4.0f);
    kernels::dequantise(StoredType::kQ4_0, block, 9, std::span(numbers).first(2));
    CHECK(numbers[0] == 0.5f);
    CHECK(numbers[1] == 1.0f);
    kernels::dequantise(StoredType::kQ4_0, block, 0, {});
  });
}

}  // namespace attnviz
