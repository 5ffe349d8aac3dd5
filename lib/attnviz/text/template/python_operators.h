// Python's operators.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "attnviz/text/template/budget.h"
#include "attnviz/text/template/value.h"

namespace attnviz::templates {

// All throw Error{kMalformed} for values that an operator does not take, and numbers that are too
// large.

/// Throws for what is undefined.
void require_defined(const Value& value);

/// "not", "-" or "+" of a value.
Value applied(std::string_view sign, const Value& value);

/// "+", "-", "*", "/", "//", "%", "**", or "~" of Jinja.
Value applied(std::string_view sign, const Value& left, const Value& right, Budget& budget);

/// "==", "!=", "<", "<=", ">", ">=", "in" or "not in".
bool holds(std::string_view sign, const Value& left, const Value& right, Budget& budget);

/// of[index]: an item, a member, a character, or a method by its name; undefined outside of it.
Value item_of(const Value& of, const Value& index, Budget& budget);
/// of.name: a method, or a member.
Value attribute(const Value& of, std::string_view name, Budget& budget);
/// of[first:end:step]; precondition: step is not 0.
Value slice_of(const Value& of, std::optional<std::int64_t> first, std::optional<std::int64_t> end,
               std::int64_t step, Budget& budget);

}  // namespace attnviz::templates
