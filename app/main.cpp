// The program: parses the words into a command, runs it and returns an exit code.
#include <fmt/core.h>

#include <exception>
#include <filesystem>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/core/mapped_file.h"
#include "commands/commands.h"
#include "options/advice.h"
#include "options/command_line.h"
#include "stores/model_store.h"
#include "stores/store.h"
#include "system/diagnostics.h"
#include "system/output_file.h"
#include "system/process.h"

namespace attnviz::app {

namespace {

void run(const PrintText& print) {
  write_to_stdout(print.text);
}

// An Error's kind is the exit code.
int failed(ErrorKind kind, const Advice& advice) {
  warn(advice);
  return static_cast<int>(kind);
}

// Where fontconfig may keep its lists of fonts, which are slow to make; none without an output.
std::vector<std::filesystem::path> font_lists(const std::vector<std::filesystem::path>& outputs) {
  const auto cache = outputs.empty() ? std::nullopt : cache_home();
  return cache ? std::vector{*cache / "fontconfig"} : std::vector<std::filesystem::path>();
}

int run_program(const std::vector<std::string>& arguments) {
  try {
    reserve_standard_streams();
    install_signal_handlers();
    const CommandLine line = parse_command_line(arguments, names_model);
    const std::vector<std::filesystem::path> outputs = output_paths(line.command);
    const std::string problems = enter_sandbox(outputs, font_lists(outputs));
    if (is_verbose(line.command) && !problems.empty()) {
      warn(problems);
    }
    if (line.max_memory) {
      limit_memory(*line.max_memory);
    }
    std::visit([](const auto& options) { run(options); }, line.command);
    require_whole_files();
    return 0;
  } catch (const ClosedPipe&) {
    return 0;
  } catch (const Error& error) {
    // A file that became shorter may have caused the error.
    if (const std::string name = shortened_file(); !name.empty()) {
      return failed(ErrorKind::kIo, {name + std::string(kBecameShorter)});
    }
    return failed(error.kind(), {with_limit(in_option_names(error.what(), error.parameter())),
                                 AdviceError(error).lines()});
  } catch (const std::bad_alloc&) {
    return failed(ErrorKind::kIo, {std::string(out_of_memory())});
  } catch (const std::filesystem::filesystem_error& error) {
    return failed(ErrorKind::kIo, {fmt::format("{}: cannot read: {}", error.path1().string(),
                                               error.code().message())});
  } catch (const std::exception& error) {
    return failed(ErrorKind::kIo, {std::string("unexpected error: ") + error.what()});
  }
}

}  // namespace

}  // namespace attnviz::app

// Runs before objects with static storage are made, which takes memory too.
[[gnu::constructor(101)]] static void prepare_for_little_memory() {
  attnviz::app::end_without_memory();
}

int main(int argc, char** argv) {
  return attnviz::app::run_program({argv + (argc > 0 ? 1 : 0), argv + argc});
}
