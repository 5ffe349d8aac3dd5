#include "attnviz/report/reports/reports.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/analysis/lessons/lesson_numbers.h"
#include "attnviz/core/message.h"
#include "attnviz/core/tensor.h"
#include "attnviz/report/words/number_formats.h"

namespace attnviz {

namespace {

// Four decimals, or an exponent for a small number that these would show as 0.
std::string four_decimals(double value) {
  return value != 0.0 && std::abs(value) < 0.00005 ? fmt::format("{:.1e}", value)
                                                   : fmt::format("{:.4f}", value);
}

std::string float_text(float value) {
  return std::isfinite(value) && value != 0.0f ? fmt::format("{:.3g}", value)
         : std::isnan(value)                   ? "nan"
                                               : fmt::format("{}", value);
}

bool fits_float(double value) {
  return std::abs(value) <= static_cast<double>(std::numeric_limits<float>::max());
}

class SoftmaxReport {
 public:
  explicit SoftmaxReport(const SoftmaxSteps& steps) : steps_(steps), rows_(steps.scores.size()) {
    std::iota(rows_.begin(), rows_.end(), std::size_t{0});
    report_.schema = "attnviz.softmax/1";
    report_.json_indent = 2;
    report_.title = softmax_title(steps);
  }

  Report make() {
    add_members();
    report_.draw(Gap{});
    table();
    report_.draw(Gap{});
    remarks();
    SoftmaxFigure figure = softmax_figure(steps_);
    report_.draw(
        Figure{BarsFigure{std::move(figure.heatmap), figure.subject}, /*on_screen=*/false});
    return std::move(report_);
  }

 private:
  void add_members() {
    std::vector<std::size_t> masked;
    std::ranges::copy_if(rows_, std::back_inserter(masked),
                         [this](std::size_t row) { return steps_.is_masked(row); });
    report_.add("divide_by", steps_.divide_by);
    report_.add("temperature", steps_.temperature);
    report_.add("scores", steps_.scores);
    report_.add("masked", masked);
    report_.add("all_masked", steps_.all_masked());
    report_.add("divided", steps_.divided);
    report_.add("max", steps_.largest);
    report_.add("exponentials", steps_.exponentials);
    report_.add("sum", steps_.sum);
    report_.add("weights", steps_.weights);
    report_.add("entropy_bits", steps_.entropy_bits);
    if (steps_.naive) {
      report_.add("naive", Record{{"fault", steps_.naive->overflows() ? "overflow" : "underflow"},
                                  {"exponentials", steps_.naive->exponentials},
                                  {"sum", steps_.naive->sum},
                                  {"weights", steps_.naive->weights}});
    }
  }

  // Adds numbers for programs, and texts with the same decimals for people.
  void add(TableOf<std::size_t>& table, const char* key, std::string heading,
           const std::vector<double>& values, bool is_shown = true) const {
    if (key != nullptr) {
      table.data(key, [&](std::size_t row) { return values[row]; });
    }
    if (!is_shown) {
      return;
    }
    NumberGroup group;
    for (const double value : values) {
      if (fits_float(value)) {
        const auto number = static_cast<float>(value);
        group.add(std::span(&number, 1));
      }
    }
    table.column({.heading = std::move(heading), .to_right = true}, [&](std::size_t row) {
      return fits_float(values[row]) ? group.text(static_cast<float>(values[row]))
                                     : fmt::format("{:.4g}", values[row]);
    });
  }

  void table() {
    const bool divides = steps_.divide_by != 1.0 || steps_.temperature != 1.0;
    const char* const s = divides ? "s" : "score";
    std::vector<double> shifted;
    for (const double value : steps_.divided) {
      shifted.push_back(value - steps_.largest);
    }
    TableOf rows(rows_);
    rows.column({.emphasis = Emphasis::kQuiet}, [](std::size_t row) { return row + 1; });
    add(rows, "score", "score", steps_.scores);
    add(rows, "divided", "s = score " + divisor_words(steps_), steps_.divided, divides);
    add(rows, nullptr, fmt::format("{} − max", s), shifted);
    rows.column(
        {.key = "exponential", .heading = fmt::format("exp({} − max)", s), .format = four_decimals},
        [this](std::size_t row) { return steps_.exponentials[row]; });
    rows.column({.key = "weight",
                 .heading = "weight",
                 .format = four_decimals,
                 .bars = ColumnBars{.columns = steps_.naive ? 10U : 20U}},
                [this](std::size_t row) { return steps_.weights[row]; });
    const bool any_masked =
        std::ranges::any_of(rows_, [this](std::size_t row) { return steps_.is_masked(row); });
    if (any_masked) {
      rows.column({.emphasis = Emphasis::kQuiet},
                  [this](std::size_t row) { return steps_.is_masked(row) ? "masked" : ""; });
    }
    ExtraRow sum{{"sum", "", ""}, Emphasis::kStrong};
    sum.cells.resize(divides ? 4 : 3, "");
    sum.cells.emplace_back(steps_.sum);
    sum.cells.emplace_back(steps_.all_masked() ? "0" : "1");
    if (steps_.naive) {
      add_naive(rows);
      sum.cells.resize(sum.cells.size() + (any_masked ? 1 : 0), "");
      sum.cells.emplace_back(float_text(steps_.naive->sum));
    }
    Table table = rows.take();
    for (const std::size_t row : rows_) {
      table.emphasis.push_back(steps_.is_masked(row)                   ? Emphasis::kQuiet
                               : steps_.divided[row] == steps_.largest ? Emphasis::kStrong
                                                                       : Emphasis::kPlain);
    }
    table.extra_rows.push_back(std::move(sum));
    report_.draw(std::move(table));
  }

  void add_naive(TableOf<std::size_t>& rows) const {
    const auto column = [&](const char* key, const char* heading,
                            const std::vector<float>& values) {
      rows.data(key, [&](std::size_t row) { return values[row]; });
      rows.column({.heading = heading, .emphasis = Emphasis::kQuiet, .to_right = true},
                  [&](std::size_t row) { return float_text(values[row]); });
    };
    column("naive_exponential", "naive exp", steps_.naive->exponentials);
    column("naive_weight", "weight", steps_.naive->weights);
  }

  void remarks() {
    if (steps_.all_masked()) {
      return report_.say(
          "Every score is -inf: all keys are masked and there is nothing to attend to. The formula "
          "would be 0 ÷ 0, which is not a number; attnviz gives this query a row of zeros.");
    }
    const char* const s = steps_.divide_by != 1.0 || steps_.temperature != 1.0 ? "s" : "score";
    report_.say(fmt::format("weight = exp({} {} {:.6g}) ÷ {:.6g}", s,
                            steps_.largest < 0.0 ? "+" : "−", std::abs(steps_.largest),
                            steps_.sum));
    if (steps_.naive) {
      const char* fault =
          "Below −103.9, exp is 0 there (with 64 bits, below −745.1), and 0 ÷ 0 is not a number.";
      if (steps_.naive->overflows()) {
        fault =
            std::ranges::any_of(steps_.naive->exponentials,
                                [](float number) { return std::isinf(number); })
                ? "Above 88.7, exp is infinite there (with 64 bits, above 709.8), and inf ÷ inf is "
                  "not a number."
                : "Each exp is finite there, but their sum is above 3.4e38, the largest of "
                  "them, and so infinite; a number ÷ inf is 0, and weights of 0 have no sum of 1.";
      }
      report_.say(fmt::format(
          "Naive: exp({0}) ÷ sum of exp({0}) in the 32-bit floats of a model. {1} Subtracting "
          "the largest score first changes no weight, because the factor exp(−max) cancels; but "
          "then the largest term is exp(0) = 1, and the sum lies between 1 and {2}.",
          s, fault, steps_.n_visible()));
    }
    const auto largest = static_cast<float>(*std::ranges::max_element(steps_.weights));
    const double most = std::log2(static_cast<double>(steps_.n_visible()));
    report_.say(
        fmt::format(
            "largest weight {}; entropy {:.2f} bits of at most {:.2f} (0: all on one score)",
            percentage(largest, 1), steps_.entropy_bits, most),
        Emphasis::kQuiet);
  }

  const SoftmaxSteps& steps_;
  std::vector<std::size_t> rows_;
  Report report_;
};

}  // namespace

Report softmax_report(const SoftmaxSteps& steps) {
  return SoftmaxReport(steps).make();
}

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
    rows.emplace_back("undivided", softmax_steps(steps.scores).weights);
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
