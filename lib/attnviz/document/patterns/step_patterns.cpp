#include "attnviz/document/patterns/step_patterns.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "attnviz/analysis/heads/value_norms.h"
#include "attnviz/analysis/inspection.h"
#include "attnviz/attention/engine.h"
#include "attnviz/attention/head_selection.h"
#include "attnviz/core/error.h"
#include "attnviz/kernels/softmax.h"

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

// Keeps the shares of rows, while they come.
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

// Queries all of whose scores are masked.
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
        "{} of {} rows see no key, for all of their scores are masked: {}; softmax would be 0 / 0, "
        "which is no number, and their weights are 0",
        count, n_rows, first);
  }
};

// `scores` over the divisor and the temperature, whose product no float may hold. `head` and
// `query` are for the message.
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
                    fmt::format("head {}, query {}: a score is no finite number",
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

}  // namespace attnviz
