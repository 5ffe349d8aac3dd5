// Words as a shell takes them. The command line that made an output, as the output tells it.
#pragma once

#include <string>

#include "options/option_parser.h"

namespace attnviz::app {

/// A word that sh, dash, bash, zsh and fish read alike, quoted if necessary. Characters that a
/// terminal could obey when the line is pasted become octal numbers for `printf`; line feeds at the
/// end, which $(…) strips, follow in single quotes, as
/// they are.
std::string shell_word(const std::string& word);

/// The same in double quotes where these do: as people type a sentence.
std::string shell_quoted(const std::string& word);

/// What computes the same attention as the command `name`, without its text: what is drawn of it,
/// and how, a page says itself.
std::string computing_command(std::string_view name, const ParsedWords& parsed);

}  // namespace attnviz::app
