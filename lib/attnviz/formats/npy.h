// NumPy's .npy format: written in version 1.0, float32, C order, the machine's byte order; read in
// all the forms that other programs write.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/mapped_file.h"
#include "attnviz/core/tensor.h"

namespace attnviz {

/// The header of an array of `shape`, a multiple of 64 bytes long.
/// Source: numpy.lib.format, "Format Version 1.0".
std::string npy_header(std::span<const std::size_t> shape);

/// Appends one row of values.
void append_npy_row(std::string& out, std::span<const float> row);

/// Appends the values in row order.
void write_npy_values(ConstMatrix values, const ByteSink& sink);

/// An array of any number of axes.
struct NpyArray {
  std::vector<std::size_t> shape;  // at least one axis, no axis of 0
  MatrixBuffer values;             // [product of all axes but the last, last axis], C order

  /// The matrix of the last two axes at `index` of the axes before them, counted in C order.
  ConstMatrix matrix(std::size_t index) const noexcept;
};

/// Whether the bytes begin as an .npy file does.
bool is_npy(std::string_view bytes) noexcept;

/// Reads float16, float32, float64, integers of 1 to 8 bytes and booleans of either byte order as
/// float32, rounded where needed, in C or Fortran order, format versions 1 to 3.
///
/// Source  numpy.lib.format. Every message begins with `name`. Throws Error{kMalformed} for bytes
/// that are not an .npy file, or too few or too many; Error{kUnsupported} for other types;
/// Error{kIo} when memory runs out.
NpyArray read_npy(std::string_view bytes, std::string_view name);

}  // namespace attnviz
