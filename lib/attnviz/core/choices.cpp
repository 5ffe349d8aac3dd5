#include "attnviz/core/choices.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"

namespace attnviz {

void fail_choice(std::string_view parameter, std::string_view word,
                 const std::vector<std::string>& choices) {
  throw Error(ErrorKind::kUsage,
              fmt::format("{}: expected {}, found {}{}", parameter, joined_by(choices, ", "),
                          in_quotes(word), did_you_mean(word, choices)));
}

namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    d[i][0] = i;
  }
  for (std::size_t j = 0; j <= b.size(); ++j) {
    d[0][j] = j;
  }
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[a.size()][b.size()];
}

// Lower case, only letters and digits: "Wq" for "W_Q" is a slip of spelling, not of letters.
std::string skeleton(std::string_view word) {
  std::string letters = ascii_lower(word);
  std::erase_if(letters, [](char c) { return !(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9'); });
  return letters;
}

}  // namespace

std::optional<std::string> closest_word(std::string_view word,
                                        std::span<const std::string> candidates) {
  constexpr std::size_t kLongestWord = 64;  // no known word is longer, and the table is quadratic
  if (word.empty() || word.size() > kLongestWord) {
    return std::nullopt;
  }
  const std::string letters = skeleton(word);
  std::size_t fewest = std::max<std::size_t>(1, word.size() / 3) + 1;
  std::optional<std::string> best;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kLongestWord) {
      continue;
    }
    if (!letters.empty() && skeleton(candidate) == letters) {
      return candidate;
    }
    // Each edit changes the length by at most one. A vocabulary may hold a million words.
    if (candidate.size() + fewest <= word.size() || word.size() + fewest <= candidate.size()) {
      continue;
    }
    const std::size_t edits = edit_distance(word, candidate);
    if (edits < fewest) {
      fewest = edits;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates) {
  const auto closest = closest_word(word, candidates);
  return closest ? fmt::format(" (did you mean \"{}\"?)", *closest) : std::string();
}

}  // namespace attnviz
