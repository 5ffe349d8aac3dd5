// --max-memory: estimated in advance, kept during the run.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/attnviz_program.h"
#include "support/sanitized.h"

namespace attnviz::test {
namespace {

using Words = std::vector<std::string>;

// n different words.
std::string words(std::size_t n) {
  std::string text;
  for (std::size_t i = 0; i < n; ++i) {
    text += "w" + std::to_string(i) + ' ';
  }
  return text;
}

ProgramResult limited(const std::string& limit, Words arguments, const std::string& text = {}) {
  arguments.insert(arguments.end(), {"--max-memory", limit});
  return attnviz(arguments, text);
}

bool skipped() {
  if (kSanitized) {
    MESSAGE("SKIPPED: a sanitizer takes more memory than the limits of this test");
  }
  return kSanitized;
}

}  // namespace

TEST_CASE("--max-memory: an estimate that is larger is refused, with what would fit") {
  if (skipped()) {
    return;
  }
  // 8 sums and a mean of 2,000² numbers of four bytes.
  const Words means = {"--random", "--heads", "4", "--average", "heads", "-q"};
  const ProgramResult result = limited("48M", means, words(2000));
  CHECK(result.exit_code == 2);
  CHECK(mentions(result.err, {"4 heads", "2000 tokens", "MB", "--max-memory"}));
  CHECK(result.out.empty());

  const Words scores = {"--random", "--heads", "16", "--show", "scores", "-q", "--json"};
  const ProgramResult heads = limited("64M", scores, words(1000));
  CHECK(heads.exit_code == 2);
  CHECK(mentions(heads.err, {"--head 0.0"}));
}

TEST_CASE("--max-memory: sums of scores are estimated, too") {
  if (skipped()) {
    return;
  }
  const ProgramResult result = limited("60M",
                                       {"heads", "-", "--random", "--layers", "8", "--heads", "16",
                                        "--d-head", "8", "--mask", "window:8", "-q"},
                                       words(40000));
  CHECK(result.exit_code == 2);
  CHECK(mentions(result.err, {"scoring 128 heads", "40000 tokens"}));
}

TEST_CASE(
    "--max-memory: the number of tokens that a refusal names does fit, with the same result") {
  if (skipped()) {
    return;
  }
  const Words arguments = {"--random", "--heads", "4", "--average", "heads", "--json", "-q"};
  const std::string said = limited("48M", arguments, words(2000)).err;
  // The last number of tokens in the message is how many fit.
  const std::size_t at = said.rfind(" tokens");
  REQUIRE(at != std::string::npos);
  const std::size_t fits = std::stoul(said.substr(said.find_last_not_of("0123456789", at - 1) + 1));
  CHECK(fits > 500);
  CHECK(fits < 2000);
  const ProgramResult result = limited("48M", arguments, words(fits));
  CHECK(result.exit_code == 0);
  const bool same = result.out == attnviz(arguments, words(fits)).out;
  CHECK(same);
}

TEST_CASE("--max-memory: a run that exceeds its estimate ends with a message") {
  if (skipped()) {
    return;
  }
  const TemporaryFolder folder;
  const Words picture = {
      "a b c d", "--random", "--layers", "1",  "--heads",           "1", "--dpi", "600",
      "--cell",  "400",      "-q",       "-o", folder.file("a.png")};
  for (const ProgramResult& result :
       {limited("32M", {"tokenize", "--json", "-q"}, words(1'000'000)),
        limited("32M", {"--random", "--json", "-q"}, words(5'000'000)), limited("32M", picture)}) {
    CHECK(result.exit_code == 1);
    CHECK(mentions(result.err, {"--max-memory", "33 MB"}));
    CHECK(result.out.empty());
  }
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("--max-memory: streamed work stays under it at any length") {
  if (skipped()) {
    return;
  }
  const TemporaryFolder folder;
  std::string lines;
  for (int i = 0; i < 20000; ++i) {
    lines += "The cat sat on mat " + std::to_string(i) + '\n';
  }
  const ProgramResult texts = limited("32M", {"--random", "--lines", "--json", "-q"}, lines);
  CHECK(texts.exit_code == 0);
  CHECK(std::count(texts.out.begin(), texts.out.end(), '\n') == 20000);
  // Kept whole, the weights would be 24 · 5,000² · 4 bytes = 2.4 GB.
  const Words picture = {"--random", "--layers", "2",  "--heads",
                         "12",       "-q",       "-o", folder.file("a.png")};
  CHECK(limited("96M", picture, words(5000)).exit_code == 0);
}

TEST_CASE("--max-memory: sizes as GNU's tools write them") {
  for (const char* const size : {"", "M", "3x", "-1G", "1e9G", "2GBB", "nan", "5 5M", "2i"}) {
    CAPTURE(size);
    const ProgramResult result = attnviz({"tokenize", "a", "--max-memory", size});
    CHECK(result.exit_code == 2);
    CHECK(contains(result.err, "--max-memory"));
  }
  const ProgramResult small = attnviz({"tokenize", "a", "--max-memory", "1M"});
  CHECK(small.exit_code == 2);
  CHECK(mentions(small.err, {"--max-memory", "32M", "\"1M\""}));
  if (skipped()) {
    return;
  }
  for (const char* const size : {"1500M", "2G", "1.5GiB", "0.1T", "64MB", "50000000", "500000K"}) {
    CAPTURE(size);
    CHECK(attnviz({"tokenize", "a", "--max-memory", size}).exit_code == 0);
  }
}

TEST_CASE("an estimate knows the limits that a shell gives the program") {
  if (skipped()) {
    return;
  }
  const TemporaryFolder folder;
  write_file(folder.file("a.txt"), words(8000));
  for (const char* limit : {"-d", "-v"}) {
    CAPTURE(limit);
    const ProgramResult result = in_shell(
        folder,
        std::string("ulimit ") + limit +
            " 200000; exec \"$PROGRAM\" --random --tokenizer words -f a.txt -q --average all");
    CHECK(result.exit_code == 2);
    CHECK(mentions(result.err, {"8000 tokens", "MB"}));
  }
}

}  // namespace attnviz::test
