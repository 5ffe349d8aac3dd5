#include "attnviz/analysis/compare/compare.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"

namespace attnviz {

namespace {

double total(std::span<const float> row) {
  return std::accumulate(row.begin(), row.end(), 0.0);
}

// a · log2(a / m); 0 for weight 0.
double bits_of(double share, double mixed) noexcept {
  return share > 0.0 ? share * std::log2(share / mixed) : 0.0;
}

// Marks the queries that see two or more of the tokens.
void mark_seeing_two(const Visibility& seen, std::span<const std::size_t> tokens,
                     std::vector<bool>& eligible) {
  for (std::size_t query = 0; query < tokens.size(); ++query) {
    std::size_t n_seen = 0;
    for (std::size_t i = 0; i < tokens.size() && n_seen < 2; ++i) {
      n_seen += seen.visible(tokens[query], tokens[i]) ? 1u : 0u;
    }
    eligible[query] = eligible[query] || n_seen >= 2;
  }
}

HeadDifference largest_change(std::span<const float> before, std::span<const float> after,
                              std::size_t query) {
  HeadDifference found;
  found.query = query;
  for (std::size_t key = 0; key < after.size(); ++key) {
    const float change = std::abs(after[key] - before[key]);
    if (change > found.largest_change) {
      found.largest_change = change;
      found.key = key;
      found.weights = {before[key], after[key]};
    }
  }
  return found;
}

// Merges two parts of one head; of equal differences, the earlier one stays.
void keep_larger(HeadDifference& best, const HeadDifference& other) {
  if (other.largest_change > best.largest_change ||
      (other.largest_change == best.largest_change && other.query < best.query)) {
    best.largest_change = other.largest_change;
    best.query = other.query;
    best.key = other.key;
    best.weights = other.weights;
  }
  if (other.js_bits_max > best.js_bits_max ||
      (other.js_bits_max == best.js_bits_max && other.js_max_query < best.js_max_query)) {
    best.js_bits_max = other.js_bits_max;
    best.js_max_query = other.js_max_query;
  }
}

}  // namespace

std::optional<double> js_divergence_bits(std::span<const float> a, std::span<const float> b) {
  const double a_sum = total(a);
  const double b_sum = total(b);
  if (!(a_sum > 0.0 && b_sum > 0.0)) {
    return std::nullopt;
  }
  double bits = 0.0;
  for (std::size_t key = 0; key < a.size(); ++key) {
    const double of_a = static_cast<double>(a[key]) / a_sum;
    const double of_b = static_cast<double>(b[key]) / b_sum;
    if (of_a != of_b) {
      const double mixed = (of_a + of_b) / 2.0;
      bits += bits_of(of_a, mixed) + bits_of(of_b, mixed);
    }
  }
  return std::clamp(bits / 2.0, 0.0, 1.0);
}

PatternComparison::PatternComparison(const PatternStore& first, const ComparedRun& one,
                                     const ComparedRun& other, const SinkStore* first_sinks)
    : first_(first) {
  std::vector<std::pair<Visibility, Visibility>> all;  // of both runs
  for (const HeadId head : first.heads()) {
    const std::pair both(one.visibility(head), other.visibility(head));
    const auto known = std::ranges::find(all, both);
    const auto index = static_cast<std::size_t>(known - all.begin());
    if (known == all.end()) {
      all.push_back(both);
      std::vector<bool>& eligible = eligible_.emplace_back(first.n_tokens());
      mark_seeing_two(both.first, one.tokens, eligible);
      mark_seeing_two(both.second, other.tokens, eligible);
    }
    Tally& tally = heads_[head];
    tally.found.head = head;
    tally.eligible = index;
    if (first_sinks != nullptr) {
      tally.first_sinks = first_sinks->mean(std::span(&head, 1));
    }
    tally.second_sinks.resize(first.n_tokens());
  }
}

void PatternComparison::sinks(HeadId head, std::size_t first_query,
                              std::span<const float> weights) {
  std::ranges::copy(
      weights, heads_.at(head).second_sinks.begin() + static_cast<std::ptrdiff_t>(first_query));
}

void PatternComparison::rows(HeadId head, std::size_t first_query, std::size_t first_key,
                             ConstMatrix weights) {
  const auto found = heads_.find(head);
  if (found == heads_.end()) {
    return;
  }
  Tally& tally = found->second;
  const ConstMatrix before = first_.pattern(head);
  const std::size_t n = first_.n_tokens();
  // The sink's share comes after those of the keys.
  std::vector<float> row_before(n + 1), row(n + 1);
  HeadDifference largest;
  ExactSum js_sum;
  std::size_t n_queries = 0;
  for (std::size_t i = 0; i < weights.rows; ++i) {
    const std::size_t query = first_query + i;
    std::ranges::copy(weights.row(i), row.begin() + static_cast<std::ptrdiff_t>(first_key));
    std::ranges::copy(before.row(query), row_before.begin());
    row_before[n] = tally.first_sinks.empty() ? 0.0f : tally.first_sinks[query];
    row[n] = tally.second_sinks[query];
    HeadDifference of_row = largest_change(before.row(query), std::span(row).first(n), query);
    if (const auto bits = js_divergence_bits(row_before, row);
        bits && eligible_[tally.eligible][query]) {
      js_sum.add(*bits);
      ++n_queries;
      of_row.js_bits_max = *bits;
      of_row.js_max_query = query;
    }
    keep_larger(largest, of_row);
  }
  const std::lock_guard lock(locks_[head.head % locks_.size()]);
  tally.js_sum.add(js_sum);
  tally.n_queries += n_queries;
  keep_larger(tally.found, largest);
}

std::vector<HeadDifference> PatternComparison::differences() const {
  std::vector<HeadDifference> all;
  for (const auto& [head, tally] : heads_) {
    all.push_back(tally.found);
    if (tally.n_queries > 0) {
      all.back().js_bits = tally.js_sum.value() / static_cast<double>(tally.n_queries);
    }
  }
  return all;
}

MatrixBuffer pattern_change(ConstMatrix a, ConstMatrix b) {
  MatrixBuffer change(a.rows, a.cols);
  for (std::size_t query = 0; query < a.rows; ++query) {
    std::ranges::transform(b.row(query), a.row(query), change.view().row_data(query),
                           std::minus<>());
  }
  return change;
}

namespace {

constexpr double kMostCells = 256e6;  // of the table, one bit each

// Tokens that both texts begin with, or end with, always correspond.
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

// A longest common subsequence of the tokens in between, from the usual table of lengths for the
// remaining texts. Two of its rows are enough to decide for each cell whether to skip a token of
// the second text, so only that decision is kept: one bit.
void add_longest(std::span<const TokenId> first, std::span<const TokenId> second,
                 std::size_t offset, TokenAlignment& alignment) {
  const std::size_t columns = second.size() + 1;
  std::vector<std::uint32_t> lengths(columns, 0);  // of row i, from j on; before it, of row i + 1
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

// Word tokenizers number the tokens of each text anew, so texts decide which tokens are the same.
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
    throw Error(
        ErrorKind::kUsage,
        fmt::format("the texts, of {} and {}, share {} in order: a comparison needs at least two",
                    counted(first.size(), "token"), second.size(),
                    counted(alignment.size(), "token")));
  }
  for (std::size_t i = 0; i < alignment.size(); ++i) {
    alignment.is_same.push_back(first[alignment.first[i]] == second[alignment.second[i]]);
  }
  return alignment;
}

}  // namespace attnviz
