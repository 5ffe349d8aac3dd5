// Words as a shell takes them.
#pragma once

#include <string>

namespace attnviz::app {

/// A word that sh, dash, bash, zsh and fish read alike, quoted if necessary. Characters that a
/// terminal could obey when the line is pasted become octal numbers for `printf`; line feeds at the
/// end, which $(…) strips, follow in single quotes, as
/// they are.
std::string shell_word(const std::string& word);

/// The same in double quotes where these do: as people type a sentence.
std::string typed_word(const std::string& word);

}  // namespace attnviz::app
