// Did you mean: the known word closest to a mistyped one.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace attnviz {

/// The candidate with the fewest edits (insert, delete, replace, swap of neighbours; Damerau 1964)
/// from `word`, when that is at most a third of its length and at least one edit is allowed; before
/// all others one with the same letters and digits, whatever their case and what stands between
/// them.
std::optional<std::string> closest_word(std::string_view word,
                                        std::span<const std::string> candidates);

/// " (did you mean \"x\"?)" or nothing.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

}  // namespace attnviz
