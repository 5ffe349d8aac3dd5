// Texts whose patterns are too large to be kept.
#include <doctest/doctest.h>

#include <csignal>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/attnviz_program.h"
#include "support/sanitized.h"

namespace attnviz::test {

namespace {

constexpr std::size_t kTokens = 1300;  // of twelve heads: 81 MB
constexpr std::size_t kPattern = kTokens * kTokens * sizeof(float);
constexpr std::size_t kNpyHeader = 128;

std::string words(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text += "word" + std::to_string(i % 97) + ' ';
  }
  return text;
}

ProgramRun twelve_heads(const TemporaryFolder& folder) {
  write_file(folder.file("words.txt"), words(kTokens));
  ProgramRun run;
  run.arguments = {"-f", folder.file("words.txt"), "--heads", "12", "--d-head", "8"};
  return run;
}

}  // namespace

TEST_CASE("large patterns reach their files with the bits that a single head has") {
  const TemporaryFolder folder;
  for (const char* mask : {"causal", "window:40"}) {
    ProgramRun all = twelve_heads(folder);
    for (const char* word : {"--mask", mask, "-o"}) {
      all.arguments.emplace_back(word);
    }
    ProgramRun one = all;
    all.arguments.push_back(folder.file("all.npy"));
    one.arguments.push_back(folder.file("one.npy"));
    one.arguments.emplace_back("--head");
    one.arguments.emplace_back("0.7");
    const ProgramResult result = attnviz(all);
    CHECK(result.exit_code == 0);
    CHECK(contains(result.out, "pooled"));
    CHECK(attnviz(one).exit_code == 0);
    const std::string whole = read_file(folder.file("all.npy"));
    const std::string single = read_file(folder.file("one.npy"));
    REQUIRE(whole.size() == kNpyHeader + 12 * kPattern);
    REQUIRE(single.size() == kNpyHeader + kPattern);
    CHECK(whole.compare(kNpyHeader + 7 * kPattern, kPattern, single, kNpyHeader) == 0);
  }
}

TEST_CASE("large patterns: an interrupt in the middle leaves no half file") {
  const TemporaryFolder folder;
  ProgramRun run = twelve_heads(folder);
  run.arguments.insert(run.arguments.end(), {"--json", "-o", folder.file("a.npy")});
  run.signal_after_output = SIGINT;
  CHECK(attnviz(run).exit_code == 130);
  CHECK(folder.names() == std::vector<std::string>{"words.txt"});
}

TEST_CASE("large patterns: a reader that goes away does not cost the file") {
  const TemporaryFolder folder;
  ProgramRun run = twelve_heads(folder);
  run.arguments.insert(run.arguments.end(), {"--json", "-o", folder.file("a.npy"), "--mask"});
  run.arguments.emplace_back("window:3");
  run.stdout_limit = 100;
  CHECK(attnviz(run).exit_code == 0);
  CHECK(read_file(folder.file("a.npy")).size() == kNpyHeader + 12 * kPattern);
}

TEST_CASE("large patterns: a full disk is an error, and nothing is left") {
  const TemporaryFolder folder;
  ProgramRun run = twelve_heads(folder);
  run.arguments.insert(run.arguments.end(), {"--format", "npy", "-o", "/dev/full"});
  run.arguments.insert(run.arguments.end(), {"-o", folder.file("a.npy")});
  const ProgramResult result = attnviz(run);
  CHECK(result.exit_code == 1);
  CHECK(mentions(result.err, {"/dev/full"}));
  CHECK(folder.names() == std::vector<std::string>{"words.txt"});
}

TEST_CASE("large patterns: standard output on a full disk is an error, but keeps the files") {
  const TemporaryFolder folder;
  ProgramRun run = twelve_heads(folder);
  run.arguments.insert(run.arguments.end(), {"--json", "-o", folder.file("a.npy")});
  run.stdout_path = "/dev/full";
  const ProgramResult result = attnviz(run);
  CHECK(result.exit_code == 1);
  CHECK(contains(result.err, "standard output"));
  CHECK(read_file(folder.file("a.npy")).size() == kNpyHeader + 12 * kPattern);
}

TEST_CASE("large patterns: an array that heads do not fill is refused before anything is written") {
  const TemporaryFolder folder;
  ProgramRun run = twelve_heads(folder);
  run.arguments.insert(run.arguments.end(),
                       {"--layers", "2", "--head", "0.*,1.3", "--json", "--range", "auto"});
  run.arguments.insert(run.arguments.end(), {"-o", folder.file("a.npy")});
  const ProgramResult result = attnviz(run);
  CHECK(result.exit_code == 2);
  CHECK(mentions(result.err, {".npy"}));
  CHECK(result.out.empty());
  CHECK(folder.names() == std::vector<std::string>{"words.txt"});
}

TEST_CASE("slow work shows its progress on a terminal, and leaves no trace of that") {
  if (kSanitized) {
    MESSAGE("SKIPPED: with a sanitizer work takes far too long");
    return;
  }
  const TemporaryFolder folder;
  write_file(folder.file("words.txt"), words(14000));
  ProgramRun run;
  run.arguments = {"-f",        folder.file("words.txt"),
                   "--heads",   "4",
                   "--d-head",  "64",
                   "--mask",    "none",
                   "--threads", "1"};
  CHECK(attnviz(run).err.find(" left") == std::string::npos);
  run.tty_columns = 100;
  run.stderr_is_tty = true;
  const ProgramResult result = attnviz(run);
  CHECK(result.exit_code == 0);
  const std::size_t progress = result.out.find("\rattnviz: attention ");
  REQUIRE(progress != std::string::npos);
  CHECK(mentions(result.out.substr(progress, 47), {" %, ", " left"}));
  const std::size_t last = result.out.rfind(" left");
  const std::size_t erased = result.out.find("\r" + std::string(46, ' ') + "\r", last);
  CHECK(erased < last + 60);
  run.tty_columns = 46;  // it would be wrapped
  CHECK(!contains(attnviz(run).out, " left"));
}

TEST_CASE("weights that would take more than 10 GB are refused before anything is computed") {
  const TemporaryFolder folder;
  write_file(folder.file("long.txt"), words(60'000));
  const std::vector<std::string> long_text = {"--random", "-f", folder.file("long.txt")};
  const auto refused = [](const ProgramRun& run, const std::vector<std::string>& sizes) {
    const ProgramResult result = attnviz(run);
    CHECK(result.exit_code == 2);
    CHECK(result.out.empty());
    CHECK(mentions(result.err, sizes));
    CHECK(mentions(result.err, {"--head 0.0", "--force"}));
  };
  // 4 heads of 60,000² weights: 4 bytes each in an array, about 10 in JSON.
  ProgramRun run;
  run.arguments = long_text;
  run.arguments.insert(run.arguments.end(), {"-o", folder.file("a.npy")});
  refused(run, {"4 heads", "60000 tokens", "58 GB"});
  CHECK_FALSE(std::filesystem::exists(folder.file("a.npy")));
  run.arguments.emplace_back("--json");
  refused(run, {"194 GB"});
  // Masked weights are shorter in JSON, and as long in an array.
  for (const auto& [mask, bytes] : {std::pair("none", "259 GB"), {"window:4", "130 GB"}}) {
    ProgramRun masked = run;
    masked.arguments.insert(masked.arguments.end(), {"--mask", mask});
    refused(masked, {bytes});
  }
  ProgramRun lines;
  lines.arguments = {"--random", "--lines", "--json", "-q"};
  lines.input = "The cat\n" + words(60'000) + "\n";
  const ProgramResult second = attnviz(lines);
  CHECK(second.exit_code == 2);
  CHECK(mentions(second.err, {"line 2", "4 heads", "60000 tokens"}));
}

TEST_CASE(
    "weights of many texts in one file are refused when all of them would take more than 10 GB") {
  const TemporaryFolder folder;
  ProgramRun run;
  // A causal head takes about 9.5 n² + 4.5 n bytes in JSON: the second text alone 29 kB less than
  // what is refused, the first 857 kB.
  run.input = words(300) + "\n" + words(32'444) + "\n";
  run.arguments = {"--random", "--heads", "1", "--lines", "-q", "-o", folder.file("a.json")};
  const ProgramResult result = attnviz(run);
  CHECK(result.exit_code == 2);
  CHECK(mentions(result.err, {"line 2", "1 head", "32444 tokens", "10 GB"}));
  CHECK(folder.names().empty());
}

TEST_CASE("--force writes weights of any size") {
  const TemporaryFolder folder;
  write_file(folder.file("long.txt"), words(60'000));
  ProgramRun run;
  // Then the next error is reported: these heads are not a rectangle.
  run.arguments = {"--random", "-f", folder.file("long.txt"), "--layers", "2", "--head",
                   "0.0,1.1",  "-o", folder.file("a.npy")};
  CHECK(mentions(attnviz(run).err, {"29 GB"}));
  run.arguments.emplace_back("--force");
  CHECK(mentions(attnviz(run).err, {".npy"}));
}

}  // namespace attnviz::test
