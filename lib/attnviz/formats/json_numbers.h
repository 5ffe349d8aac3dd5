// Rows of numbers as JSON text, for a JsonWriter or to be made ready beside it.
#pragma once

#include <span>
#include <string>

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

}  // namespace attnviz
