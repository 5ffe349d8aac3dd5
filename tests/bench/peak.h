// The most that this machine's kernels could do.
#pragma once

namespace attnviz::bench {

/// `rounds` times 24 multiply-adds of whole vectors that wait for nothing but each other: what no
/// kernel with loads and stores can pass. Returns a number that depends on all of them.
float multiply_add_round(int rounds);

/// Floating-point operations of one round: 24 vectors of as many lanes as the active target has.
double operations_of_a_round();

}  // namespace attnviz::bench
