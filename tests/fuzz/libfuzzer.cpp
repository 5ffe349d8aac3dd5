// Passes libFuzzer's inputs to a target. With a folder's name in ATTNVIZ_FUZZ_SEEDS the program
// only writes the target's seeds there, as 0, 1, 2, ….

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "fuzz/fuzz_target.h"
#include "fuzz/time_limit.h"

namespace {

constexpr std::time_t kLongestInput = 2;

// libFuzzer keeps the input of a process that is aborted.
void on_time_limit(int /*number*/) {
  std::fputs("the input takes too long\n", stderr);
  std::abort();
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): libFuzzer's names
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
// NOLINTEND(readability-identifier-naming)

int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  std::signal(SIGPROF, on_time_limit);
  const char* const folder = std::getenv("ATTNVIZ_FUZZ_SEEDS");  // NOLINT(concurrency-mt-unsafe)
  if (folder == nullptr) {
    return 0;
  }
  const std::vector<std::string> seeds = attnviz::test::fuzz_seeds();
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    std::ofstream(std::filesystem::path(folder) / std::to_string(i), std::ios::binary) << seeds[i];
  }
  std::exit(0);  // NOLINT(concurrency-mt-unsafe)
}

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const attnviz::test::TimeLimit limit(kLongestInput);
  attnviz::test::fuzz_input({reinterpret_cast<const char*>(data), size});
  return 0;
}
