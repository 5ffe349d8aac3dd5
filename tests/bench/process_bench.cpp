// The program as a whole process: from its start to its end, and the memory it took.
#include <fcntl.h>
#include <fmt/core.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/model/random_model.h"
#include "attnviz/model/stored_model.h"
#include "bench/suite.h"
#include "support/run_program.h"

namespace attnviz::bench {

namespace {

// Removed with its contents when the benchmark ends.
const test::TemporaryFolder& folder() {
  static const test::TemporaryFolder shared;
  return shared;
}

// Its peak memory in bytes; at least this process's own, which a new one begins with.
double run_process(std::vector<std::string> words) {
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int error =
      posix_spawn(&child, arguments.front(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  rusage usage{};
  if (error != 0 || wait4(child, &status, 0, &usage) < 0 || status != 0) {
    throw std::runtime_error("cannot run " + words.front());
  }
  constexpr double kKibibyte = 1024.0;
  return static_cast<double>(usage.ru_maxrss) * kKibibyte;
}

// Through a small process in between, so that this one's memory does not count.
double peak_memory(std::vector<std::string> command) {
  const std::string file = folder().file("memory");
  command.insert(command.begin(), {"/proc/self/exe", kPeakMemory, file});
  run_process(std::move(command));
  double bytes = 0.0;
  std::ifstream(file) >> bytes;
  return bytes;
}

// A copy, as made by an installation: a file that a linker wrote piece by piece is cached in single
// pages, whose faults take longer.
std::string installed() {
  std::string copy = folder().file("attnviz");
  std::filesystem::copy_file(ATTNVIZ_PROGRAM, copy, std::filesystem::copy_options::skip_existing);
  return copy;
}

std::vector<std::string> program(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), installed());
  return arguments;
}

std::string words(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text += fmt::format("{}word{}", i == 0 ? "" : " ", i * 7919 % 3000);
  }
  return text;
}

// The embedded model: its tokenizer, four layers, and the drawing of 16 heads.
std::vector<std::string> quick_start() {
  return program({"-q", "The cat sat on the mat because it was tired"});
}

// The cost without a model: the process itself, and the drawing of four heads.
std::vector<std::string> random_weights() {
  return program({"-q", "--random", "The cat sat on the mat"});
}

std::vector<std::string> labelled_picture() {
  return program({"-q", "--heads", "12", words(64), "-o", folder().file("a.png")});
}

std::vector<std::string> long_text() {
  const std::string text = folder().file("long.txt");
  std::ofstream(text) << words(32768);
  return program(
      {"-q", "--heads", "1", "--d-head", "64", "-f", text, "-o", folder().file("long.png")});
}

// A model whose weights take about 50 MB of JSON, and the bytes of its floats.
std::pair<std::vector<std::string>, double> large_weights() {
  RandomShape shape;
  shape.n_layers = 2;
  shape.n_heads = 12;
  shape.d_head = 64;
  const Model model = random_model(shape, /*seed=*/1);
  const std::string file = folder().file("weights.json");
  std::ofstream out(file);
  write_weights_json(model, [&out](std::string_view bytes) { out << bytes; });
  double floats = 0.0;
  for (const LayerWeights& layer : model.layers) {
    for (const HeadWeights& head : layer.heads) {
      floats += static_cast<double>(head.query.weight.rows * head.query.weight.cols +
                                    head.key.weight.rows * head.key.weight.cols +
                                    head.value.weight.rows * head.value.weight.cols +
                                    head.output.rows * head.output.cols);
    }
    floats += static_cast<double>(layer.output.weight.rows * layer.output.weight.cols);
  }
  return {program({"-q", "-m", file, "x"}), floats * sizeof(float)};
}

void timed(const char* name, std::vector<std::string> (*command)()) {
  add(name, [command](benchmark::State& state) {
    const std::vector<std::string> words = command();
    for ([[maybe_unused]] auto _ : state) {
      run_process(words);
    }
  });
}

void register_all() {
  timed("process/nothing", [] { return std::vector<std::string>{"/bin/true"}; });
  timed("process/quick start", quick_start);
  timed("process/random weights", random_weights);
  timed("process/labelled picture", labelled_picture);
}

void report(const Times& times, Figures& figures) {
  constexpr double kMilli = 1e3;
  constexpr double kMega = 1e-6;
  if (times("process/nothing") == 0.0) {
    return;
  }
  fmt::print("\nan empty process takes {:.2f} ms here\n", times("process/nothing") * kMilli);
  figures.at_most("process start to grid, quick start", times("process/quick start") * kMilli, 3,
                  "ms");
  figures.at_most("process start to grid, random weights", times("process/random weights") * kMilli,
                  1.6, "ms");
  figures.at_most("12 heads, 64 tokens, labelled PNG, whole process",
                  times("process/labelled picture") * kMilli, 6, "ms");
  figures.at_most("32,768 tokens, one head to a PNG, peak memory", peak_memory(long_text()) * kMega,
                  250, "MB");
  const auto [load, floats] = large_weights();
  figures.at_most("50 MB of weights JSON, memory over the floats' bytes",
                  (peak_memory(load) - peak_memory(random_weights())) / floats, 3, "x");
}

}  // namespace

void write_peak_memory(const std::string& file, std::vector<std::string> command) {
  std::ofstream(file) << run_process(std::move(command));
}

Part process_part() {
  return {register_all, report};
}

}  // namespace attnviz::bench
