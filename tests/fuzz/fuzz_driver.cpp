// Runs a fuzz target without libFuzzer, with the options of libFuzzer that we use:
//
//   TARGET [-max_total_time=SECONDS] [-seed=N] [-runs=N] [FILE | FOLDER]…
//
// The target's seeds, the given files, and those in folders, are run unchanged and then mutated
// (not with -runs=0). An input that ends the process is written to ./crash-SEED; -seed=SEED -runs=1
// generates it again from the same files.

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/fuzz_target.h"
#include "fuzz/mutation.h"
#include "fuzz/time_limit.h"

// From the sanitizers' runtime, which ends the process without a signal.
extern "C" void __sanitizer_set_death_callback(  // NOLINT(readability-identifier-naming)
    void (*callback)()) __attribute__((weak));

namespace {

namespace fs = std::filesystem;

constexpr std::time_t kLongestInput = 10;  // of a debug build

// As they were at the start: a target may change the working folder and the streams.
const fs::path kPlace = fs::current_path();
std::FILE* const kReport = fdopen(dup(STDERR_FILENO), "w");

const std::string* running = nullptr;
std::uint64_t running_seed = 0;

void keep_input() {
  if (running == nullptr) {
    return;
  }
  const std::string name = kPlace / ("crash-" + std::to_string(running_seed));
  std::ofstream(name, std::ios::binary) << *running;
  std::fprintf(kReport, "the input is in %s\n", name.c_str());
  std::fflush(kReport);
  running = nullptr;
}

void on_signal(int number) {
  keep_input();
  std::signal(number, SIG_DFL);
  std::raise(number);
}

void run(const std::string& input, std::uint64_t seed) {
  // A separate copy, so that the sanitizer sees accesses past its end.
  const std::vector<char> bytes(input.begin(), input.end());
  running = &input;
  running_seed = seed;
  {
    const attnviz::test::TimeLimit limit(kLongestInput);
    attnviz::test::fuzz_input({bytes.data(), bytes.size()});
  }
  running = nullptr;
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void add_files(const fs::path& path, std::vector<std::string>& files) {
  if (!fs::is_directory(path)) {
    files.push_back(read_file(path));
    return;
  }
  std::vector<fs::path> found;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) {
      found.push_back(entry.path());
    }
  }
  std::sort(found.begin(), found.end());
  for (const fs::path& file : found) {
    files.push_back(read_file(file));
  }
}

// The number after `option`, if the argument is that option.
bool take_option(std::string_view argument, std::string_view option, std::uint64_t& number) {
  if (!argument.starts_with(option)) {
    return false;
  }
  argument.remove_prefix(option.size());
  const char* const end = argument.data() + argument.size();
  return std::from_chars(argument.data(), end, number).ptr == end;
}

int fuzz(const std::vector<std::string_view>& arguments) {
  std::uint64_t seconds = 0;
  std::uint64_t seed = 1;
  std::uint64_t runs = std::numeric_limits<std::uint64_t>::max();
  std::vector<std::string> files = attnviz::test::fuzz_seeds();
  for (const std::string_view argument : arguments) {
    if (take_option(argument, "-max_total_time=", seconds) ||
        take_option(argument, "-seed=", seed) || take_option(argument, "-runs=", runs)) {
      continue;
    }
    if (!fs::exists(argument)) {
      std::fprintf(stderr, "%s: no such file\n", std::string(argument).c_str());
      return 2;
    }
    add_files(argument, files);
  }
  for (const std::string& file : files) {
    run(file, 0);
  }
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  const std::uint64_t first = seed;
  for (; seed - first < runs &&
         (seconds == 0 || Clock::now() - begin < std::chrono::seconds(seconds));
       ++seed) {
    run(attnviz::test::mutated(files, seed), seed);
  }
  std::printf("%zu files, %llu inputs made of them, no finding\n", files.size(),
              static_cast<unsigned long long>(seed - first));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGABRT, on_signal);
  std::signal(SIGPROF, on_signal);
  if (__sanitizer_set_death_callback != nullptr) {
    __sanitizer_set_death_callback(keep_input);
  }
  try {
    return fuzz(std::vector<std::string_view>(argv + 1, argv + argc));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    std::abort();
  }
}
