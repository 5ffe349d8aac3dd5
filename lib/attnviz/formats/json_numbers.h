// Rows of numbers as JSON text, for a JsonWriter or to be made ready beside it. Reads lists of
// numbers out of JSON text.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/tensor.h"

namespace attnviz {

/// Appends `number` as JsonWriter::value writes it.
void append_json_number(std::string& out, float number);

/// Appends `a, b, c`: what JsonWriter::values writes between its brackets.
void append_json_items(std::string& out, std::span<const float> numbers);

/// Appends `[a, b, c]`: what JsonWriter::values writes.
void append_json_values(std::string& out, std::span<const float> numbers);

/// Appends a row to others, `[a, b]` to nothing and `, [a, b]` to something: the rows of a matrix
/// without its own brackets, as JsonWriter::raw_items takes them. Threads may each make some ready.
void append_json_row(std::string& out, std::span<const float> row);

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
