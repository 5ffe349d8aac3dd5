// A file that is in memory.
#pragma once

#include <string_view>

namespace attnviz {

/// A file's bytes, and the name for messages. Someone else keeps both.
struct NamedBytes {
  std::string_view bytes;
  std::string_view name;
};

}  // namespace attnviz
