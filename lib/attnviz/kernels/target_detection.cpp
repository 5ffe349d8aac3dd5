// The functions of Highway's library that run-time dispatch calls, and its assertions in debug
// builds and, with Clang, under sanitizers. Everything else that is used from Highway is in its
// headers.
//
// Linking libhwy itself would cost 2 to 3 ms at every start of the program: a static constructor in
// it measures the processor's timer. The definitions are weak, so that a program that links both
// attnviz and libhwy still links.

#include <hwy/targets.h>

#if HWY_ARCH_X86
#include <cpuid.h>
#endif

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "attnviz/core/cpu_feature.h"

namespace hwy {

namespace {

#if HWY_ARCH_X86
// Some compilers do not know this feature by name.
bool has_f16c() noexcept {
#ifdef CPU_FEATURE_ACTIVE
  return CPU_FEATURE_ACTIVE(F16C) != 0;
#else
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
#endif
}
#endif

// The features in each list are those that Highway compiles the target for
// (hwy/ops/set_macros-inl.h).
std::int64_t detect_targets() noexcept {
  std::int64_t targets = HWY_STATIC_TARGET;
#if HWY_ARCH_X86
  const bool ssse3 = ATTNVIZ_HAS_CPU_FEATURE(SSSE3, "ssse3");
  const bool sse4 = ssse3 && ATTNVIZ_HAS_CPU_FEATURE(SSE4_1, "sse4.1") &&
                    ATTNVIZ_HAS_CPU_FEATURE(SSE4_2, "sse4.2") &&
                    ATTNVIZ_HAS_CPU_FEATURE(PCLMULQDQ, "pclmul") &&
                    ATTNVIZ_HAS_CPU_FEATURE(AES, "aes");
  const bool avx2 = sse4 && ATTNVIZ_HAS_CPU_FEATURE(AVX, "avx") &&
                    ATTNVIZ_HAS_CPU_FEATURE(AVX2, "avx2") && ATTNVIZ_HAS_CPU_FEATURE(BMI1, "bmi") &&
                    ATTNVIZ_HAS_CPU_FEATURE(BMI2, "bmi2") && ATTNVIZ_HAS_CPU_FEATURE(FMA, "fma") &&
                    has_f16c();
  const bool avx3 = avx2 && ATTNVIZ_HAS_CPU_FEATURE(AVX512F, "avx512f") &&
                    ATTNVIZ_HAS_CPU_FEATURE(AVX512VL, "avx512vl") &&
                    ATTNVIZ_HAS_CPU_FEATURE(AVX512DQ, "avx512dq") &&
                    ATTNVIZ_HAS_CPU_FEATURE(AVX512BW, "avx512bw");
  targets |= (ssse3 ? HWY_SSSE3 : 0) | (sse4 ? HWY_SSE4 : 0) | (avx2 ? HWY_AVX2 : 0) |
             (avx3 ? HWY_AVX3 : 0);
#endif
  return targets;
}

}  // namespace

__attribute__((weak)) ChosenTarget& GetChosenTarget() {
  static ChosenTarget chosen;
  return chosen;
}

__attribute__((weak)) std::int64_t SupportedTargets() {
  static const std::int64_t targets = detect_targets();
  return targets;
}

__attribute__((weak)) void Abort(const char* file, int line, const char* format, ...) {
  std::fprintf(stderr, "%s:%d: ", file, line);
  std::va_list arguments;
  va_start(arguments, format);
  std::vfprintf(stderr, format, arguments);
  va_end(arguments);
  std::fputc('\n', stderr);
  std::abort();
}

}  // namespace hwy
