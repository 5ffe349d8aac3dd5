#include "attnviz/report/patterns/step_patterns.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "attnviz/analysis/heads/score_run.h"
#include "attnviz/analysis/inspection.h"
#include "attnviz/attention/engine.h"
#include "attnviz/attention/interventions.h"
#include "attnviz/core/error.h"
#include "attnviz/kernels/row_kernels.h"
#include "attnviz/report/words/number_formats.h"
#include "attnviz/report/words/words.h"

namespace attnviz {

namespace {

using Patterns = std::vector<MatrixBuffer>;

void put(AttentionDocument& document, Patterns patterns) {
  const auto owned = std::make_shared<Patterns>(std::move(patterns));
  for (std::size_t i = 0; i < document.patterns.size(); ++i) {
    document.patterns[i].weights = std::as_const((*owned)[i]).view();
  }
  document.storage = owned;
}

MatrixBuffer step_of(const Inspection& head, PatternKind kind) {
  return kind == PatternKind::kScores   ? copy_of(head.all->scores.view())
         : kind == PatternKind::kScaled ? copy_of(head.all->scaled.view())
                                        : copy_of(head.all->masked.view());
}

// Stores the shares of rows as they arrive.
class ValueShares : public PatternSink {
 public:
  ValueShares(const std::vector<HeadId>& heads, std::size_t n_tokens) {
    for (const HeadId head : heads) {
      shares_.try_emplace(head, n_tokens, n_tokens);
    }
  }

  void set_norms(const ValueNorms& norms) noexcept { norms_ = &norms; }
  MatrixBuffer take(HeadId head) { return std::move(shares_.at(head)); }

  bool wants(HeadId head) const override { return shares_.contains(head); }
  void rows(HeadId head, std::size_t first_query, std::size_t first_key,
            ConstMatrix weights) override {
    const std::span<const double> norms = norms_->of(head);
    MatrixBuffer& shares = shares_.at(head);
    for (std::size_t row = 0; row < weights.rows; ++row) {
      const std::span<const float> of_query = weights.row(row);
      double sum = 0.0;
      for (std::size_t i = 0; i < of_query.size(); ++i) {
        sum += static_cast<double>(of_query[i]) * norms[first_key + i];
      }
      const auto out = shares.view().row(first_query + row);
      for (std::size_t i = 0; i < of_query.size() && sum > 0.0; ++i) {
        out[first_key + i] =
            static_cast<float>(static_cast<double>(of_query[i]) * norms[first_key + i] / sum);
      }
    }
  }

 private:
  std::map<HeadId, MatrixBuffer> shares_;
  const ValueNorms* norms_ = nullptr;
};

// Counts queries whose scores are all masked.
struct BlindRows {
  std::size_t count = 0;
  std::size_t n_rows = 0;
  std::string first;

  void take(HeadId head, std::size_t query, std::span<const float> weights) {
    ++n_rows;
    if (std::ranges::all_of(weights, [](float weight) { return weight == 0.0f; }) && count++ == 0) {
      first = fmt::format("head {}, query {}", head_name(head), query);
    }
  }

  std::string note() const {
    return fmt::format(
        "{} of {} rows see no key because all of their scores are masked: {}; softmax would be 0 / "
        "0, so their weights are set to 0",
        count, n_rows, first);
  }
};

// Divides `scores` by the divisor and the temperature, in double precision because their product
// may overflow a float. `head` and `query` are for the message.
void divide(std::span<float> scores, const SoftmaxRequest& request, HeadId head,
            std::size_t query) {
  const double divisor = double{request.divide_by} * double{request.temperature};
  for (float& score : scores) {
    const auto quotient = static_cast<float>(double{score} / divisor);
    if (std::isfinite(score) && !std::isfinite(quotient)) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("head {}, query {}: divided like this, {:.4g} is too large for a "
                              "float",
                              head_name(head), query, score));
    }
    score = quotient;
  }
}

}  // namespace

void show_step(AttentionDocument& document, const Model& model, const ModelInput& input,
               const AttentionRequest& request, PatternKind kind) {
  document.kind = kind;
  const std::vector<HeadId> heads = heads_of(document);
  Patterns patterns;
  if (is_before_softmax(kind)) {
    for (const Inspection& head : inspect_heads(model, input, request, heads, 0, true)) {
      patterns.push_back(step_of(head, kind));
    }
  } else if (kind == PatternKind::kValueShares) {
    ValueShares shares(heads, document.query_tokens.size());
    ValueNorms norms(model, heads, request.n_threads, shares);
    shares.set_norms(norms);
    run(model, input, request, norms);
    for (const HeadId head : heads) {
      patterns.push_back(shares.take(head));
    }
  } else {
    return;
  }
  put(document, std::move(patterns));
}

double step_bytes(const Model& model, std::span<const HeadId> heads, std::size_t n_tokens,
                  PatternKind kind) noexcept {
  const auto n = static_cast<double>(n_tokens);
  const double patterns =
      static_cast<double>(heads.size()) * n * n * static_cast<double>(sizeof(float));
  return kind == PatternKind::kWeights || is_no_attention(kind) ? 0.0
         : kind == PatternKind::kValueShares
             ? patterns
             : patterns + inspection_bytes(model, heads, n_tokens, true);
}

void take_softmax(AttentionDocument& document, const SoftmaxRequest& request) {
  document.kind = PatternKind::kWeights;
  DocumentVisibilities visibilities(document);
  Patterns patterns;
  BlindRows blind;
  const auto scores = document.storage;
  for (DocumentPattern& pattern : document.patterns) {
    pattern.scores = pattern.weights;
    const Visibility seen = visibilities.of(pattern.head);
    MatrixBuffer weights(pattern.weights.rows, pattern.weights.cols);
    std::vector<float> row;
    std::vector<std::size_t> keys;
    for (std::size_t query = 0; query < weights.rows(); ++query) {
      row.clear();
      keys.clear();
      for (std::size_t key = 0; key < weights.cols(); ++key) {
        if (seen.visible(query, key)) {
          row.push_back(pattern.weights(query, key));
          keys.push_back(key);
        }
      }
      divide(row, request, pattern.head, query);
      if (!kernels::softmax(row.data(), row.size(), 1.0f)) {
        throw Error(ErrorKind::kMalformed,
                    fmt::format("head {}, query {}: a score is not a finite number",
                                head_name(pattern.head), query));
      }
      for (std::size_t i = 0; i < keys.size(); ++i) {
        weights.view()(query, keys[i]) = row[i];
      }
      blind.take(pattern.head, query, row);
    }
    patterns.push_back(std::move(weights));
  }
  put(document, std::move(patterns));
  document.storage =
      std::make_shared<std::pair<std::shared_ptr<const void>, std::shared_ptr<const void>>>(
          document.storage, scores);
  if (blind.count > 0) {
    document.notes.push_back(blind.note());
  }
}

void divide_scores(AttentionDocument& document, const SoftmaxRequest& request) {
  Patterns patterns;
  for (const DocumentPattern& pattern : document.patterns) {
    MatrixBuffer scores = copy_of(pattern.weights);
    for (std::size_t query = 0; query < scores.rows(); ++query) {
      divide(scores.view().row(query), request, pattern.head, query);
    }
    patterns.push_back(std::move(scores));
  }
  put(document, std::move(patterns));
}

namespace {

// The visibility for all of `heads`; `weights` belong to the first.
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

// The weights as drawn, without nonzero weights in masked cells: if there are any, `kept` gets a
// copy and `n_hidden` their number.
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

constexpr std::array<Habit, 3> kHabits = {{{Score::kPrevious, "the previous token"},
                                           {Score::kSelf, "the token itself"},
                                           {Score::kFirst, "the first token"}}};

// The tokens that a head habitually attends to; empty if it has none of the habits.
std::string place_of_looks(const ScoreValues& scores, const ScoreValues& uniform) {
  const auto value = [&](const Habit& habit) { return scores[habit.score].value_or(0.0); };
  const auto* const most = std::ranges::max_element(kHabits, {}, value);
  constexpr double kHalf = 0.5;
  if (value(*most) >= kHalf && value(*most) >= 2.0 * uniform[most->score].value_or(0.0)) {
    return fmt::format("{} ({})", most->where, percentage(static_cast<float>(value(*most))));
  }
  constexpr double kAlike = 0.99;
  return scores[Score::kEntropyFraction].value_or(0.0) >= kAlike ? "all tokens equally" : "";
}

// The weight on another token that exceeds uniform attention most.
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
