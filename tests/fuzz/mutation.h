// Broken files made from valid ones, the same for the same seed on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace attnviz::test {

/// One of `files` with a few faults: changed bits, bytes and numbers, pieces removed, doubled or
/// taken from another file, the end cut off. Most of them near the beginning, as the end holds
/// weights. Precondition: there are files.
std::string mutated(const std::vector<std::string>& files, std::uint64_t seed);

}  // namespace attnviz::test
