// Reads lists of numbers out of JSON text.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace attnviz {

/// Whether `text` is one number: RFC 8259, section 6.
bool is_json_number(std::string_view text) noexcept;

/// Appends the numbers that `text`, what follows a list's opening bracket, begins with, and returns
/// where it stopped: before the closing bracket, or before a value that it leaves to others (it
/// never stops behind a comma that a bracket follows). So the rest, behind an opening bracket, is
/// right or wrong as `text` is, for the same reason.
///
/// Takes numbers by the grammar of RFC 8259, section 6, rounded to the nearest float, and leaves
/// those that do not fit one or are too small for it. Where `n_nulls` is given, takes null and
/// -Infinity as well, both as minus infinity, and adds to it how many there were.
std::size_t read_json_numbers(std::string_view text, std::vector<float>& numbers,
                              std::size_t* n_nulls = nullptr);

}  // namespace attnviz
