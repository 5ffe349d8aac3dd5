// The values of a GGUF file's metadata. Their bytes were checked when the file was opened.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <utility>

#include "attnviz/core/stored_matrix.h"
#include "attnviz/core/utf8.h"
#include "attnviz/formats/gguf.h"

namespace attnviz {

namespace {

struct ValueFacts {
  std::string_view name;
  std::size_t width;
};

// In the order of GgufType.
constexpr auto kValueTypes = std::to_array<ValueFacts>({{"u8", 1},
                                                        {"i8", 1},
                                                        {"u16", 2},
                                                        {"i16", 2},
                                                        {"u32", 4},
                                                        {"i32", 4},
                                                        {"f32", 4},
                                                        {"bool", 1},
                                                        {"string", 0},
                                                        {"array", 0},
                                                        {"u64", 8},
                                                        {"i64", 8},
                                                        {"f64", 8}});

// Calls `use` with the number at `bytes` in the C++ type for `type`; returns whether `type` is a
// number.
template <class Use>
bool with_number(GgufType type, const char* bytes, bool big_endian, Use use) {
  const auto as = [&](auto type_of_number) {
    use(load_number<decltype(type_of_number)>(bytes, big_endian));
    return true;
  };
  switch (type) {
    case GgufType::kU8:
      return as(std::uint8_t{});
    case GgufType::kI8:
      return as(std::int8_t{});
    case GgufType::kU16:
      return as(std::uint16_t{});
    case GgufType::kI16:
      return as(std::int16_t{});
    case GgufType::kU32:
      return as(std::uint32_t{});
    case GgufType::kI32:
      return as(std::int32_t{});
    case GgufType::kU64:
      return as(std::uint64_t{});
    case GgufType::kI64:
      return as(std::int64_t{});
    case GgufType::kF32:
      return as(float{});
    case GgufType::kF64:
      return as(double{});
    case GgufType::kBool:
    case GgufType::kString:
    case GgufType::kArray:
      break;
  }
  return false;
}

template <class To>
std::optional<To> integer(GgufType type, const char* bytes, bool big_endian) {
  std::optional<To> found;
  with_number(type, bytes, big_endian, [&found](auto number) {
    if constexpr (std::integral<decltype(number)>) {
      if (std::in_range<To>(number)) {
        found = static_cast<To>(number);
      }
    }
  });
  return found;
}

bool is_number(GgufType type) noexcept {
  return type != GgufType::kBool && type != GgufType::kString && type != GgufType::kArray;
}

// `text` on one line, shortened to at most `most` bytes including quotes.
std::string quoted_line(std::string_view text, std::size_t most) {
  constexpr std::string_view kEllipsis = "…";
  constexpr std::size_t kQuotes = 2;
  std::string whole;
  std::size_t cut = 0;
  const std::string shown = printable_message(text.substr(0, most));
  for (const std::string_view cluster : grapheme_clusters(shown)) {
    whole += cluster == "\n" ? "⏎" : cluster;
    if (kQuotes + whole.size() + kEllipsis.size() <= most) {
      cut = whole.size();
    }
  }
  const bool fits = text.size() <= most && kQuotes + whole.size() <= most;
  if (!fits) {
    whole.replace(cut, std::string::npos, kEllipsis);
  }
  return fmt::format("\"{}\"", whole);
}

}  // namespace

std::string_view gguf_type_name(GgufType type) noexcept {
  const auto number = static_cast<std::size_t>(type);
  return number < kValueTypes.size() ? kValueTypes[number].name : "unknown";
}

std::size_t gguf_type_width(GgufType type) noexcept {
  return kValueTypes[static_cast<std::size_t>(type)].width;
}

GgufValue GgufValue::made(GgufType type, std::string_view bytes) noexcept {
  GgufValue value;
  value.type_ = type;
  value.bytes_ = bytes;
  return value;
}

std::optional<std::uint64_t> GgufValue::as_unsigned() const noexcept {
  return integer<std::uint64_t>(type_, bytes_.data(), big_endian_);
}

std::optional<std::int64_t> GgufValue::as_signed() const noexcept {
  return integer<std::int64_t>(type_, bytes_.data(), big_endian_);
}

std::optional<double> GgufValue::as_number() const noexcept {
  std::optional<double> found;
  with_number(type_, bytes_.data(), big_endian_,
              [&found](auto number) { found = static_cast<double>(number); });
  return found;
}

std::optional<bool> GgufValue::as_bool() const noexcept {
  return type_ == GgufType::kBool ? std::optional(bytes_.front() != 0) : std::nullopt;
}

std::optional<std::string_view> GgufValue::as_string() const noexcept {
  return type_ == GgufType::kString ? std::optional(bytes_) : std::nullopt;
}

std::optional<std::vector<std::string_view>> GgufValue::as_strings() const {
  return as_strings(0, count_);
}

std::optional<std::vector<std::string_view>> GgufValue::as_strings(std::size_t first,
                                                                   std::size_t count) const {
  if (type_ != GgufType::kArray || element_type_ != GgufType::kString || first > count_ ||
      count > count_ - first) {
    return std::nullopt;
  }
  std::vector<std::string_view> strings;
  strings.reserve(count);
  std::string_view rest = bytes_;
  for (std::size_t i = 0; i < first + count; ++i) {
    const auto length = load_number<std::uint64_t>(rest.data(), big_endian_);
    if (i >= first) {
      strings.push_back(rest.substr(sizeof(length), length));
    }
    rest.remove_prefix(sizeof(length) + length);
  }
  return strings;
}

std::optional<std::vector<double>> GgufValue::as_numbers() const {
  if (type_ != GgufType::kArray || !is_number(element_type_)) {
    return std::nullopt;
  }
  std::vector<double> numbers;
  numbers.reserve(count_);
  const std::size_t width = count_ == 0 ? 0 : bytes_.size() / count_;
  for (std::size_t i = 0; i < count_; ++i) {
    with_number(element_type_, bytes_.data() + i * width, big_endian_,
                [&numbers](auto number) { numbers.push_back(static_cast<double>(number)); });
  }
  return numbers;
}

std::optional<std::vector<bool>> GgufValue::as_flags() const {
  if (type_ != GgufType::kArray || element_type_ != GgufType::kBool) {
    return std::nullopt;
  }
  std::vector<bool> flags(count_);
  std::transform(bytes_.begin(), bytes_.end(), flags.begin(), [](char byte) { return byte != 0; });
  return flags;
}

std::string GgufValue::text(std::size_t most) const {
  if (type_ == GgufType::kString) {
    return quoted_line(bytes_, most);
  }
  if (type_ == GgufType::kArray) {
    return fmt::format("[{} x {}]", gguf_type_name(element_type_), count_);
  }
  if (type_ == GgufType::kBool) {
    return bytes_.front() != 0 ? "true" : "false";
  }
  std::string text;
  with_number(type_, bytes_.data(), big_endian_,
              [&text](auto number) { text = fmt::format("{}", number); });
  return text;
}

}  // namespace attnviz
