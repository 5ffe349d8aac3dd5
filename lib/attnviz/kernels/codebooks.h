// What the indices in blocks of GGUF's smallest types stand for. For the kernels that unpack them.
#pragma once

#include <array>
#include <cstdint>

namespace attnviz::kernels {

/// Eight numbers an index, one a byte, the first lowest: -8, 0 or 8, each plus 128.
extern const std::array<std::uint64_t, 2048> kIq1Codebook;

/// Eight positive numbers an index, one a byte, the first lowest.
extern const std::array<std::uint64_t, 256> kIq2XxsCodebook;
extern const std::array<std::uint64_t, 512> kIq2XsCodebook;
extern const std::array<std::uint64_t, 1024> kIq2SCodebook;

/// Four positive numbers an index, one a byte, the first lowest.
extern const std::array<std::uint32_t, 256> kIq3XxsCodebook;
extern const std::array<std::uint32_t, 512> kIq3SCodebook;

}  // namespace attnviz::kernels
