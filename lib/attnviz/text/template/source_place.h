// Where in a template something stands, for messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "attnviz/core/error.h"

namespace attnviz::templates {

/// "line 3, column 14", counted from 1, the column in characters.
std::string place_in(std::string_view source, std::size_t at);

/// Throws what went wrong at a place; `where` stands in front of messages.
[[noreturn]] void fail_at(std::string_view where, std::string_view source, std::size_t at,
                          std::string_view message, ErrorKind kind = ErrorKind::kMalformed);

}  // namespace attnviz::templates
