// Words as a shell takes them.
#pragma once

#include <string>

namespace attnviz::app {

/// A word for a shell, in single quotes where it needs any; what a terminal could obey where it is
/// pasted is written in escapes.
std::string shell_word(const std::string& word);

/// The same in double quotes where these do: as people type a sentence.
std::string typed_word(const std::string& word);

}  // namespace attnviz::app
