// Patterns for Oniguruma that tell how far a match goes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace attnviz {

/// Stand in every pattern where a match may have gone on for long: Oniguruma counts only how often
/// it goes back, and what is atomic, looks around or refers back goes forward without end.
inline constexpr std::string_view kCount = "(*s)";
inline constexpr std::string_view kCountReference = "(*r)";

/// A pattern as it is compiled: with counts behind each repeat and where each group and alternative
/// begins, and with symbols in classes of punctuation. Nothing that is put in stands before a
/// repeat, which would repeat it, nor in a look-behind, which Oniguruma 6.9.8 then takes for
/// another.
struct CountedPattern {
  std::string text;
  std::size_t stretch = 0;   // characters and rounds between two counts at most
  bool parts_flags = false;  // it asks where characters end that people see (\X, \y and \Y)
};

/// Throws Error{kUnsupported}, with `where` in front of the message, for what would hide where
/// groups and repeats are, and for more than 1024 counts, all of which each try of a match resets.
CountedPattern counted_pattern(std::string_view pattern, std::string_view where);

/// How often a pattern's bounded repeats go round at one place of a text at most, no more than
/// kMostRounds + 1: what stands in a row adds up, a repeat multiplies what it repeats; * and + are
/// left to the counts. Never less: what only looks like a repeat or a group makes it more.
std::size_t most_rounds(std::string_view pattern);
inline constexpr std::size_t kMostRounds = std::size_t{1} << 16;

}  // namespace attnviz
