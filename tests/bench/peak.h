// The peak that this machine's kernels could reach.
#pragma once

namespace attnviz::bench {

/// `rounds` times 24 multiply-adds of whole vectors that wait only for each other: an upper limit
/// for kernels with loads and stores. Returns a number that depends on all of them.
float multiply_add_round(int rounds);

/// Floating-point operations of one round: 24 vectors of as many lanes as the active target has.
double operations_of_a_round();

}  // namespace attnviz::bench
