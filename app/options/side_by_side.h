// Variants of one run that are drawn beside each other: masks and temperatures, or the model as it
// is and what is left of it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/attention/request.h"
#include "attnviz/model/mask.h"

namespace attnviz::app {

/// One mask, one temperature, or with or without interventions.
struct Variant {
  std::optional<Mask> mask;
  std::optional<float> temperature;
  std::optional<bool> is_ablated;  // false: nothing is left out

  /// "causal", "T 0.5", "as it is"; "ablated", for what is left out is not known here.
  std::string name() const;
  /// `request` with this variant's mask or temperature, or without interventions.
  AttentionRequest applied_to(AttentionRequest request) const;
};

/// A comma list of two or more different masks (causal, window:3) and temperatures (0.5, T=0.5); or
/// "ablated", which stands for "unchanged,ablated". Throws Error{kUsage}.
std::vector<Variant> parse_variants(std::string_view list);

/// A temperature: a normal number above 0. Throws Error{kUsage} that begins with `option`.
float parse_temperature(std::string_view option, std::string_view word);

}  // namespace attnviz::app
