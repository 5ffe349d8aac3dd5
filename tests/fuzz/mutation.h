// Broken files made of valid ones, the same for the same seed on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace attnviz::test {

/// One of `files` with a few faults: bits and bytes, numbers where numbers stand, pieces left out,
/// doubled or taken from another file, the end cut off. Most of them where the file begins, as what
/// is at its end are weights. Precondition: there are files.
std::string mutated(const std::vector<std::string>& files, std::uint64_t seed);

}  // namespace attnviz::test
