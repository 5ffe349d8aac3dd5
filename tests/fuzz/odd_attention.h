// Attention JSON of the right shape, whose parts agree or contradict each other as choices will:
// what no mutation of bytes arrives at.
#pragma once

#include <string>

#include "fuzz/choices.h"

namespace attnviz::test {

/// One document, or two on a line each.
std::string odd_attention(Choices& choices);

}  // namespace attnviz::test
