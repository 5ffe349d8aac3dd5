// What is wrong at a place where a text stops being JSON, in words a person can act on.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace attnviz {

/// Where a parser stood when it gave up.
struct JsonSyntaxError {
  std::size_t end;          // bytes consumed, the offending ones among them; more than there are:
                            // the text ended
  bool in_object;           // the innermost open bracket is {
  bool in_array;            // … is [
  bool after_key;           // a key was read, its value was not
  bool is_number_overflow;  // the last token is a number too large for a float
};

/// "line 3, column 17: expected a value, found NaN". Lines and columns count from 1; columns count
/// characters.
std::string describe_syntax_error(std::string_view bytes, const JsonSyntaxError& error);

/// "line 3, column 17" of the byte at `offset`.
std::string line_and_column(std::string_view bytes, std::size_t offset);

}  // namespace attnviz
