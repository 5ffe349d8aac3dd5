// Says no before memory is taken that is not there, or that nobody allowed.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace attnviz::app {

/// From now on this process takes at most `bytes` of memory of its own, stacks of threads among
/// them; mapped files do not count. What would take more gets std::bad_alloc where the system keeps
/// such a limit (RLIMIT_DATA, since Linux 4.7), and is refused by require_memory() everywhere.
void limit_memory(double bytes);

/// "64 MB", "2.5 GB", "10240 GB".
std::string in_bytes(double bytes);

/// "out of memory", and what --max-memory allows where it is given. Takes no memory.
std::string_view out_of_memory() noexcept;

/// An Error's message; one of memory tells what allowed no more, too.
std::string with_limit(std::string_view message);

/// Throws Error{kUsage}: "`what` needs about 10240 GB of memory, and 21 GB are free: `hint`". Free
/// is what limit_memory() leaves; without it what the machine has, its control group or the
/// address space's limit, whichever is least.
void require_memory(double bytes, std::string_view what, std::string_view hint);

/// An estimate for so many heads of a text of so many tokens; grows with both.
using BytesForHeads = std::function<double(std::size_t n_heads, std::size_t n_tokens)>;

/// The same of something made for heads of a text, as `what` "inspecting"; tells how many heads,
/// and how many tokens, would do.
void require_memory_for_heads(const BytesForHeads& bytes, std::string_view what,
                              std::size_t n_heads, std::size_t n_tokens);

}  // namespace attnviz::app
