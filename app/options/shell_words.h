// Words as a shell takes them.
#pragma once

#include <string>

namespace attnviz::app {

/// A word as sh, dash, bash, zsh and fish read it alike, in quotes where it needs any. What a
/// terminal could obey where the line is pasted is left to `printf`, in octal numbers; line feeds
/// at the end, which that cannot print, are written as bash and zsh alone read them.
std::string shell_word(const std::string& word);

/// The same in double quotes where these do: as people type a sentence.
std::string typed_word(const std::string& word);

}  // namespace attnviz::app
