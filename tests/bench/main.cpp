// How fast attnviz is compared with what a program could call instead.
//
//     attnviz_bench                             everything, then tables of ratios
//     attnviz_bench --benchmark_filter=core     some of it
//
// Repetitions are interleaved: if the machine gets slower, it does so for all.
#include <fmt/core.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/kernels/simd.h"
#include "bench/peers.h"
#include "bench/suite.h"

namespace attnviz::bench {

namespace {

// Keeps the medians as well as printing them.
class MedianReporter : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.aggregate_name == "median") {
        times_.note(run.run_name.function_name,
                    run.GetAdjustedRealTime() / benchmark::GetTimeUnitMultiplier(run.time_unit));
      }
    }
    ConsoleReporter::ReportRuns(runs);
  }

  const Times& times() const { return times_; }

 private:
  Times times_;
};

// The libraries read these when they are loaded, so the program restarts itself with them. Settings
// that slow peers down are removed to keep the comparison fair.
void start_again_with_fair_peers(char** arguments) {
  constexpr const char* kDone = "ATTNVIZ_BENCH_ENVIRONMENT";
  if (std::getenv(kDone) == nullptr) {
    for (const char* name : {"OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"}) {
      unsetenv(name);
    }
    for (const char* name : {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", kDone}) {
      setenv(name, "1", 1);
    }
    execv("/proc/self/exe", arguments);
  }
  if (const char* better = better_openblas_core();
      better != nullptr && std::getenv("OPENBLAS_CORETYPE") == nullptr) {
    setenv("OPENBLAS_CORETYPE", better, 1);
    execv("/proc/self/exe", arguments);
  }
}

}  // namespace

int run(int argc, char** argv) {
  if (argc > 3 && argv[1] == std::string_view(kPeakMemory)) {
    write_peak_memory(argv[2], {argv + 3, argv + argc});
    return 0;
  }
  start_again_with_fair_peers(argv);
  std::vector<std::string> words(argv, argv + argc);
  // Before the user's own, which take precedence.
  words.insert(words.begin() + 1,
               {"--benchmark_repetitions=9", "--benchmark_enable_random_interleaving=true",
                "--benchmark_report_aggregates_only=true", "--benchmark_min_time=0.05"});
  std::vector<char*> pointers;
  pointers.reserve(words.size());
  for (std::string& word : words) {
    pointers.push_back(word.data());
  }
  auto count = static_cast<int>(pointers.size());
  benchmark::Initialize(&count, pointers.data());
  if (benchmark::ReportUnrecognizedArguments(count, pointers.data())) {
    return 2;
  }
  const std::vector<Part> parts = {core_part(),      layer_part(), product_part(), heads_part(),
                                   long_text_part(), files_part(), process_part()};
  register_peak();
  for (const Part& part : parts) {
    part.register_all();
  }
  MedianReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  fmt::print("\nSIMD target {}", kernels::active_simd_target());
  if (!openblas_core().empty()) {
    fmt::print(", OpenBLAS as {}", openblas_core());
  }
  fmt::print("\n");
  Figures figures;
  for (const Part& part : parts) {
    part.report(reporter.times(), figures);
  }
  figures.print();
  return 0;
}

}  // namespace attnviz::bench

int main(int argc, char** argv) {
  return attnviz::bench::run(argc, argv);
}
