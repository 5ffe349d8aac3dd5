// What of a file nobody reads.
#pragma once

#include <string>
#include <string_view>

namespace attnviz {

/// A key or a tensor that is left alone.
struct PassedOver {
  std::string name;
  std::string_view why;  // that is harmless; static storage
};

}  // namespace attnviz
