#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

#include "attnviz/analysis/lessons/lesson_numbers.h"
#include "attnviz/report/reports/reports.h"

namespace attnviz {

using Labels = std::vector<std::string>;

TEST_CASE("softmax_figure: a bar for each score's weight, labelled with the score") {
  const SoftmaxFigure figure = softmax_figure(softmax_steps(std::vector{2.1, 8.7, 3.2}));
  const Heatmap& heatmap = figure.heatmap;
  CHECK(heatmap.title == "softmax of 3 scores");
  CHECK(heatmap.query_labels == Labels{"weights"});
  CHECK(heatmap.key_labels == Labels{"2.1", "8.7", "3.2"});
  REQUIRE(heatmap.panels.size() == 1);
  // As in the reference: exp(-6.6), 1 and exp(-5.5) divided by their sum.
  CHECK(heatmap.panels[0].values(0, 0) == doctest::Approx(0.0013529981));
  CHECK(heatmap.panels[0].values(0, 1) == doctest::Approx(0.9945823711));
  CHECK(heatmap.panels[0].values(0, 2) == doctest::Approx(0.0040646308));
  CHECK(heatmap.notes == Labels{"weight = exp(score − 8.7) ÷ 1.00545"});
  CHECK(figure.subject.first_index.of(0) == 1);
  check(heatmap);
}

TEST_CASE("softmax_figure: divided scores come after the original ones") {
  constexpr double kMasked = -std::numeric_limits<double>::infinity();
  const SoftmaxSteps steps = softmax_steps(std::vector{2.1, 8.7, 3.2, kMasked}, 11.313708);
  const Heatmap heatmap = softmax_figure(steps).heatmap;
  CHECK(heatmap.title == "softmax of 4 scores ÷ 11.3137");
  CHECK(heatmap.query_labels == Labels{"undivided", "score ÷ 11.3137"});
  const HeatmapPanel& panel = heatmap.panels.front();
  CHECK(panel.values(0, 1) == doctest::Approx(0.9945823711));
  CHECK(panel.values(1, 0) == doctest::Approx(0.2567944021));
  CHECK(panel.values(1, 1) == doctest::Approx(0.460189733));
  CHECK_FALSE(panel.is_visible(0, 3));
  CHECK_FALSE(panel.is_visible(1, 3));
  CHECK(panel.is_visible(1, 2));
}

TEST_CASE("softmax_figure: a fully masked row has no formula") {
  constexpr double kMasked = -std::numeric_limits<double>::infinity();
  const Heatmap heatmap = softmax_figure(softmax_steps(std::vector{kMasked}, 1.0, 2.0)).heatmap;
  CHECK(heatmap.title == "softmax of 1 score ÷ T 2");
  CHECK(heatmap.notes.empty());
  CHECK_FALSE(heatmap.panels.front().is_visible(1, 0));
}

}  // namespace attnviz
