// Which SIMD instructions the kernels use: lists them, reports the active ones, and forces others.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attnviz::kernels {

/// Targets compiled in that this machine can run, best first, in lower case: "avx3", "avx2", … .
/// "avx3_vnni" is "avx3" with integer products for quantised weights.
std::vector<std::string> simd_targets();

/// Returns the target that the kernels run on now, as reported by a kernel.
std::string active_simd_target();

/// Whether quantised weights are multiplied as integers, that is, the target is "avx3_vnni".
bool uses_integer_products() noexcept;

/// Whether they are where x has a single row: the target is that or "avx2".
bool uses_integer_products_for_one_row() noexcept;

/// Makes every kernel of the process run on `target`. Throws Error{kUsage} listing the available
/// ones. "auto" is the best one.
void force_simd_target(std::string_view target);

/// Forces a target until the end of the scope; then the best one is used again.
class ScopedSimdTarget {
 public:
  explicit ScopedSimdTarget(std::string_view target) { force_simd_target(target); }
  ~ScopedSimdTarget();
  ScopedSimdTarget(const ScopedSimdTarget&) = delete;
  ScopedSimdTarget& operator=(const ScopedSimdTarget&) = delete;
};

}  // namespace attnviz::kernels
