#include "attnviz/formats/gguf_metadata.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"

namespace attnviz {

GgufMetadata::GgufMetadata(const Gguf& gguf)
    : gguf_(&gguf),
      dialect_(gguf_dialect(gguf)),
      asked_(std::make_shared<std::set<std::string, std::less<>>>()) {}

std::vector<std::string_view> GgufMetadata::unread_keys() const {
  std::vector<std::string_view> unread;
  for (const Gguf::Entry& entry : gguf_->metadata()) {
    if (!asked_->contains(entry.key)) {
      unread.push_back(entry.key);
    }
  }
  return unread;
}

std::optional<std::string_view> GgufMetadata::of_architecture(std::string_view key) const {
  for (const std::string_view name :
       {text("general.architecture"), std::string_view(dialect_.architecture)}) {
    if (!name.empty() && key.starts_with(name) && key.substr(name.size()).starts_with('.')) {
      return key.substr(name.size() + 1);
    }
  }
  return std::nullopt;
}

const GgufValue* GgufMetadata::own(std::string_view key) const {
  const GgufValue* const found = gguf_->find(key);
  if (found != nullptr || dialect_.architecture.empty()) {
    return found;
  }
  const std::string_view meant =
      dialect_.meant.front().value.as_string().value_or(std::string_view());
  if (!key.starts_with(meant) || !key.substr(meant.size()).starts_with('.')) {
    return nullptr;
  }
  const std::string said = fmt::format("{}{}", dialect_.architecture, key.substr(meant.size()));
  asked_->insert(said);
  return gguf_->find(said);
}

const GgufValue* GgufMetadata::find(std::string_view key) const {
  asked_->emplace(key);
  const GgufValue* const own = this->own(key);
  const auto meant = std::ranges::find(dialect_.meant, key, &GgufDialect::Meant::key);
  if (meant == dialect_.meant.end() || (own != nullptr && !meant->overrides)) {
    return own;
  }
  if (meant->said.empty()) {
    return &meant->value;
  }
  asked_->emplace(meant->said);
  return gguf_->find(meant->said);
}

void GgufMetadata::fail(std::string_view key, std::string_view message) const {
  throw Error(ErrorKind::kMalformed,
              fmt::format("{}: {}: {}", gguf_->file(), shown_name(key), message));
}

template <class T, class IsRight>
T GgufMetadata::get(std::string_view key, std::string_view expected,
                    std::optional<T> (GgufValue::*read)() const, IsRight is_right) const {
  const GgufValue* const value = find(key);
  if (value == nullptr) {
    fail(key, fmt::format("expected {}, found no such key", expected));
  }
  std::optional<T> found = (value->*read)();
  if (!found || !is_right(*found)) {
    const bool is_list = value->type() == GgufType::kArray;
    fail(key, fmt::format("expected {}, found {}{}{}", expected,
                          is_list ? "" : gguf_type_name(value->type()), is_list ? "" : " ",
                          value->text()));
  }
  return std::move(*found);
}

std::size_t GgufMetadata::size(std::string_view key) const {
  return get(key, "a whole number from 1 to 2147483648", &GgufValue::as_unsigned,
             [](std::uint64_t size) { return size > 0 && size <= std::uint64_t{1} << 31; });
}

std::size_t GgufMetadata::size_or(std::string_view key, std::size_t otherwise) const {
  return has(key) ? size(key) : otherwise;
}

std::optional<std::uint32_t> GgufMetadata::id(std::string_view key) const {
  if (!has(key)) {
    return std::nullopt;
  }
  return static_cast<std::uint32_t>(
      get(key, "a whole number from 0 to 4294967295", &GgufValue::as_unsigned,
          [](std::uint64_t id) { return std::in_range<std::uint32_t>(id); }));
}

double GgufMetadata::positive(std::string_view key) const {
  return get(key, "a finite number greater than 0", &GgufValue::as_number,
             [](double number) { return std::isfinite(number) && number > 0; });
}

double GgufMetadata::positive_or(std::string_view key, double otherwise) const {
  return has(key) ? positive(key) : otherwise;
}

double GgufMetadata::number_or(std::string_view key, double otherwise) const {
  return has(key) ? get(key, "a finite number", &GgufValue::as_number,
                        [](double number) { return std::isfinite(number); })
                  : otherwise;
}

std::optional<bool> GgufMetadata::flag(std::string_view key) const {
  return has(key) ? std::optional(get(key, "a bool", &GgufValue::as_bool)) : std::nullopt;
}

bool GgufMetadata::flag_or(std::string_view key, bool otherwise) const {
  return flag(key).value_or(otherwise);
}

std::string_view GgufMetadata::text(std::string_view key) const {
  return get(key, "a string of UTF-8", &GgufValue::as_string, is_utf8);
}

std::string_view GgufMetadata::text_or(std::string_view key, std::string_view otherwise) const {
  return has(key) ? text(key) : otherwise;
}

std::vector<std::string_view> GgufMetadata::strings(std::string_view key) const {
  return has(key) ? get(key, "an array of strings", &GgufValue::as_strings)
                  : std::vector<std::string_view>();
}

std::vector<double> GgufMetadata::numbers(std::string_view key) const {
  return has(key) ? get(key, "an array of numbers", &GgufValue::as_numbers) : std::vector<double>();
}

std::vector<bool> GgufMetadata::flags(std::string_view key) const {
  return has(key) ? get(key, "an array of bools", &GgufValue::as_flags) : std::vector<bool>();
}

}  // namespace attnviz
