// Which SIMD instructions the kernels use: listed, forced, told.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attnviz::kernels {

/// Targets compiled in that this machine can run, best first, in lower case: "avx3", "avx2", … .
/// "avx3_vnni" is "avx3" with integer products for quantised weights.
std::vector<std::string> simd_targets();

/// The target that the kernels run on now, as a kernel itself reports it.
std::string active_simd_target();

/// Whether quantised weights are multiplied as integers: the target is "avx3_vnni".
bool uses_integer_products() noexcept;

/// Makes every kernel run on `target`, for the whole process. Throws Error{kUsage} listing the
/// available ones. "auto" is the best.
void force_simd_target(std::string_view target);

/// Forces a target until the end of the scope; then the best one runs again.
class ScopedSimdTarget {
 public:
  explicit ScopedSimdTarget(std::string_view target) { force_simd_target(target); }
  ~ScopedSimdTarget();
  ScopedSimdTarget(const ScopedSimdTarget&) = delete;
  ScopedSimdTarget& operator=(const ScopedSimdTarget&) = delete;
};

}  // namespace attnviz::kernels
