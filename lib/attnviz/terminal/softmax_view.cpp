#include "attnviz/terminal/softmax_view.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/core/message.h"
#include "attnviz/document/lessons/softmax_figure.h"
#include "attnviz/document/words/number_group.h"
#include "attnviz/document/words/short_numbers.h"
#include "attnviz/terminal/page/charset.h"
#include "attnviz/terminal/page/paragraph.h"
#include "attnviz/terminal/page/terminal_palette.h"
#include "attnviz/terminal/page/text_table.h"

namespace attnviz {

namespace {

// Four decimals, or an exponent where these would say that nothing is left.
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

class SoftmaxPage {
 public:
  SoftmaxPage(const SoftmaxSteps& steps, const TerminalOptions& options)
      : steps_(steps),
        options_(options),
        charset_(options.style),
        palette_(Colormap(), options.color) {}

  Page draw() {
    const bool divides = steps_.divide_by != 1.0 || steps_.temperature != 1.0;
    page_.add(paragraph(charset_.formula(softmax_title(steps_)), options_.columns, kBold));
    page_.blank();
    table(divides);
    page_.blank();
    remarks();
    return std::move(page_);
  }

 private:
  Span cell(std::size_t row, std::string text) const {
    return {std::move(text), steps_.is_masked(row)                   ? kDim
                             : steps_.divided[row] == steps_.largest ? kBold
                                                                     : Style{}};
  }

  TextColumn numbers(const char* heading, const std::vector<double>& values) const {
    TextColumn column{{charset_.formula(heading), kDim}, {}};
    NumberGroup group;
    for (const double value : values) {
      if (fits_float(value)) {
        const auto number = static_cast<float>(value);
        group.add(std::span(&number, 1));
      }
    }
    for (std::size_t row = 0; row < values.size(); ++row) {
      column.cells.push_back(cell(row, fits_float(values[row])
                                           ? group.text(static_cast<float>(values[row]))
                                           : fmt::format("{:.4g}", values[row])));
    }
    column.cells.emplace_back();  // no sum is made of these
    return column;
  }

  void table(bool divides) {
    TextTable table;
    for (std::size_t row = 0; row < steps_.scores.size(); ++row) {
      table.labels.push_back({std::to_string(row + 1), kDim});
    }
    table.labels.push_back({"sum", kBold});
    table.columns.push_back(numbers("score", steps_.scores));
    if (divides) {
      table.columns.push_back(numbers("s = divided", steps_.divided));
    }
    std::vector<double> shifted;
    for (const double s : steps_.divided) {
      shifted.push_back(s - steps_.largest);
    }
    table.columns.push_back(numbers(divides ? "s − max" : "score − max", shifted));
    TextColumn exponentials{{charset_.formula(divides ? "exp(s − max)" : "exp(score − max)"), kDim},
                            {}};
    TextColumn weights{{"weight", kDim}, {}}, bars{{}, {}, false, true};
    for (std::size_t row = 0; row < steps_.scores.size(); ++row) {
      exponentials.cells.push_back(cell(row, four_decimals(steps_.exponentials[row])));
      weights.cells.push_back(cell(row, four_decimals(steps_.weights[row])));
      const double share = steps_.weights[row];
      bars.cells.push_back(steps_.is_masked(row)
                               ? Span{"masked", kDim}
                               : Span{charset_.bar(share, steps_.naive ? kShortBar : kBar),
                                      {.ink = palette_.share_ink(static_cast<float>(share))}});
    }
    exponentials.cells.push_back({four_decimals(steps_.sum), kBold});
    weights.cells.push_back({steps_.all_masked() ? "0" : "1", kBold});
    bars.cells.emplace_back();
    table.columns.push_back(std::move(exponentials));
    table.columns.push_back(std::move(weights));
    table.columns.push_back(std::move(bars));
    if (steps_.naive) {
      add_naive(table);
    }
    page_.add(draw_table(table, options_.columns, charset_));
  }

  void add_naive(TextTable& table) const {
    TextColumn exponentials{{"naive exp", kDim}, {}}, weights{{"weight", kDim}, {}, true, true};
    for (std::size_t row = 0; row < steps_.scores.size(); ++row) {
      exponentials.cells.push_back({float_text(steps_.naive->exponentials[row]), kDim});
      weights.cells.push_back({float_text(steps_.naive->weights[row]),
                               std::isnan(steps_.naive->weights[row]) ? kBold : kDim});
    }
    exponentials.cells.push_back({float_text(steps_.naive->sum), kBold});
    weights.cells.emplace_back();
    table.columns.push_back(std::move(exponentials));
    table.columns.push_back(std::move(weights));
  }

  void say(const std::string& text, const Style& style = {}) {
    page_.add(paragraph(charset_.formula(text), options_.columns, style));
  }

  void remarks() {
    if (steps_.all_masked()) {
      return say(
          "Every score is -inf: all keys are masked and there is nothing to look at. The formula "
          "would be 0 ÷ 0, which is no number; attnviz gives such a query a row of zeros.");
    }
    const char* const s = steps_.divide_by != 1.0 || steps_.temperature != 1.0 ? "s" : "score";
    say(fmt::format("weight = exp({} {} {:.6g}) ÷ {:.6g}", s, steps_.largest < 0.0 ? "+" : "−",
                    std::abs(steps_.largest), steps_.sum));
    if (steps_.naive) {
      const char* fault =
          "Below −103.9 exp is 0 there (with 64 bits below −745.1), and 0 ÷ 0 is no number.";
      if (steps_.naive->overflows()) {
        fault =
            std::ranges::any_of(steps_.naive->exponentials,
                                [](float number) { return std::isinf(number); })
                ? "Above 88.7 exp is infinite there (with 64 bits above 709.8), and inf ÷ inf "
                  "is no number."
                : "Each exp is finite there, but their sum is above 3.4e38, the largest of "
                  "them, and so infinite; a number ÷ inf is 0, and weights of 0 have no sum of 1.";
      }
      say(fmt::format(
          "Naive: exp({0}) ÷ sum of exp({0}) in the 32-bit floats of a model. {1} Taking the "
          "largest away first changes no weight, for the factor exp(−max) stands above and below; "
          "but then the largest term is exp(0) = 1, and the sum lies between 1 and {2}.",
          s, fault, steps_.n_visible()));
    }
    const auto largest = static_cast<float>(*std::ranges::max_element(steps_.weights));
    const double most = std::log2(static_cast<double>(steps_.n_visible()));
    say(fmt::format("largest weight {}; entropy {:.2f} of at most {:.2f} bits",
                    percentage(largest, 1), steps_.entropy_bits, most),
        kDim);
  }

  static constexpr std::size_t kBar = 20;
  static constexpr std::size_t kShortBar = 10;

  const SoftmaxSteps& steps_;
  TerminalOptions options_;
  Charset charset_;
  TerminalPalette palette_;
  Page page_;
};

}  // namespace

Page softmax_page(const SoftmaxSteps& steps, const TerminalOptions& options) {
  return SoftmaxPage(steps, wide_enough(options)).draw();
}

}  // namespace attnviz
