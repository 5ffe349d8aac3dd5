// Models and texts of ../shared/reference/why, and their reference numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "attnviz/model/model.h"
#include "attnviz/text/tokenized_text.h"
#include "support/json.h"

namespace attnviz::test {

struct WhyCase {
  Model model;
  nlohmann::json numbers;
  std::vector<std::uint32_t> ids;
};

/// Empty, with a message, if they do not exist.
std::vector<WhyCase> why_cases();

/// Only ids.
TokenizedText text_of(const std::vector<std::uint32_t>& ids);

/// Within 1e-4 · max(1, |expected|), as the references require.
void check_why(double found, double expected);

}  // namespace attnviz::test
