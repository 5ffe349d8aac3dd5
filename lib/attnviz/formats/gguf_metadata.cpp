#include "attnviz/formats/gguf_metadata.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"

namespace attnviz {

namespace {

constexpr std::uint64_t kLargestSize = std::uint64_t{1} << 31;

bool is_utf8(std::string_view text) noexcept {
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint sign = decode_utf8(text, at);
    if (!sign.valid) {
      return false;
    }
    at += sign.length;
  }
  return true;
}

}  // namespace

void GgufMetadata::fail(std::string_view key, std::string_view message) const {
  throw Error(ErrorKind::kMalformed,
              fmt::format("{}: {}: {}", gguf_->file(), shown_name(key), message));
}

const GgufValue& GgufMetadata::get(std::string_view key, std::string_view expected) const {
  const GgufValue* const value = gguf_->find(key);
  if (value == nullptr) {
    fail(key, fmt::format("expected {}, found no such key", expected));
  }
  return *value;
}

void GgufMetadata::fail_value(std::string_view key, std::string_view expected) const {
  const GgufValue& value = get(key, expected);
  const bool is_list = value.type() == GgufType::kArray;
  fail(key,
       fmt::format("expected {}, found {}{}{}", expected,
                   is_list ? "" : gguf_type_name(value.type()), is_list ? "" : " ", value.text()));
}

std::size_t GgufMetadata::size(std::string_view key) const {
  constexpr std::string_view kExpected = "a whole number from 1 to 2147483648";
  const std::optional<std::uint64_t> size = get(key, kExpected).as_unsigned();
  if (!size || *size == 0 || *size > kLargestSize) {
    fail_value(key, kExpected);
  }
  return *size;
}

std::size_t GgufMetadata::size_or(std::string_view key, std::size_t otherwise) const {
  return has(key) ? size(key) : otherwise;
}

std::optional<std::uint32_t> GgufMetadata::id(std::string_view key) const {
  if (!has(key)) {
    return std::nullopt;
  }
  constexpr std::string_view kExpected = "a whole number from 0 to 4294967295";
  const std::optional<std::uint64_t> id = get(key, kExpected).as_unsigned();
  if (!id || *id > std::numeric_limits<std::uint32_t>::max()) {
    fail_value(key, kExpected);
  }
  return static_cast<std::uint32_t>(*id);
}

double GgufMetadata::positive(std::string_view key) const {
  constexpr std::string_view kExpected = "a finite number greater than 0";
  const std::optional<double> number = get(key, kExpected).as_number();
  if (!number || !std::isfinite(*number) || *number <= 0) {
    fail_value(key, kExpected);
  }
  return *number;
}

double GgufMetadata::positive_or(std::string_view key, double otherwise) const {
  return has(key) ? positive(key) : otherwise;
}

double GgufMetadata::number_or(std::string_view key, double otherwise) const {
  if (!has(key)) {
    return otherwise;
  }
  constexpr std::string_view kExpected = "a finite number";
  const std::optional<double> number = get(key, kExpected).as_number();
  if (!number || !std::isfinite(*number)) {
    fail_value(key, kExpected);
  }
  return *number;
}

std::optional<bool> GgufMetadata::flag(std::string_view key) const {
  if (!has(key)) {
    return std::nullopt;
  }
  constexpr std::string_view kExpected = "a bool";
  const std::optional<bool> flag = get(key, kExpected).as_bool();
  if (!flag) {
    fail_value(key, kExpected);
  }
  return flag;
}

bool GgufMetadata::flag_or(std::string_view key, bool otherwise) const {
  return flag(key).value_or(otherwise);
}

std::string_view GgufMetadata::text(std::string_view key) const {
  constexpr std::string_view kExpected = "a string of UTF-8";
  const std::optional<std::string_view> text = get(key, kExpected).as_string();
  if (!text || !is_utf8(*text)) {
    fail_value(key, kExpected);
  }
  return *text;
}

std::string_view GgufMetadata::text_or(std::string_view key, std::string_view otherwise) const {
  return has(key) ? text(key) : otherwise;
}

std::vector<std::string_view> GgufMetadata::strings(std::string_view key) const {
  if (!has(key)) {
    return {};
  }
  constexpr std::string_view kExpected = "an array of strings";
  std::optional<std::vector<std::string_view>> strings = get(key, kExpected).as_strings();
  if (!strings) {
    fail_value(key, kExpected);
  }
  return std::move(*strings);
}

std::vector<double> GgufMetadata::numbers(std::string_view key) const {
  if (!has(key)) {
    return {};
  }
  constexpr std::string_view kExpected = "an array of numbers";
  std::optional<std::vector<double>> numbers = get(key, kExpected).as_numbers();
  if (!numbers) {
    fail_value(key, kExpected);
  }
  return std::move(*numbers);
}

std::vector<bool> GgufMetadata::flags(std::string_view key) const {
  if (!has(key)) {
    return {};
  }
  constexpr std::string_view kExpected = "an array of bools";
  std::optional<std::vector<bool>> flags = get(key, kExpected).as_flags();
  if (!flags) {
    fail_value(key, kExpected);
  }
  return std::move(*flags);
}

}  // namespace attnviz
