// Shared by the parts of the benchmark: registering, medians, and the table of figures.
#pragma once

#include <benchmark/benchmark.h>

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "attnviz/core/tensor.h"

namespace attnviz::bench {

/// Registers a benchmark timed in milliseconds of real time. Names have parts: "core/attnviz".
void add(const std::string& name, const std::function<void(benchmark::State&)>& run);

/// Times `work` after a first run that does not count, because the system still clears fresh
/// memory.
template <class Work>
void repeat(benchmark::State& state, const Work& work) {
  work();
  for ([[maybe_unused]] auto _ : state) {
    work();
    benchmark::ClobberMemory();
  }
}

/// The median times of the benchmarks that ran, by name.
class Times {
 public:
  void note(const std::string& name, double seconds) { seconds_[name] = seconds; }

  /// Seconds; 0 if it did not run.
  double operator()(const std::string& name) const;
  /// The other one's time divided by that of `name`; 0 if one of them did not run.
  double ratio(const std::string& other, const std::string& name) const;
  /// `operations` in the time of `name`, as a percentage of the rate of multiply-adds on registers
  /// alone.
  double share_of_peak(const std::string& name, double operations) const;
  /// The speed-up of two threads over one for the same multiply-adds, under the machine's current
  /// load.
  double peak_of_two_threads() const;

 private:
  std::map<std::string, double> seconds_;
};

/// The table of goals: each line shows the measured number next to the wanted one.
class Figures {
 public:
  void at_least(const std::string& what, double found, double wanted, const char* unit);
  void at_most(const std::string& what, double found, double wanted, const char* unit);
  /// Lines of benchmarks that did not run (found 0) are left out.
  void print() const;

 private:
  struct Line {
    std::string what;
    double found;
    double wanted;
    bool least;
    const char* unit;
  };
  std::vector<Line> lines_;
};

constexpr const char* kPeak = "peak";
void register_peak();

/// Seeded values in [-1, 1).
MatrixBuffer random_matrix(std::size_t rows, std::size_t cols, unsigned seed);

/// Each part registers its benchmarks; afterwards it prints its own table and adds to the figures.
struct Part {
  void (*register_all)();
  void (*report)(const Times& times, Figures& figures);
};
Part core_part();
Part layer_part();
Part heads_part();
Part product_part();
Part long_text_part();
Part files_part();
Part process_part();

/// The first word of a command line that only asks for write_peak_memory().
constexpr const char* kPeakMemory = "--peak-memory";
/// Runs a command and writes its peak memory in bytes.
void write_peak_memory(const std::string& file, std::vector<std::string> command);

}  // namespace attnviz::bench
