#include "attnviz/core/stored_matrix.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>

namespace attnviz {

namespace {

struct TypeFacts {
  std::string_view name;
  BlockShape block;
};

// In the order of StoredType.
constexpr std::array kTypes = {
    TypeFacts{"F64", {1, 8}},        TypeFacts{"F32", {1, 4}},
    TypeFacts{"F16", {1, 2}},        TypeFacts{"BF16", {1, 2}},
    TypeFacts{"F8_E4M3", {1, 1}},    TypeFacts{"F8_E5M2", {1, 1}},
    TypeFacts{"I64", {1, 8}},        TypeFacts{"I32", {1, 4}},
    TypeFacts{"I16", {1, 2}},        TypeFacts{"I8", {1, 1}},
    TypeFacts{"U64", {1, 8}},        TypeFacts{"U32", {1, 4}},
    TypeFacts{"U16", {1, 2}},        TypeFacts{"U8", {1, 1}},
    TypeFacts{"BOOL", {1, 1}},       TypeFacts{"Q4_0", {32, 18}},
    TypeFacts{"Q4_1", {32, 20}},     TypeFacts{"Q5_0", {32, 22}},
    TypeFacts{"Q5_1", {32, 24}},     TypeFacts{"Q8_0", {32, 34}},
    TypeFacts{"Q2_K", {256, 84}},    TypeFacts{"Q3_K", {256, 110}},
    TypeFacts{"Q4_K", {256, 144}},   TypeFacts{"Q5_K", {256, 176}},
    TypeFacts{"Q6_K", {256, 210}},   TypeFacts{"IQ4_NL", {32, 18}},
    TypeFacts{"IQ4_XS", {256, 136}}, TypeFacts{"IQ2_XXS", {256, 66}},
    TypeFacts{"IQ2_XS", {256, 74}},  TypeFacts{"IQ2_S", {256, 82}},
    TypeFacts{"IQ3_XXS", {256, 98}}, TypeFacts{"IQ3_S", {256, 110}},
    TypeFacts{"IQ1_S", {256, 50}},   TypeFacts{"IQ1_M", {256, 56}},
    TypeFacts{"TQ1_0", {256, 54}},   TypeFacts{"TQ2_0", {256, 66}},
    TypeFacts{"MXFP4", {32, 17}},
};
static_assert(kTypes.size() == static_cast<std::size_t>(kLastStoredType) + 1);

const TypeFacts& facts(StoredType type) noexcept {
  return kTypes[static_cast<std::size_t>(type)];
}

}  // namespace

std::string_view stored_type_name(StoredType type) noexcept {
  return facts(type).name;
}

std::optional<StoredType> stored_type_named(std::string_view name) noexcept {
  const auto* const found = std::find_if(
      kTypes.begin(), kTypes.end(), [name](const TypeFacts& type) { return type.name == name; });
  if (found == kTypes.end()) {
    return std::nullopt;
  }
  return static_cast<StoredType>(found - kTypes.begin());
}

BlockShape stored_block(StoredType type) noexcept {
  return facts(type).block;
}

bool is_quantised(StoredType type) noexcept {
  return stored_block(type).numbers > 1;
}

std::size_t stored_bytes(StoredType type, std::size_t n_numbers) noexcept {
  const BlockShape block = stored_block(type);
  assert(n_numbers % block.numbers == 0);
  return n_numbers / block.numbers * block.bytes;
}

bool StoredMatrix::is_floats() const noexcept {
  return type == StoredType::kF32 && !transposed &&
         reinterpret_cast<std::uintptr_t>(data) % alignof(float) == 0;
}

StoredMatrix StoredMatrix::row_block(std::size_t first, std::size_t count) const noexcept {
  StoredMatrix block = *this;
  block.rows = count;
  transposed ? block.advance(0, first) : block.advance(first, 0);
  return block;
}

StoredMatrix StoredMatrix::col_block(std::size_t first, std::size_t count) const noexcept {
  StoredMatrix block = *this;
  block.cols = count;
  transposed ? block.advance(first, 0) : block.advance(0, first);
  return block;
}

void StoredMatrix::advance(std::size_t stored_rows, std::size_t numbers) noexcept {
  const std::size_t at = stored_rows * stride + skip + numbers;
  skip = at % stored_block(type).numbers;
  data = static_cast<const char*>(data) + stored_bytes(type, at - skip);
}

}  // namespace attnviz
