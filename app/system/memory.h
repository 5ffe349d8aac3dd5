// Says no before memory is taken that is not there.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace attnviz::app {

/// Bytes this process may still take: the machine's free memory, its control group's and its own
/// address-space limit, whichever is least.
double available_memory();

/// "2.5 GB", "10240 GB".
std::string in_gigabytes(double bytes);

/// Throws Error{kUsage}: "`what` needs about 10240 GB of memory, and 21 GB are free: `hint`".
void require_memory(double bytes, std::string_view what, std::string_view hint);

/// The same of something made for heads of a text, as `what` "inspecting": tells how many of them,
/// and to take fewer.
void require_memory_for_heads(double bytes, std::string_view what, std::size_t n_heads,
                              std::size_t n_tokens);

}  // namespace attnviz::app
