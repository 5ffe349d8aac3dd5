// What the parts of the benchmark share: registering, medians, and the table of figures.
#pragma once

#include <benchmark/benchmark.h>

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "attnviz/core/tensor.h"

namespace attnviz::bench {

/// Registers something that is timed in milliseconds of real time. Names have parts:
/// "core/attnviz".
void add(const std::string& name, const std::function<void(benchmark::State&)>& run);

/// Times `work` after a first time that does not count: memory is fresh then, and the system clears
/// it.
template <class Work>
void repeat(benchmark::State& state, const Work& work) {
  work();
  for ([[maybe_unused]] auto _ : state) {
    work();
    benchmark::ClobberMemory();
  }
}

/// The median times of what ran, by name.
class Times {
 public:
  void note(const std::string& name, double seconds) { seconds_[name] = seconds; }

  /// Seconds; 0 when it did not run.
  double operator()(const std::string& name) const;
  /// How many times as long as `name` the other one took; 0 when one of them did not run.
  double ratio(const std::string& other, const std::string& name) const;
  /// Percent of what multiply-adds on registers alone reach, for `operations` in the time of
  /// `name`.
  double share_of_peak(const std::string& name, double operations) const;
  /// How many times the work of one thread two of them do with the same multiply-adds, while
  /// whatever else runs on the machine runs.
  double peak_of_two_threads() const;

 private:
  std::map<std::string, double> seconds_;
};

/// The table of what is to be reached: each line a number beside the one that is wanted.
class Figures {
 public:
  void at_least(const std::string& what, double found, double wanted, const char* unit);
  void at_most(const std::string& what, double found, double wanted, const char* unit);
  /// Lines of what did not run (found 0) are left out.
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

/// A part registers what it times; afterwards it prints its own table and adds to the figures.
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
/// Runs a command and writes how many bytes it took at most.
void write_peak_memory(const std::string& file, std::vector<std::string> command);

}  // namespace attnviz::bench
