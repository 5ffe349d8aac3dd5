// What of a file nobody reads.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attnviz {

/// A key or a tensor that is left alone.
struct IgnoredKey {
  std::string name;
  std::string_view why;  // that is harmless; static storage
};

/// The keys of a file that were not read.
struct UnreadKeys {
  std::vector<IgnoredKey> ignorable;
  std::vector<std::string> unknown;  // attnviz does not know them
};

}  // namespace attnviz
