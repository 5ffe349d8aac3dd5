#include "attnviz/analysis/heads/score_run.h"

#include <algorithm>
#include <cmath>

#include "attnviz/attention/blocked_product.h"
#include "attnviz/attention/engine.h"
#include "attnviz/attention/visibility.h"
#include "attnviz/core/threads.h"
#include "attnviz/kernels/products.h"
#include "attnviz/kernels/row_kernels.h"

namespace attnviz {

namespace {

constexpr std::size_t kColumn0 = 1, kDiagonal = 2;

std::size_t kind_of(std::size_t query, std::size_t key) noexcept {
  return (key == 0 ? kColumn0 : 0) + (key == query ? kDiagonal : 0);
}

bool is_left(std::size_t kind, const DetectOptions& options) noexcept {
  return !(options.exclude_bos && (kind & kColumn0) != 0) &&
         !(options.exclude_current_token && (kind & kDiagonal) != 0);
}

}  // namespace

DetectHead::DetectHead(const std::vector<HeadId>& heads, const ScoredTokens& tokens)
    : tokens_(tokens) {
  for (const HeadId head : heads) {
    heads_.emplace(head, std::make_unique<Head>());
  }
}

void DetectHead::Sums::add(const Sums& other) {
  for (std::size_t kind = 0; kind < attention.size(); ++kind) {
    attention[kind].add(other.attention[kind]);
    for (std::size_t pattern = 0; pattern < product.size(); ++pattern) {
      product[pattern][kind].add(other.product[pattern][kind]);
      apart[pattern][kind].add(other.apart[pattern][kind]);
    }
  }
}

void DetectHead::add_row(Sums& sums, std::size_t query, std::size_t first_key,
                         std::span<const float> weights) const {
  for (std::size_t i = 0; i < weights.size(); ++i) {
    sums.attention[kind_of(query, first_key + i)].add(static_cast<double>(weights[i]));
  }
  const auto add_entry = [&](DetectionPattern pattern, std::size_t key) {
    const auto index = static_cast<std::size_t>(pattern);
    const std::size_t kind = kind_of(query, key);
    const bool is_there = key >= first_key && key < first_key + weights.size();
    const double weight = is_there ? static_cast<double>(weights[key - first_key]) : 0.0;
    sums.product[index][kind].add(weight);
    sums.apart[index][kind].add(std::abs(weight - 1.0));
  };
  if (query > 0) {
    add_entry(DetectionPattern::kPrevious, query - 1);
  }
  for (std::size_t key = tokens_.latest(query); key != ScoredTokens::kNone;
       key = tokens_.latest(key)) {
    add_entry(DetectionPattern::kDuplicate, key);
    add_entry(DetectionPattern::kInduction, key + 1);
  }
}

void DetectHead::rows(HeadId id, std::size_t first_query, std::size_t first_key,
                      ConstMatrix weights) {
  Sums block;
  for (std::size_t i = 0; i < weights.rows; ++i) {
    add_row(block, first_query + i, first_key, weights.row(i));
  }
  Head& head = *heads_.at(id);
  const std::scoped_lock lock(head.mutex);
  head.sums.add(block);
}

DetectedHead DetectHead::detected(HeadId head, DetectionPattern pattern,
                                  const DetectOptions& options) const {
  const Sums& sums = heads_.at(head)->sums;
  const auto index = static_cast<std::size_t>(pattern);
  double product = 0.0, attention = 0.0, difference = 0.0;
  for (std::size_t kind = 0; kind < sums.attention.size(); ++kind) {
    if (!is_left(kind, options)) {
      continue;
    }
    const double hit = sums.product[index][kind].value();
    const double weight = sums.attention[kind].value();
    product += hit;
    attention += weight;
    difference += weight - hit + sums.apart[index][kind].value();
  }
  constexpr double kDecimals = 1000.0;
  const double mean = difference / static_cast<double>(tokens_.size());
  DetectedHead detected;
  detected.abs = 1.0 - std::nearbyint(mean * kDecimals) / kDecimals;
  if (attention > 0.0) {
    detected.mul = product / attention;
  }
  return detected;
}

DetectOptions detect_options(std::size_t index) noexcept {
  return {.exclude_bos = (index & 1) != 0, .exclude_current_token = (index & 2) != 0};
}

DetectedScores detected_scores(const DetectHead& detect, HeadId head) {
  DetectedScores scores;
  for (std::size_t pattern = 0; pattern < scores.size(); ++pattern) {
    for (std::size_t i = 0; i < scores[pattern].size(); ++i) {
      scores[pattern][i] =
          detect.detected(head, kDetectionPatterns[pattern].value, detect_options(i));
    }
  }
  return scores;
}

TextScores score_heads(const Model& model, const TokenizedText& text, const ScoredTokens& tokens,
                       const std::vector<HeadId>& heads, const ScoreRequest& request) {
  const auto seen = visibilities(model, request.attention, tokens.size());
  HeadScores raw(heads, tokens, seen);
  const ValueNorms* norms = nullptr;
  HeadScores weighted(heads, tokens, seen, [&norms](HeadId head) { return norms->of(head); });
  DetectHead detect(heads, tokens);
  std::vector<PatternSink*> sinks = {&raw};
  if (request.weighted) {
    sinks.push_back(&weighted);
  }
  if (request.detect) {
    sinks.push_back(&detect);
  }
  SinkGroup all(sinks);
  const std::vector<HeadId> valued = request.weighted ? heads : std::vector<HeadId>();
  ValueNorms observer(model, valued, request.attention.n_threads, all);
  norms = &observer;
  run(model, InputColumns(text).view(), request.attention, observer);
  TextScores scores;
  for (const HeadId head : heads) {
    scores.raw.push_back(raw.scores(head));
    if (request.weighted) {
      scores.weighted.push_back(weighted.scores(head));
    }
    if (request.detect) {
      scores.detected.push_back(detected_scores(detect, head));
    }
  }
  return scores;
}

namespace {

void write_norms(ConstMatrix values, const StoredMatrix& output, MatrixBuffer& transformed,
                 std::vector<double>& norms) {
  if (!output.empty()) {
    const Matrix all = shaped(transformed, values.rows, output.cols);
    kernels::matmul(values, output, {}, all);
    values = all;
  }
  norms.resize(values.rows);
  for (std::size_t token = 0; token < values.rows; ++token) {
    norms[token] = std::sqrt(kernels::sum_of_squares(values.row(token)));
  }
}

}  // namespace

bool has_output_gates(const Model& model) noexcept {
  return std::ranges::any_of(model.layers, [](const LayerWeights& layer) {
    return !layer.heads.empty() && !layer.heads.front().output_gate.weight.empty();
  });
}

ValueNorms::ValueNorms(const Model& model, const std::vector<HeadId>& heads, std::size_t n_threads,
                       PatternSink& patterns)
    : RunObserver(patterns), model_(model), n_threads_(n_threads) {
  for (const HeadId head : heads) {
    norms_[head];
  }
}

void ValueNorms::values(std::size_t layer, std::span<const HeadValues> heads) {
  const std::vector<StoredMatrix> outputs = head_outputs(model_.layers[layer]);
  transformed_.resize(std::max<std::size_t>(n_threads_, 1));
  parallel_for(heads.size(), n_threads_, [&](std::size_t item, std::size_t thread) {
    const HeadValues& head = heads[item];
    write_norms(head.values, outputs[head.head], transformed_[thread],
                norms_.at({layer, head.head}));
  });
}

}  // namespace attnviz
