// From the library's words to the program's: who types a command knows options, no parameters.
#pragma once

#include <string>
#include <string_view>

namespace attnviz::app {

/// `message`, which the library wrote about its `parameter` (Error::parameter()), with the options
/// that stand for it. Unchanged when there are none, as for an empty parameter.
std::string in_program_words(std::string message, std::string_view parameter);

}  // namespace attnviz::app
