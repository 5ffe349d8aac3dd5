// Cells of comma-separated tables.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace attnviz {

/// A text in double quotes, as RFC 4180 has it. A table may go to a terminal, which is to obey
/// nothing in it: control characters are made visible as in printable_message().
std::string csv_text(std::string_view text);

/// The shortest decimals that read back to the same number; empty where there is none.
std::string csv_number(const std::optional<double>& number);

}  // namespace attnviz
