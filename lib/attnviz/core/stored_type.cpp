#include "attnviz/core/stored_type.h"

#include <algorithm>
#include <array>

namespace attnviz {

namespace {

struct TypeFacts {
  std::string_view name;
  std::size_t size;
};

// In the order of StoredType.
constexpr std::array kTypes = {
    TypeFacts{"F64", 8},     TypeFacts{"F32", 4},     TypeFacts{"F16", 2},  TypeFacts{"BF16", 2},
    TypeFacts{"F8_E4M3", 1}, TypeFacts{"F8_E5M2", 1}, TypeFacts{"I64", 8},  TypeFacts{"I32", 4},
    TypeFacts{"I16", 2},     TypeFacts{"I8", 1},      TypeFacts{"U64", 8},  TypeFacts{"U32", 4},
    TypeFacts{"U16", 2},     TypeFacts{"U8", 1},      TypeFacts{"BOOL", 1},
};
static_assert(kTypes.size() == static_cast<std::size_t>(StoredType::kBool) + 1);

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

std::size_t stored_type_size(StoredType type) noexcept {
  return facts(type).size;
}

}  // namespace attnviz
