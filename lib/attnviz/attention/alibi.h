// ALiBi: scores fall off linearly with distance, at a slope of each head's own.
#pragma once

#include <cstddef>

namespace attnviz {

/// The slope m of `head` among `n_heads`: 2^(-8 (head + 1) / n_heads) when n_heads is a power of
/// two; otherwise the slopes of the power of two p below, followed by every other slope of 2p.
/// Source: Press et al. 2022, section 3 and their published code. Precondition: head < n_heads.
double alibi_slope(std::size_t head, std::size_t n_heads) noexcept;

}  // namespace attnviz
