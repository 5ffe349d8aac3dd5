#include "attnviz/analysis/why/prediction_change.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "attnviz/attention/decoding.h"
#include "attnviz/attention/engine.h"
#include "attnviz/attention/interventions.h"
#include "attnviz/attention/layer.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"

namespace attnviz {

namespace {

// Sums the weights that the queries from `first` on put on spans, over the heads of one run.
class SpanAttention : public PatternSink {
 public:
  SpanAttention(std::size_t first, std::span<const IndexRange> spans,
                std::span<const HeadId> chosen)
      : first_(first),
        spans_(spans),
        chosen_(chosen.begin(), chosen.end()),
        all_sums_(spans.size()),
        chosen_sums_(spans.size()) {}

  void listen(bool on) noexcept { is_on_ = on; }

  bool wants(HeadId /*head*/) const override { return is_on_; }
  bool ordered() const override { return true; }
  void rows(HeadId head, std::size_t first_query, std::size_t first_key,
            ConstMatrix weights) override {
    ordered_rows(head, first_query, first_key, weights)();
  }
  OrderedStep ordered_rows(HeadId head, std::size_t first_query, std::size_t first_key,
                           ConstMatrix weights) override {
    const std::size_t n_early = std::max(first_, first_query) - first_query;
    if (n_early >= weights.rows) {
      return [] {};
    }
    weights = weights.row_block(n_early, weights.rows - n_early);
    std::vector<double> sums(spans_.size(), 0.0);
    for (std::size_t i = 0; i < spans_.size(); ++i) {
      const std::size_t begin = std::max(spans_[i].first, first_key) - first_key;
      const std::size_t end =
          std::min(std::max(spans_[i].end, first_key) - first_key, weights.cols);
      for (std::size_t row = 0; row < weights.rows && begin < end; ++row) {
        const std::span<const float> seen = weights.row(row).subspan(begin, end - begin);
        sums[i] = std::accumulate(seen.begin(), seen.end(), sums[i]);
      }
    }
    return [this, head, n_rows = weights.rows, sums = std::move(sums)] {
      const bool is_chosen = chosen_.contains(head);
      n_rows_ += n_rows;
      n_chosen_rows_ += is_chosen ? n_rows : 0;
      for (std::size_t i = 0; i < sums.size(); ++i) {
        all_sums_[i] += sums[i];
        chosen_sums_[i] += is_chosen ? sums[i] : 0.0;
      }
    };
  }

  // Averages over all rows that have arrived.
  SpanEffect effect(std::size_t span) const {
    SpanEffect effect;
    effect.attention = all_sums_[span] / static_cast<double>(n_rows_);
    if (n_chosen_rows_ > 0) {
      effect.chosen_attention = chosen_sums_[span] / static_cast<double>(n_chosen_rows_);
    }
    return effect;
  }

 private:
  std::size_t first_;
  std::span<const IndexRange> spans_;
  std::set<HeadId> chosen_;
  std::vector<double> all_sums_, chosen_sums_;
  std::size_t n_rows_ = 0, n_chosen_rows_ = 0;
  bool is_on_ = false;
};

// Hides spans from all queries from `first_query` on.
class SpanKnockOut : public RunObserver {
 public:
  SpanKnockOut(PatternSink& patterns, std::size_t first_query)
      : RunObserver(patterns), first_query_(first_query) {}

  void set(std::span<const IndexRange> hidden) noexcept { hidden_ = hidden; }

  bool hides(HeadId /*head*/) const override { return !hidden_.empty(); }
  void hide(HeadId /*head*/, EdgeBlock& edges) const override {
    for (std::size_t q = std::max(first_query_, edges.first_query()); q < edges.end_query(); ++q) {
      for (const IndexRange& span : hidden_) {
        const std::size_t end = std::min(span.end, edges.end_key());
        for (std::size_t k = std::max(span.first, edges.first_key()); k < end; ++k) {
          if (k != q) {
            edges.hide(q, k);
          }
        }
      }
    }
  }

 private:
  std::size_t first_query_;
  std::span<const IndexRange> hidden_;
};

void check_citation(const Model& model, std::span<const std::uint32_t> ids, std::size_t n_prompt,
                    std::span<const IndexRange> spans, std::span<const HeadId> chosen) {
  if (n_prompt == 0 || n_prompt >= ids.size()) {
    throw Error(ErrorKind::kUsage,
                fmt::format("expected a prompt and an answer of at least a token each, found {} "
                            "and {}",
                            counted(std::min(n_prompt, ids.size()), "token"),
                            ids.size() - std::min(n_prompt, ids.size())));
  }
  for (const IndexRange& span : spans) {
    if (span.first >= span.end || span.end > n_prompt) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("span [{}, {}): expected tokens of the prompt, which has {}",
                              span.first, span.end, n_prompt));
    }
  }
  const std::size_t n_vocab = model.head.unembedding.d_out();
  for (const std::uint32_t id : ids.subspan(n_prompt)) {
    if (id >= n_vocab) {
      throw Error(ErrorKind::kUsage, fmt::format("token {}: expected less than {}", id, n_vocab));
    }
  }
  for (const HeadId head : chosen) {
    if (head.layer >= model.n_layers() || head.head >= model.layers[head.layer].heads.size()) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("head {}: {} has none", head_name(head), model.config.name));
    }
  }
}

}  // namespace

double Citation::log_probability() const noexcept {
  return std::accumulate(token_log_probabilities.begin(), token_log_probabilities.end(), 0.0);
}

Citation cite(const Model& model, std::span<const std::uint32_t> ids, std::size_t n_prompt,
              std::span<const IndexRange> spans, const AttentionRequest& request,
              std::span<const HeadId> chosen) {
  check_continues(model, request);
  check_citation(model, ids, n_prompt, spans, chosen);
  // The token after the last one is not needed.
  const std::size_t n_fed = ids.size() - 1;
  const std::size_t first_query = n_prompt - 1;
  const std::span<const std::uint32_t> queries = ids.subspan(first_query, n_fed - first_query);
  const double work = static_cast<double>(n_fed + (spans.size() + 2) * queries.size());
  SpanAttention attention(first_query, spans, chosen);
  SpanKnockOut knock_out(attention, first_query);
  Decoding decoding(model, request, n_fed, &knock_out);
  // The whole text comes first, although the answer is fed again: all that depends on a text's
  // length, as rotations and means may, is then the same in every pass.
  decoding.feed(ids.first(n_fed));
  double done = static_cast<double>(n_fed);
  const auto log_probabilities = [&] {
    std::vector<double> all;
    decoding.rewind(first_query);
    decoding.feed(queries, [&](std::size_t index, std::span<const float> logits) {
      all.push_back(log_probability(logits, ids[n_prompt + index]));
    });
    done += static_cast<double>(queries.size());
    if (request.report) {
      request.report(done / work);
    }
    return all;
  };
  Citation citation;
  attention.listen(true);
  citation.token_log_probabilities = log_probabilities();
  attention.listen(false);
  const double before = citation.log_probability();
  const auto change_without = [&](std::span<const IndexRange> hidden) {
    knock_out.set(hidden);
    const std::vector<double> now = log_probabilities();
    return std::accumulate(now.begin(), now.end(), 0.0) - before;
  };
  for (std::size_t i = 0; i < spans.size(); ++i) {
    SpanEffect effect = attention.effect(i);
    // A query always sees its own key.
    if (spans[i].first < first_query || queries.size() > 1) {
      effect.log_probability_change = change_without(spans.subspan(i, 1));
    } else {
      done += static_cast<double>(queries.size());
    }
    citation.spans.push_back(effect);
  }
  const auto is_measured = [](const SpanEffect& effect) {
    return effect.log_probability_change.has_value();
  };
  if (std::ranges::any_of(citation.spans, is_measured)) {
    citation.change_without_all = change_without(spans);
  } else if (request.report) {
    request.report(1.0);
  }
  return citation;
}

double citation_bytes(const Model& model, std::size_t n_tokens) {
  return continuation_bytes(model, n_tokens, 0);
}

}  // namespace attnviz
