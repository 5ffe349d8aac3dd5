#include "attnviz/document/lessons/softmax_figure.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "attnviz/core/message.h"
#include "attnviz/core/tensor.h"

namespace attnviz {

std::string divisor_words(const SoftmaxSteps& steps) {
  const std::string by = fmt::format("{:.6g}", steps.divide_by);
  const std::string temperature = fmt::format("T {:.6g}", steps.temperature);
  return steps.divide_by == 1.0 && steps.temperature == 1.0 ? ""
         : steps.temperature == 1.0                         ? "÷ " + by
         : steps.divide_by == 1.0                           ? "÷ " + temperature
                                  : "÷ (" + by + " · " + temperature + ")";
}

std::string softmax_title(const SoftmaxSteps& steps) {
  const std::string divisor = divisor_words(steps);
  return "softmax of " + counted(steps.scores.size(), "score") +
         (divisor.empty() ? "" : " " + divisor);
}

SoftmaxFigure softmax_figure(const SoftmaxSteps& steps) {
  const std::string divisor = divisor_words(steps);
  std::vector<std::pair<std::string, std::vector<double>>> rows;
  if (!divisor.empty()) {
    rows.emplace_back("as they are", softmax_steps(steps.scores).weights);
  }
  rows.emplace_back(divisor.empty() ? "weights" : "score " + divisor, steps.weights);
  const auto weights = std::make_shared<MatrixBuffer>(rows.size(), steps.scores.size());
  SoftmaxFigure figure;
  Heatmap& heatmap = figure.heatmap;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    heatmap.query_labels.push_back(rows[row].first);
    std::ranges::transform(rows[row].second, weights->view().row(row).begin(),
                           [](double weight) { return static_cast<float>(weight); });
  }
  std::vector<bool> is_masked;
  for (std::size_t i = 0; i < steps.scores.size(); ++i) {
    is_masked.push_back(steps.is_masked(i));
    heatmap.key_labels.push_back(fmt::format("{:.6g}", steps.scores[i]));
  }
  heatmap.panels = {{"", std::as_const(*weights).view(),
                     [is_masked](std::size_t, std::size_t key) { return !is_masked[key]; }}};
  heatmap.storage = weights;
  heatmap.first_key = 1;
  heatmap.title = softmax_title(steps);
  heatmap.value_name = "weight";
  if (!steps.all_masked()) {
    const char* const score = divisor.empty() ? "score" : "s";
    heatmap.notes = {fmt::format("weight = exp({0} {1} {2:.6g}) ÷ {3:.6g}", score,
                                 steps.largest < 0.0 ? "+" : "−", std::abs(steps.largest),
                                 steps.sum)};
    if (!divisor.empty()) {
      heatmap.notes.front() += ", s = score " + divisor;
    }
  }
  figure.subject.first_index = heatmap.first_key;
  return figure;
}

}  // namespace attnviz
