// Attention JSON of the right shape, whose parts agree or contradict each other by choice:
// documents that mutating bytes would not reach.
#pragma once

#include <string>

#include "fuzz/choices.h"

namespace attnviz::test {

/// One document, or two on one line each.
std::string odd_attention(Choices& choices);

}  // namespace attnviz::test
