// Filters, tests, methods and functions that every Jinja template may use.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/text/template/budget.h"
#include "attnviz/text/template/value.h"

namespace attnviz::templates {

// All throw Error{kMalformed} without a place for wrong values, and what the budget throws. The
// first argument is what stands in front of the | or the "is".

/// What a filter makes. Throws for one that nobody knows, too.
Value jinja_filter(std::string_view name, const Arguments& arguments, Budget& budget);

/// Throws Error{kUnsupported} for a name among those that jinja2 or Python know and attnviz does
/// not run; `what` it is: "filter".
void fail_if_known(std::string_view name, std::string_view known, std::string_view what);

/// Whether a test passes. Throws for one that nobody knows, too.
bool jinja_test(std::string_view name, const Arguments& arguments, Budget& budget);

/// value.name as a function, of texts, lists and mappings; nothing when there is no such method.
/// `budget` must outlive it.
std::optional<Value> jinja_method(const Value& value, std::string_view name, Budget& budget);

/// A text that was made, with what it takes counted.
Value made_text(std::string text, Budget& budget);

/// `change` of a text, which makes its letters capital or small, with what it takes counted.
Value recased(std::string (*change)(std::string_view), std::string_view text, Budget& budget);

/// text.replace(from, to, most), with what it takes counted before it is made.
Value replaced_text(std::string_view text, std::string_view from, std::string_view to,
                    std::size_t most, Budget& budget);

/// What a loop goes through: items of lists, what is left of generators, which then are empty, keys
/// of mappings, characters of texts, nothing of what is undefined. Throws for other values.
std::vector<Value> items_of(const Value& value, Budget& budget);

/// Python's `item in values`.
bool contains(const Value& values, const Value& item, Budget& budget);

/// An attribute of a value by name, as filters take it: "function.name", or an index.
Value attribute_of(const Value& value, std::string_view path, Budget& budget);

/// One that must be there, of its kind; throws what it expected.
const Value& needed(const Arguments& arguments, std::size_t place, std::string_view name);
std::int64_t needed_integer(const Value& value, std::string_view what);
const std::string& needed_text(const Value& value, std::string_view what);
/// Throws for more arguments by place than there are words in `parameters`, behind the first ones,
/// and for names that are none of them; "_" is one that goes by its place alone.
void check_arguments(std::string_view function, std::string_view parameters, const Arguments& given,
                     std::size_t n_first = 0);
/// A text, or as many spaces as a number says.
std::string needed_margin(const Value& value, std::string_view what, Budget& budget);
/// At most how often something is done: any number for -1 and None, and when nobody says.
std::size_t most_of(const Arguments& arguments, std::size_t place, std::string_view name);

/// dict(), with what it is given by name behind the members of a dict.
Value made_dict(const Arguments& arguments, Budget& budget);

/// Filters of numbers: int, float and abs.
Value to_int(const Arguments& arguments, Budget& budget);
Value to_float(const Arguments& arguments, Budget& budget);
Value absolute(const Arguments& arguments, Budget& budget);

/// What `loop` is in a loop at item i.
Value loop_value(const std::vector<Value>& items, std::size_t i);

/// jinja2's range(): a list of at most Budget::kMostItems numbers.
Value made_range(const Arguments& arguments, Budget& budget);

}  // namespace attnviz::templates
