#include "attnviz/document/patterns/pattern_scores.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

#include "attnviz/attention/head_selection.h"
#include "attnviz/core/error.h"
#include "attnviz/document/words/number_formats.h"
#include "attnviz/document/words/token_names.h"

namespace attnviz {

namespace {

// Of all of `heads`, the first of which has these weights.
Visibility visibility_in(const AttentionDocument& document, DocumentVisibilities& visibilities,
                         std::span<const HeadId> heads, ConstMatrix weights) {
  Visibility known = visibilities.of(heads);
  if (document.mask_of(heads.front())) {
    return known;
  }
  for (std::size_t query = 0; query < weights.rows; ++query) {
    const auto row = weights.row(query).subspan(query + 1);
    if (std::ranges::any_of(row, [](float weight) { return weight != 0.0f; })) {
      return known;
    }
  }
  return known.under(Mask{});
}

// The weights without those that a file has where its mask hides them, as they are drawn: `kept`
// gets a copy where there are such, `n_hidden` their number.
ConstMatrix visible_weights(ConstMatrix weights, const Visibility& seen, MatrixBuffer& kept,
                            std::size_t& n_hidden) {
  for (std::size_t query = 0; query < weights.rows; ++query) {
    const auto hide = [&](std::size_t begin, std::size_t end) {
      for (std::size_t key = begin; key < end; ++key) {
        if (weights(query, key) != 0.0f && !seen.visible(query, key)) {
          if (kept.rows() == 0) {
            kept = copy_of(weights);
          }
          kept.view()(query, key) = 0.0f;
          ++n_hidden;
        }
      }
    };
    std::size_t end_of_seen = 0;
    seen.each_range(query, weights.cols, [&](std::size_t begin, std::size_t end) {
      hide(end_of_seen, begin);
      if (seen.n_visible(query, begin, end) < end - begin) {
        hide(begin, end);
      }
      end_of_seen = end;
    });
    hide(end_of_seen, weights.cols);
  }
  return kept.rows() == 0 ? weights : std::as_const(kept).view();
}

}  // namespace

PatternScores pattern_scores(const AttentionDocument& document, const ScoredTokens& tokens,
                             PatternSink* also) {
  PatternScores scores;
  DocumentVisibilities visibilities(document);
  for (const DocumentPattern& pattern : document.patterns) {
    Visibility seen =
        visibility_in(document, visibilities, std::span(&pattern.head, 1), pattern.weights);
    HeadScores one({pattern.head}, tokens, [&seen](HeadId) { return seen; });
    MatrixBuffer kept;
    const ConstMatrix visible = visible_weights(pattern.weights, seen, kept, scores.n_hidden);
    try {
      one.rows(pattern.head, 0, 0, visible);
      one.sinks(pattern.head, 0, pattern.sink);
    } catch (const Error& error) {
      throw Error(error.kind(), fmt::format("head {}, {}", head_name(pattern.head), error.what()));
    }
    scores.heads.push_back(one.scores(pattern.head));
    if (also != nullptr) {
      also->rows(pattern.head, 0, 0, visible);
    }
  }
  const std::vector<HeadId> heads = heads_of(document);
  scores.uniform = uniform_scores(
      tokens, visibility_in(document, visibilities, heads, document.patterns.front().weights));
  return scores;
}

namespace {

struct Habit {
  Score score;
  std::string_view where;
};

constexpr std::array<Habit, 3> kHabits = {{{Score::kPrevious, "the token before"},
                                           {Score::kSelf, "the token itself"},
                                           {Score::kFirst, "the first token"}}};

// Where a head looks; empty when it has none of the habits.
std::string place_of_looks(const ScoreValues& scores, const ScoreValues& uniform) {
  const auto value = [&](const Habit& habit) { return scores[habit.score].value_or(0.0); };
  const auto* const most = std::ranges::max_element(kHabits, {}, value);
  constexpr double kHalf = 0.5;
  if (value(*most) >= kHalf && value(*most) >= 2.0 * uniform[most->score].value_or(0.0)) {
    return fmt::format("{} ({})", most->where, percentage(static_cast<float>(value(*most))));
  }
  constexpr double kAlike = 0.99;
  return scores[Score::kEntropyFraction].value_or(0.0) >= kAlike ? "all tokens alike" : "";
}

// The look at another token that is farthest from looking at all alike.
std::string clearest_look(const AttentionDocument& document) {
  float most = 0.0f;
  std::string sentence;
  DocumentVisibilities visibilities(document);
  for (const DocumentPattern& pattern : document.patterns) {
    const Visibility seen = visibilities.of(std::span(&pattern.head, 1));
    for (std::size_t query = 0; query < pattern.weights.rows; ++query) {
      const auto row = pattern.weights.row(query);
      const auto largest = std::ranges::max_element(row);
      const auto key = static_cast<std::size_t>(largest - row.begin());
      const std::size_t n_seen = seen.n_visible(query, 0, row.size());
      const float excess = *largest - 1.0f / static_cast<float>(std::max<std::size_t>(n_seen, 1));
      if (excess > most && key != query) {
        most = excess;
        sentence = fmt::format("In {} {} looks at {} with {}", head_title(pattern.head),
                               named_token(document.query_tokens[query], query),
                               named_token(document.key_tokens[key], key), percentage(*largest));
      }
    }
  }
  return most >= 0.25f ? sentence : std::string();
}

}  // namespace

std::string habits_sentence(const AttentionDocument& document) {
  if (document.query_tokens != document.key_tokens) {
    return {};
  }
  const PatternScores scores =
      pattern_scores(document, ScoredTokens(document.query_tokens.size(), ScoredTokens::Options()));
  std::string sentence;
  for (std::size_t i = 0; i < document.patterns.size(); ++i) {
    const std::string place = place_of_looks(scores.heads[i], scores.uniform);
    if (!place.empty()) {
      sentence += fmt::format("{}{} {}{}", sentence.empty() ? "" : "; ",
                              head_title(document.patterns[i].head),
                              sentence.empty() ? "looks at " : "at ", place);
    }
  }
  return sentence.empty() ? clearest_look(document) : sentence;
}

}  // namespace attnviz
