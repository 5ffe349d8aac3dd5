// Counts and sizes in memory, for people.
#pragma once

#include <cstddef>
#include <string>

namespace attnviz {

/// "1,572,864".
std::string grouped(std::size_t number);

/// Two or three digits and a unit: "512", "6.3 M", "604 M", "58.0 B". Thousands are K, then M, B,
/// T.
std::string rounded_count(std::size_t number);

/// The same of bytes: "512 B", "65.5 kB", "4.3 GB"; 1 kB is 1,000 bytes.
std::string rounded_bytes(std::size_t bytes);

}  // namespace attnviz
