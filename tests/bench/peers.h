// Matrix products of other libraries, those that were found.
#pragma once

#include <string>
#include <vector>

#include "attnviz/core/tensor.h"

namespace attnviz::bench {

/// c [m, n] = a [m, k] · b [k, n], or with `transposed` · b^T of b [n, k]; all row-major.
using Product = void (*)(bool transposed, ConstMatrix a, ConstMatrix b, Matrix c);

struct Peer {
  std::string name;
  Product product;
};

const std::vector<Peer>& peers();

/// The kernels that OpenBLAS has chosen; empty without OpenBLAS.
std::string openblas_core();

/// The core type to set for OpenBLAS when it does not know this CPU and takes it for one without
/// its vector instructions, which makes it several times slower; else null.
const char* better_openblas_core();

}  // namespace attnviz::bench
