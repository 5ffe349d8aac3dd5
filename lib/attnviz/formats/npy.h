// NumPy's .npy format, version 1.0: float32, C order, the machine's byte order.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "attnviz/core/byte_sink.h"
#include "attnviz/core/tensor.h"

namespace attnviz {

/// The header of an array of `shape`, a multiple of 64 bytes long.
/// Source: numpy.lib.format, "Format Version 1.0".
std::string npy_header(std::span<const std::size_t> shape);

/// Appends one row of values.
void append_npy_row(std::string& out, std::span<const float> row);

/// Appends the values in row order.
void write_npy_values(ConstMatrix values, const ByteSink& sink);

}  // namespace attnviz
