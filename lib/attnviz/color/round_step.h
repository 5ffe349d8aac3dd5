// Round numbers for the ends and steps of scales.
#pragma once

namespace attnviz {

/// The least of 1, 2 or 5 times a power of ten that is at least `number`, but for the rounding of
/// floats: where a scale of bars from 0 ends, or how far the ticks of an axis stand apart. 1 for
/// what is not more than 0, or not finite.
double round_step(double number) noexcept;

}  // namespace attnviz
