// Two charts with every feature of charts.
#pragma once

#include <cmath>

#include "attnviz/report/lessons/line_chart.h"

namespace attnviz::test {

inline ChartFigure sample_chart() {
  LineChart growth{"growth", {"n", ChartScale::kLog2}, {"seconds", ChartScale::kLog10}, {}};
  growth.series = {{"naive", {}, 1}, {"blocks", {}, 0}, {"n²", {}, 1, /*is_reference=*/true}};
  for (double n = 64.0; n <= 4096.0; n *= 2.0) {
    growth.series[0].points.push_back({n, 1e-8 * n * n});
    growth.series[1].points.push_back({n, 1e-9 * n * n});
    growth.series[2].points.push_back({n, 1e-8 * n * n});
  }
  fit_axes(growth);
  LineChart even{"even", {"layer"}, {"cosine"}, {{"1-2", {{0.0, 1.0}, {1.0, -0.25}}, 2}}};
  fit_axes(even);
  return {{growth, even}, "two charts", {"a note"}};
}

}  // namespace attnviz::test
