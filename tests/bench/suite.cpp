#include "bench/suite.h"

#include <fmt/core.h>

#include <cstdint>

#include "attnviz/core/threads.h"
#include "bench/peak.h"

namespace attnviz::bench {

namespace {

constexpr int kPeakRounds = 20000;

constexpr const char* kTwoPeaks = "peak, two threads";

void peak(benchmark::State& state) {
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(multiply_add_round(kPeakRounds));
  }
}

void two_peaks(benchmark::State& state) {
  repeat(state, [] {
    parallel_for(2, 2, [](std::size_t /*item*/, std::size_t /*thread*/) {
      benchmark::DoNotOptimize(multiply_add_round(kPeakRounds));
    });
  });
}

}  // namespace

void add(const std::string& name, const std::function<void(benchmark::State&)>& run) {
  benchmark::RegisterBenchmark(name.c_str(), run)->Unit(benchmark::kMillisecond)->UseRealTime();
}

void register_peak() {
  add(kPeak, peak);
  add(kTwoPeaks, two_peaks);
}

MatrixBuffer random_matrix(std::size_t rows, std::size_t cols, unsigned seed) {
  MatrixBuffer matrix(rows, cols);
  std::uint32_t state = seed;
  float* const values = matrix.view().data;
  for (std::size_t i = 0; i < rows * cols; ++i) {
    state = state * 1664525u + 1013904223u;
    values[i] = static_cast<float>(state >> 8) / 8388608.0f - 1.0f;
  }
  return matrix;
}

double Times::operator()(const std::string& name) const {
  const auto found = seconds_.find(name);
  return found == seconds_.end() ? 0.0 : found->second;
}

double Times::ratio(const std::string& other, const std::string& name) const {
  const double own = (*this)(name);
  return own == 0.0 ? 0.0 : (*this)(other) / own;
}

double Times::share_of_peak(const std::string& name, double operations) const {
  const double own = (*this)(name);
  const double peak_rate_time = (*this)(kPeak);
  if (own == 0.0 || peak_rate_time == 0.0) {
    return 0.0;
  }
  const double peak_rate = operations_of_a_round() * kPeakRounds / peak_rate_time;
  return 100.0 * operations / own / peak_rate;
}

double Times::peak_of_two_threads() const {
  return 2.0 * ratio(kPeak, kTwoPeaks);
}

void Figures::at_least(const std::string& what, double found, double wanted, const char* unit) {
  lines_.push_back({what, found, wanted, true, unit});
}

void Figures::at_most(const std::string& what, double found, double wanted, const char* unit) {
  lines_.push_back({what, found, wanted, false, unit});
}

void Figures::print() const {
  fmt::print("\n{:<58}{:>14}{:>16}\n", "figure", "found", "wanted");
  for (const Line& line : lines_) {
    if (line.found == 0.0) {
      continue;
    }
    const bool reached = line.least ? line.found >= line.wanted : line.found <= line.wanted;
    fmt::print("{:<58}{:>14}{:>16}{}\n", line.what, fmt::format("{:.3g} {}", line.found, line.unit),
               fmt::format("{} {:.3g} {}", line.least ? ">=" : "<=", line.wanted, line.unit),
               reached ? "" : "  not reached");
  }
}

}  // namespace attnviz::bench
