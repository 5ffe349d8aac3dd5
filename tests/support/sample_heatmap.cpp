#include "support/sample_heatmap.h"

#include <fmt/core.h>

#include <array>
#include <string>

#include "support/naive.h"

namespace attnviz::test {

namespace {

constexpr std::array kWords = {"The", "cat", "sat", "on", "the", "mat", "."};
constexpr std::array kHardLabels = {"猫",
                                    "👨\u200D👩\u200D👧",
                                    "antidisestablishmentarianism",
                                    "",
                                    " ",
                                    "\n",
                                    "\u0301",
                                    "\xFF\xFE",
                                    "\x1B[31m",
                                    "\u202Eevil",
                                    "naïve",
                                    "e\u0301",
                                    "ﷺ",
                                    "שלום",
                                    "座ったのはマットの上だった"};

std::vector<std::string> label_list(std::size_t n, Labels labels) {
  std::vector<std::string> list;
  list.reserve(n);
  for (std::size_t i = 0; i < n; ++i) {
    list.emplace_back(labels == Labels::kWords ? kWords.at(i % kWords.size())
                                               : kHardLabels.at(i % kHardLabels.size()));
  }
  return list;
}

}  // namespace

SampleHeatmap::SampleHeatmap(std::size_t n_queries, std::size_t n_keys, std::size_t n_panels,
                             Labels labels) {
  for (std::size_t i = 0; i < n_panels; ++i) {
    values.push_back(random_values(n_queries * n_keys, i + 1));
    for (float& value : values.back()) {
      value = (value + 1.0f) / 2.0f;
    }
    heatmap.panels.push_back({fmt::format("L{}H{}", i / 12, i % 12),
                              matrix_over(values.back(), n_queries, n_keys),
                              [](std::size_t query, std::size_t key) { return key <= query; }});
  }
  heatmap.query_labels = label_list(n_queries, labels);
  heatmap.key_labels = label_list(n_keys, labels);
  if (labels == Labels::kHard) {
    const auto roles = [](std::size_t n) {
      std::vector<std::size_t> all(n);
      for (std::size_t i = 0; i < n; ++i) {
        all[i] = i / 3 % 3;
      }
      return all;
    };
    heatmap.roles = {{"system", "a role with a long name 猫"}, roles(n_queries), roles(n_keys)};
  }
  heatmap.title = "attention: random weights (seed 42)";
  heatmap.notes = {"RANDOM WEIGHTS: these patterns mean nothing.", "mask causal"};
}

}  // namespace attnviz::test
