// The parts of a file that are not read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attnviz {

/// A key or a tensor that is ignored.
struct IgnoredKey {
  std::string name;
  std::string_view why;  // why that is harmless; static storage
};

/// The keys of a file that were not read.
struct UnreadKeys {
  std::vector<IgnoredKey> ignorable;
  std::vector<std::string> unknown;  // not known to attnviz
};

}  // namespace attnviz
