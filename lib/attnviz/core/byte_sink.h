// Where streamed output goes: a file, standard output, a string.
#pragma once

#include <functional>
#include <string_view>

namespace attnviz {

/// Takes the next bytes of an output, in order. Throws Error{kIo} when they cannot be written.
using ByteSink = std::function<void(std::string_view bytes)>;

}  // namespace attnviz
