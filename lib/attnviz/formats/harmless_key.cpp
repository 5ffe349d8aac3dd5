#include "attnviz/formats/harmless_key.h"

#include <algorithm>
#include <functional>

namespace attnviz {

namespace {

bool is_named(std::string_view pattern, std::string_view key) noexcept {
  if (pattern.starts_with('*')) {
    return key.ends_with(pattern.substr(1));
  }
  return pattern.ends_with('*') ? key.starts_with(pattern.substr(0, pattern.size() - 1))
                                : key == pattern;
}

}  // namespace

std::string_view why_harmless(std::span<const HarmlessKey> table, std::string_view key,
                              std::optional<double> number, std::string_view text) {
  const auto found = std::ranges::find_if(table, [&](const HarmlessKey& known) {
    // Numbers of JSON went through a float.
    const bool has_number = !known.number || (number && static_cast<float>(*number) ==
                                                            static_cast<float>(*known.number));
    return is_named(known.key, key) && has_number && (known.text.empty() || known.text == text);
  });
  return found == table.end() ? std::string_view() : found->why;
}

bool names_key(std::span<const HarmlessKey> table, std::string_view key) {
  return std::ranges::any_of(table,
                             [key](const HarmlessKey& known) { return is_named(known.key, key); });
}

bool is_nothing(const GgufValue& value) {
  if (value.type() != GgufType::kArray) {
    return value.as_string() == std::string_view();
  }
  const auto numbers = value.as_numbers();
  const auto flags = value.as_flags();
  return value.size() == 0 ||
         (numbers && std::ranges::all_of(*numbers, [](double one) { return one == 0.0; })) ||
         (flags && std::ranges::none_of(*flags, std::identity()));
}

std::optional<double> plain_number(const GgufValue& value) {
  const std::optional<bool> flag = value.as_bool();
  return flag ? std::optional(*flag ? 1.0 : 0.0) : value.as_number();
}

}  // namespace attnviz
