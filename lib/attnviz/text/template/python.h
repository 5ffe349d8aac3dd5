// Methods of Python's str on UTF-8: counted in characters, with Unicode's white space.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/text/template/budget.h"
#include "attnviz/text/template/value.h"

namespace attnviz::templates {

std::size_t n_characters(std::string_view text) noexcept;
/// text[first:end:step]; precondition: step is not 0.
std::string sliced(std::string_view text, std::optional<std::int64_t> first,
                   std::optional<std::int64_t> end, std::int64_t step);
/// text[index], from the end for negative indices; nothing if out of range.
std::optional<std::string> character_at(std::string_view text, std::int64_t index);
std::vector<std::string> characters_of(std::string_view text);

/// The indices of a slice of `size` items, in its order.
std::vector<std::size_t> slice_indices(std::size_t size, std::optional<std::int64_t> first,
                                       std::optional<std::int64_t> end, std::int64_t step);

enum class Side { kBoth, kLeft, kRight };
/// Strips white space, or the given characters, from the ends.
std::string_view stripped(std::string_view text, Side side,
                          std::optional<std::string_view> characters = {});
/// Splits at white space, without empty parts; at most `most` times.
std::vector<std::string> split_words(std::string_view text, std::size_t most);
/// Precondition: the separator is not empty.
std::vector<std::string> split_at(std::string_view text, std::string_view separator,
                                  std::size_t most);
/// splitlines(): splits at all line ends in Unicode. Each line is charged to the budget.
std::vector<std::string_view> lines_of(std::string_view text, bool keep_ends, Budget& budget);
/// The number of parts that split_at() makes without a limit; same precondition.
std::size_t n_parts(std::string_view text, std::string_view separator) noexcept;
std::string replaced(std::string_view text, std::string_view from, std::string_view to,
                     std::size_t most);
/// isdigit(); throws for numbers like ², some of which Python accepts.
bool is_all_digits(std::string_view text);
std::string lower_case(std::string_view text);
std::string upper_case(std::string_view text);
/// "Title Case", and "Capitalized".
std::string title_case(std::string_view text);
/// As in Jinja's filter: words begin only after spaces, hyphens and opening brackets.
std::string headline_case(std::string_view text);
std::string capitalized(std::string_view text);
/// The source with line feeds for all line ends, also in string literals, as jinja2 reads it.
std::string with_line_feeds(std::string_view source);

// Python's operators.

// All throw Error{kMalformed} for values that an operator does not accept, and for numbers that are
// too large.

/// Throws for undefined values.
void require_defined(const Value& value);

/// Applies "not", "-" or "+".
Value applied(std::string_view sign, const Value& value);

/// Applies "+", "-", "*", "/", "//", "%", "**", or Jinja's "~".
Value applied(std::string_view sign, const Value& left, const Value& right, Budget& budget);

/// "==", "!=", "<", "<=", ">", ">=", "in" or "not in".
bool holds(std::string_view sign, const Value& left, const Value& right, Budget& budget);

/// of[index]: an item, a member, a character, or a method by its name; undefined if out of range.
Value item_of(const Value& of, const Value& index, Budget& budget);
/// of.name: a method, or a member.
Value attribute(const Value& of, std::string_view name, Budget& budget);
/// of[first:end:step]; precondition: step is not 0.
Value slice_of(const Value& of, std::optional<std::int64_t> first, std::optional<std::int64_t> end,
               std::int64_t step, Budget& budget);

}  // namespace attnviz::templates
