#include "attnviz/analysis/compare/token_alignment.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"

namespace attnviz {

namespace {

constexpr double kMostCells = 256e6;  // of the table, a bit each

// The tokens that both begin with correspond in any case, and those that both end with.
std::size_t shared_beginning(std::span<const TokenId> first, std::span<const TokenId> second) {
  const auto ends = std::ranges::mismatch(first, second);
  return static_cast<std::size_t>(ends.in1 - first.begin());
}

std::size_t shared_end(std::span<const TokenId> first, std::span<const TokenId> second) {
  const std::size_t most = std::min(first.size(), second.size());
  std::size_t count = 0;
  while (count < most && first[first.size() - 1 - count] == second[second.size() - 1 - count]) {
    ++count;
  }
  return count;
}

// A longest common subsequence of what lies between, by the usual table of lengths of those of the
// rests. Two of its rows are enough to say of each cell whether to step over a token of the second
// text, and that is kept: one bit.
void add_longest(std::span<const TokenId> first, std::span<const TokenId> second,
                 std::size_t offset, TokenAlignment& alignment) {
  const std::size_t columns = second.size() + 1;
  std::vector<std::uint32_t> lengths(columns, 0);  // of row i, from j on; before it of row i + 1
  std::vector<bool> steps_right(first.size() * columns, false);
  for (std::size_t i = first.size(); i-- > 0;) {
    std::uint32_t diagonal = 0;  // of row i + 1, column j + 1
    for (std::size_t j = second.size(); j-- > 0;) {
      const std::uint32_t below = lengths[j];
      steps_right[i * columns + j] = lengths[j + 1] >= below;
      lengths[j] = first[i] == second[j] ? diagonal + 1 : std::max(below, lengths[j + 1]);
      diagonal = below;
    }
  }
  for (std::size_t i = 0, j = 0; i < first.size() && j < second.size();) {
    if (first[i] == second[j]) {
      alignment.first.push_back(offset + i++);
      alignment.second.push_back(offset + j++);
    } else if (steps_right[i * columns + j]) {
      ++j;
    } else {
      ++i;
    }
  }
}

// Tokenizers of words number those of each text anew: texts say what is the same.
std::vector<TokenId> numbered(const TokenizedText& text,
                              std::map<std::pair<std::string_view, bool>, TokenId>& numbers) {
  std::vector<TokenId> found;
  for (const Token& token : text.tokens) {
    const auto next = static_cast<TokenId>(numbers.size());
    found.push_back(numbers.try_emplace({token.text, token.special}, next).first->second);
  }
  return found;
}

void add_range(std::size_t first, std::size_t second, std::size_t count,
               TokenAlignment& alignment) {
  for (std::size_t i = 0; i < count; ++i) {
    alignment.first.push_back(first + i);
    alignment.second.push_back(second + i);
  }
}

}  // namespace

TokenAlignment align_tokens(const TokenizedText& first_text, const TokenizedText& second_text) {
  std::map<std::pair<std::string_view, bool>, TokenId> numbers;
  const std::vector<TokenId> first = numbered(first_text, numbers);
  const std::vector<TokenId> second = numbered(second_text, numbers);
  TokenAlignment alignment;
  alignment.by_position = first.size() == second.size();
  if (alignment.by_position) {
    add_range(0, 0, first.size(), alignment);
  } else {
    const std::size_t begin = shared_beginning(first, second);
    const std::size_t end =
        shared_end(std::span(first).subspan(begin), std::span(second).subspan(begin));
    const auto rest = std::span(first).subspan(begin, first.size() - begin - end);
    const auto other_rest = std::span(second).subspan(begin, second.size() - begin - end);
    if (static_cast<double>(rest.size()) * static_cast<double>(other_rest.size()) > kMostCells) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("texts of {} and {} tokens are too long to be aligned; texts of one "
                              "length are compared token by token",
                              first.size(), second.size()));
    }
    add_range(0, 0, begin, alignment);
    add_longest(rest, other_rest, begin, alignment);
    add_range(first.size() - end, second.size() - end, end, alignment);
  }
  if (alignment.size() < 2) {
    throw Error(ErrorKind::kUsage,
                fmt::format("the texts, of {} and {}, share {} in order: two or more are needed to "
                            "compare who looks where",
                            counted(first.size(), "token"), second.size(),
                            counted(alignment.size(), "token")));
  }
  for (std::size_t i = 0; i < alignment.size(); ++i) {
    alignment.is_same.push_back(first[alignment.first[i]] == second[alignment.second[i]]);
  }
  return alignment;
}

}  // namespace attnviz
