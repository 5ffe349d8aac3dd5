#include "attnviz/kernels/simd.h"

#include <fmt/format.h>

#include <atomic>
#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attnviz/kernels/simd.cpp"
#include <hwy/foreach_target.h>  // re-includes this file, once per target

#include <hwy/highway.h>  // this comes after foreach_target.h

#include "attnviz/core/choices.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/kernels/products.h"

HWY_BEFORE_NAMESPACE();
namespace attnviz::kernels::HWY_NAMESPACE {

// Compiled and dispatched like every other kernel, so that it names the same target.
std::int64_t compiled_target() {
  return HWY_TARGET;
}

}  // namespace attnviz::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnviz::kernels {
HWY_EXPORT(compiled_target);

namespace {

constexpr std::int64_t kFallbackTargets = HWY_EMU128 | HWY_SCALAR;

std::string target_name(std::int64_t target) {
  return ascii_lower(hwy::TargetName(target));
}

// Best first: Highway gives better targets lower bits.
std::vector<std::int64_t> usable_targets() {
  std::vector<std::int64_t> targets;
  const std::int64_t usable = (hwy::SupportedTargets() | kFallbackTargets) & HWY_TARGETS;
  for (std::int64_t rest = usable; rest != 0; rest &= rest - 1) {
    targets.push_back(rest & -rest);
  }
  return targets;
}

constexpr std::string_view kIntegerTarget = "avx3_vnni";

// True unless another target was forced; whether the machine has the instructions is checked at
// use.
std::atomic<bool> may_use_integers = true;

void use_best_target() noexcept {
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  may_use_integers = true;
}

}  // namespace

std::vector<std::string> simd_targets() {
  std::vector<std::string> names;
  if (has_integer_products()) {
    names.emplace_back(kIntegerTarget);
  }
  for (const std::int64_t target : usable_targets()) {
    names.push_back(target_name(target));
  }
  return names;
}

bool uses_integer_products() noexcept {
  return may_use_integers.load(std::memory_order_relaxed) && has_integer_products();
}

bool uses_integer_products_for_one_row() noexcept {
#if HWY_ARCH_X86
  return uses_integer_products() || HWY_DYNAMIC_DISPATCH(compiled_target)() == HWY_AVX2;
#else
  return uses_integer_products();
#endif
}

std::string active_simd_target() {
  if (uses_integer_products()) {
    return std::string(kIntegerTarget);
  }
  return target_name(HWY_DYNAMIC_DISPATCH(compiled_target)());
}

void force_simd_target(std::string_view target) {
  if (target == "auto" || (target == kIntegerTarget && has_integer_products())) {
    return use_best_target();
  }
  for (const std::int64_t candidate : usable_targets()) {
    if (target == target_name(candidate)) {
      hwy::GetChosenTarget().Update(candidate);
      may_use_integers = false;
      return;
    }
  }
  const std::vector<std::string> names = simd_targets();
  throw Error(ErrorKind::kUsage,
              fmt::format("SIMD target \"{}\": this machine has auto, {}{}", target,
                          joined_by(names, ", "), did_you_mean(target, names)));
}

ScopedSimdTarget::~ScopedSimdTarget() {
  use_best_target();
}

}  // namespace attnviz::kernels
#endif  // HWY_ONCE
