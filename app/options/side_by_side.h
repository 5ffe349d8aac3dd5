// Variants of one run that are drawn beside each other: masks and temperatures.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/attention/request.h"
#include "attnviz/model/mask.h"

namespace attnviz::app {

/// One mask or one temperature.
struct Variant {
  std::optional<Mask> mask;
  std::optional<float> temperature;

  /// "causal", "T 0.5".
  std::string name() const;
  /// `request` with this variant's mask or temperature.
  AttentionRequest applied_to(AttentionRequest request) const;
};

/// A comma list of two or more different masks (causal, window:3) and temperatures (0.5, T=0.5).
/// Throws Error{kUsage}.
std::vector<Variant> parse_variants(std::string_view list);

/// A temperature: a normal number above 0. Throws Error{kUsage} that begins with `option`.
float parse_temperature(std::string_view option, std::string_view word);

}  // namespace attnviz::app
