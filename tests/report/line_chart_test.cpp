#include "attnviz/report/lessons/line_chart.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace attnviz {
namespace {

std::string labels_of(const ChartAxis& axis, std::size_t most) {
  std::string labels;
  for (const ChartTick& tick : chart_ticks(axis, most)) {
    labels += (labels.empty() ? "" : " ") + tick.label;
  }
  return labels;
}

}  // namespace

TEST_CASE("chart axes: the position of a value") {
  const ChartAxis linear{"", ChartScale::kLinear, -1.0, 3.0};
  CHECK(linear.position(0.0) == 0.25);
  const ChartAxis log{"", ChartScale::kLog2, 2.0, 32.0};
  CHECK(log.position(2.0) == 0.0);
  CHECK(log.position(8.0) == doctest::Approx(0.5));
  CHECK(log.position(32.0) == doctest::Approx(1.0));
}

TEST_CASE("chart ticks: powers, and multiples of 1, 2 and 5") {
  CHECK(labels_of({"", ChartScale::kLinear, 0.0, 1.0}, 6) == "0 0.2 0.4 0.6 0.8 1");
  CHECK(labels_of({"", ChartScale::kLinear, -0.5, 1.0}, 4) == "-0.5 0 0.5 1");
  CHECK(labels_of({"", ChartScale::kLog2, 1.0, 512.0}, 10) == "1 2 4 8 16 32 64 128 256 512");
  CHECK(labels_of({"", ChartScale::kLog2, 1.0, 512.0}, 4) == "1 8 64 512");
  CHECK(labels_of({"", ChartScale::kLog2, 0.9, 500.0}, 5) == "1 4 16 64 256");
  CHECK(labels_of({"", ChartScale::kLog10, 1e-5, 2.0}, 9) == "1e-5 1e-4 1e-3 1e-2 1e-1 1e0");
  CHECK(labels_of({"", ChartScale::kLog10, 1e-4, 2.0}, 9) == "0.0001 0.001 0.01 0.1 1");
  CHECK(labels_of({"", ChartScale::kLog10, 1e-8, 2.0}, 3) == "1e-8 1e-5 1e-2");
  CHECK(labels_of({"", ChartScale::kLog10, 1e3, 1e16}, 5) == "1 k 1 M 1 G 1 T 1 P");
  CHECK(labels_of({"", ChartScale::kLinear, 0.0, 4.0, true}, 9) == "0 1 2 3 4");
}

TEST_CASE("chart ticks: those of one axis have one format, with its unit if it has one") {
  const auto seconds = ChartUnit::kSeconds;
  CHECK(labels_of({"", ChartScale::kLog10, 1e-4, 2.0, false, seconds}, 3) == "100 µs 10 ms 1 s");
  CHECK(labels_of({"", ChartScale::kLinear, 0.0, 1.0, false, seconds}, 3) == "0 0.5 s 1 s");
  CHECK(labels_of({"", ChartScale::kLinear, 0.0, 0.4, false, seconds}, 3) == "0 200 ms 400 ms");
  const auto bytes = ChartUnit::kBytes;
  CHECK(labels_of({"", ChartScale::kLog10, 900.0, 2e7, false, bytes}, 9) ==
        "1 kB 10 kB 100 kB 1 MB 10 MB");
  CHECK(labels_of({"", ChartScale::kLog10, 1.0, 1e5}, 9) == "1 10 100 1 k 10 k 100 k");
  CHECK(labels_of({"", ChartScale::kLinear, 0.0, 20'000.0}, 6) == "0 5 k 10 k 15 k 20 k");
  CHECK(labels_of({"", ChartScale::kLinear, 0.0, 8000.0}, 5) == "0 2000 4000 6000 8000");
  CHECK(labels_of({"", ChartScale::kLog2, 8192.0, 32'768.0}, 5) == "8192 16384 32768");
}

TEST_CASE("chart axes: the range covers any points") {
  LineChart chart{"", {"x", ChartScale::kLog2}, {"y"}, {}};
  chart.series.push_back({"a", {{4.0, 0.3}, {64.0, 3.7}, {0.0, 9.0}}});
  chart.series.push_back({"b", {{8.0, std::numeric_limits<double>::quiet_NaN()}}});
  fit_axes(chart);
  CHECK(chart.x.low == 4.0);
  CHECK(chart.x.high == 64.0);
  CHECK(chart.y.low == 0.0);
  CHECK(chart.y.high == 4.0);
  CHECK(is_drawn(chart, {4.0, 0.3}));
  CHECK(!is_drawn(chart, {0.0, 9.0}));  // 0 has no logarithm
  CHECK(!is_drawn(chart, {8.0, std::nan("")}));

  LineChart empty{"", {"x", ChartScale::kLog10}, {"y"}, {}};
  fit_axes(empty);
  CHECK(empty.x.low < empty.x.high);
  CHECK(empty.y.low < empty.y.high);
  LineChart alike{"", {"x", ChartScale::kLog10}, {"y"}, {{"a", {{5.0, 2.0}}}}};
  fit_axes(alike);
  CHECK(alike.x.low == 5.0);
  CHECK(alike.x.high == 50.0);
  CHECK(alike.y.high == 2.0);
}

}  // namespace attnviz
