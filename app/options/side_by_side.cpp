#include "options/side_by_side.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <string>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "options/option_values.h"

namespace attnviz::app {

namespace {

constexpr std::string_view kOption = "--side-by-side";
constexpr std::string_view kUnchanged = "unchanged";
constexpr std::string_view kAblated = "ablated";

Variant parse_variant(std::string_view word) {
  const bool named = word.starts_with("T=") || word.starts_with("t=");
  const bool number = !word.empty() && std::string_view("0123456789.-+").find(word.front()) !=
                                           std::string_view::npos;
  Variant variant;
  if (named || number) {
    variant.temperature = parse_temperature(kOption, named ? word.substr(2) : word);
    return variant;
  }
  try {
    variant.mask = parse_mask(word);
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("{}: {}, a temperature such as 0.5, or ablated", kOption,
                                          error.what()));
  }
  return variant;
}

}  // namespace

std::string Variant::name() const {
  if (is_ablated) {
    return *is_ablated ? "ablated" : "as it is";
  }
  return mask ? mask->name() : fmt::format("T {}", temperature.value_or(1.0f));
}

AttentionRequest Variant::applied_to(AttentionRequest request) const {
  if (mask) {
    request.mask = mask;
  }
  request.temperature = temperature.value_or(request.temperature);
  if (!is_ablated.value_or(true)) {
    request.interventions = nullptr;
  }
  return request;
}

std::vector<Variant> parse_variants(std::string_view list) {
  using Parts = std::vector<std::string_view>;
  std::vector<Variant> variants;
  const Parts parts = list_parts(list);
  if (parts == Parts{kAblated} || parts == Parts{kUnchanged, kAblated}) {
    variants.resize(2);
    variants[0].is_ablated = false;
    variants[1].is_ablated = true;
    return variants;
  }
  if (std::ranges::any_of(
          parts, [](std::string_view part) { return part == kAblated || part == kUnchanged; })) {
    throw Error(ErrorKind::kUsage,
                fmt::format("{}: ablated stands alone, for {},{}; found {}", kOption, kUnchanged,
                            kAblated, attnviz::quoted(list)));
  }
  std::set<std::string> names;
  for (const std::string_view part : parts) {
    const Variant variant = parse_variant(part);
    if (!names.insert(variant.name()).second) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("{}: {} stands there twice", kOption, variant.name()));
    }
    variants.push_back(variant);
  }
  if (variants.size() < 2) {
    throw Error(ErrorKind::kUsage,
                fmt::format("{}: expected two or more masks or temperatures, such as causal,none "
                            "or 0.5,1,2; found {}",
                            kOption, attnviz::quoted(list)));
  }
  return variants;
}

float parse_temperature(std::string_view option, std::string_view word) {
  const float temperature = parse_decimal(option, word);
  if (!is_temperature(temperature)) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format(
            "{}: expected a number from 1e-37 to 1e38 (the smaller, the more of a row goes to its "
            "largest score), found {}",
            option, attnviz::quoted(word)));
  }
  return temperature;
}

}  // namespace attnviz::app
