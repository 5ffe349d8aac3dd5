#include "attnviz/formats/gguf.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"

namespace attnviz {

namespace {

// The parts of a block that have a byte order: `count` numbers of `width` bytes, from `begin` on.
struct OrderedBytes {
  std::size_t begin;
  std::size_t width;
  std::size_t count;
};

struct TypeFacts {
  std::uint32_t number;
  StoredType type;
  OrderedBytes ordered;
};

// Quants keep their order in big-endian files, even those that ggml reads as 16 or 32 bits at once;
// scales do not. Source: gguf_convert_endian.py of gguf's Python package, and the structs of ggml's
// ggml-common.h for the types that it does not convert.
constexpr std::array kTypes = {
    TypeFacts{0, StoredType::kF32, {0, 4, 1}},
    TypeFacts{1, StoredType::kF16, {0, 2, 1}},
    TypeFacts{2, StoredType::kQ4_0, {0, 2, 1}},
    TypeFacts{3, StoredType::kQ4_1, {0, 2, 2}},
    TypeFacts{6, StoredType::kQ5_0, {0, 2, 1}},
    TypeFacts{7, StoredType::kQ5_1, {0, 2, 2}},
    TypeFacts{8, StoredType::kQ8_0, {0, 2, 1}},
    TypeFacts{10, StoredType::kQ2_K, {80, 2, 2}},
    TypeFacts{11, StoredType::kQ3_K, {108, 2, 1}},
    TypeFacts{12, StoredType::kQ4_K, {0, 2, 2}},
    TypeFacts{13, StoredType::kQ5_K, {0, 2, 2}},
    TypeFacts{14, StoredType::kQ6_K, {208, 2, 1}},
    TypeFacts{16, StoredType::kIQ2_XXS, {0, 2, 1}},
    TypeFacts{17, StoredType::kIQ2_XS, {0, 2, 1}},
    TypeFacts{18, StoredType::kIQ3_XXS, {0, 2, 1}},
    TypeFacts{19, StoredType::kIQ1_S, {0, 2, 1}},
    TypeFacts{20, StoredType::kIQ4_NL, {0, 2, 1}},
    TypeFacts{21, StoredType::kIQ3_S, {0, 2, 1}},
    TypeFacts{22, StoredType::kIQ2_S, {0, 2, 1}},
    // After d, a 16-bit number holds the upper bits of all scales.
    TypeFacts{23, StoredType::kIQ4_XS, {0, 2, 2}},
    TypeFacts{24, StoredType::kI8, {0, 1, 0}},
    TypeFacts{25, StoredType::kI16, {0, 2, 1}},
    TypeFacts{26, StoredType::kI32, {0, 4, 1}},
    TypeFacts{27, StoredType::kI64, {0, 8, 1}},
    TypeFacts{28, StoredType::kF64, {0, 8, 1}},
    // The scale's bits lie in the upper bits of four 16-bit numbers of small scales.
    TypeFacts{29, StoredType::kIQ1_M, {48, 2, 4}},
    TypeFacts{30, StoredType::kBf16, {0, 2, 1}},
    TypeFacts{34, StoredType::kTQ1_0, {52, 2, 1}},
    TypeFacts{35, StoredType::kTQ2_0, {64, 2, 1}},
    TypeFacts{39, StoredType::kMXFP4, {0, 1, 0}},
};

struct NamedNumber {
  std::uint32_t number;
  std::string_view name;
};

// Types removed from ggml, used only inside it, or newer than attnviz.
constexpr std::array kOthers = {
    NamedNumber{4, "Q4_2"},        NamedNumber{5, "Q4_3"},        NamedNumber{9, "Q8_1"},
    NamedNumber{15, "Q8_K"},       NamedNumber{31, "Q4_0_4_4"},   NamedNumber{32, "Q4_0_4_8"},
    NamedNumber{33, "Q4_0_8_8"},   NamedNumber{36, "IQ4_NL_4_4"}, NamedNumber{37, "IQ4_NL_4_8"},
    NamedNumber{38, "IQ4_NL_8_8"}, NamedNumber{40, "NVFP4"},      NamedNumber{41, "Q1_0"},
    NamedNumber{42, "Q2_0"},
};

template <class List>
const typename List::value_type* find_number(const List& list, std::uint32_t number) noexcept {
  const auto* const found = std::find_if(
      list.begin(), list.end(), [number](const auto& one) { return one.number == number; });
  return found == list.end() ? nullptr : &*found;
}

OrderedBytes ordered_bytes(StoredType type) noexcept {
  const auto* const found = std::find_if(kTypes.begin(), kTypes.end(),
                                         [type](const TypeFacts& one) { return one.type == type; });
  return found == kTypes.end() ? OrderedBytes{0, stored_block(type).bytes, 1} : found->ordered;
}

// Source: https://github.com/ggml-org/llama.cpp, llama_ftype.
constexpr std::array kFileTypes = {
    NamedNumber{0, "F32"},     NamedNumber{1, "F16"},      NamedNumber{2, "Q4_0"},
    NamedNumber{3, "Q4_1"},    NamedNumber{7, "Q8_0"},     NamedNumber{8, "Q5_0"},
    NamedNumber{9, "Q5_1"},    NamedNumber{10, "Q2_K"},    NamedNumber{11, "Q3_K_S"},
    NamedNumber{12, "Q3_K_M"}, NamedNumber{13, "Q3_K_L"},  NamedNumber{14, "Q4_K_S"},
    NamedNumber{15, "Q4_K_M"}, NamedNumber{16, "Q5_K_S"},  NamedNumber{17, "Q5_K_M"},
    NamedNumber{18, "Q6_K"},   NamedNumber{19, "IQ2_XXS"}, NamedNumber{20, "IQ2_XS"},
    NamedNumber{21, "Q2_K_S"}, NamedNumber{22, "IQ3_XS"},  NamedNumber{23, "IQ3_XXS"},
    NamedNumber{24, "IQ1_S"},  NamedNumber{25, "IQ4_NL"},  NamedNumber{26, "IQ3_S"},
    NamedNumber{27, "IQ3_M"},  NamedNumber{28, "IQ2_S"},   NamedNumber{29, "IQ2_M"},
    NamedNumber{30, "IQ4_XS"}, NamedNumber{31, "IQ1_M"},   NamedNumber{32, "BF16"},
    NamedNumber{36, "TQ1_0"},  NamedNumber{37, "TQ2_0"},   NamedNumber{38, "MXFP4"}};

}  // namespace

std::string_view ggml_type_name(std::uint32_t number) noexcept {
  if (const TypeFacts* type = find_number(kTypes, number)) {
    return stored_type_name(type->type);
  }
  const NamedNumber* const other = find_number(kOthers, number);
  return other == nullptr ? std::string_view() : other->name;
}

std::optional<StoredType> ggml_stored_type(std::uint32_t number) noexcept {
  const TypeFacts* const type = find_number(kTypes, number);
  return type == nullptr ? std::nullopt : std::optional(type->type);
}

std::string_view gguf_file_type_name(std::uint32_t number) noexcept {
  constexpr std::uint32_t kGuessed = 1024;  // a flag
  const NamedNumber* const type = find_number(kFileTypes, number & ~kGuessed);
  return type == nullptr ? std::string_view() : type->name;
}

std::vector<char> turned_bytes(const StoredTensor& tensor) {
  std::vector<char> bytes(tensor.bytes.begin(), tensor.bytes.end());
  const OrderedBytes ordered = ordered_bytes(tensor.type);
  const std::size_t block = stored_block(tensor.type).bytes;
  for (std::size_t at = 0; at + block <= bytes.size(); at += block) {
    char* number_bytes = bytes.data() + at + ordered.begin;
    for (std::size_t i = 0; i < ordered.count; ++i, number_bytes += ordered.width) {
      std::reverse(number_bytes, number_bytes + ordered.width);
    }
  }
  return bytes;
}

namespace {

std::string subject(std::string_view kind, std::string_view name, std::uint64_t index) {
  if (index > 0) {
    return fmt::format("{} {}", kind, index);
  }
  if (name.data() == nullptr) {
    return std::string(kind);
  }
  return kind.empty() ? shown_name(name) : fmt::format("{} {}", kind, shown_name(name));
}

std::string placed(std::string_view file, const std::string& subject, std::string_view message) {
  return subject.empty() ? fmt::format("{}: {}", file, message)
                         : fmt::format("{}: {}: {}", file, subject, message);
}

}  // namespace

std::string_view GgufCursor::take(std::uint64_t size, std::string_view what) {
  if (size > left()) {
    malformed(fmt::format("{}: expected {} at byte {}, found {} before the end of the file", what,
                          counted(size, "byte"), position_, counted(left(), "byte")));
  }
  const std::string_view taken = bytes_.substr(position_, size);
  position_ += size;
  return taken;
}

std::string_view GgufCursor::string(std::string_view what) {
  const auto length = number<std::uint64_t>(what);
  return take(length, what);
}

void GgufCursor::expect_room(std::uint64_t count, std::size_t size, std::string_view what) const {
  if (count > left() / size) {
    malformed(
        fmt::format("{}: expected at most {}, as {} are left of the file, found a count of {}",
                    what, left() / size, counted(left(), "byte"), count));
  }
}

void GgufCursor::malformed(std::string_view message) const {
  throw Error(ErrorKind::kMalformed, placed(file_, subject(kind_, name_, index_), message));
}

void GgufCursor::unsupported(std::string_view message) const {
  throw Error(ErrorKind::kUnsupported, placed(file_, subject(kind_, name_, index_), message));
}

}  // namespace attnviz
