// Command lines that make no sense: exit 2, a message that names the option, nothing on stdout.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "attnviz/core/utf8.h"
#include "cli/attnviz_program.h"
#include "support/malformed_weights.h"

namespace attnviz::test {
namespace {

struct Case {
  std::vector<std::string> arguments;
  std::vector<std::string> named;
};

}  // namespace

TEST_CASE("command lines that make no sense end with 2 and say why") {
  const Case cases[] = {
      {{"--hedas", "3", "cat"}, {"--hedas", "\"--heads\""}},
      {{"--sed=3", "cat"}, {"--sed", "\"--seed\""}},
      {{"--tokeniser", "chars", "cat"}, {"\"--tokenizer\""}},
      {{"--colour", "never", "cat"}, {"\"--color\""}},
      {{"render", "a.json", "--scale-by", "0.5"}, {"\"--divide-by\""}},
      {{"-Z", "cat"}, {"-Z"}},
      {{"-qZ", "cat"}, {"-Z"}},
      {{"--focal", "1", "cat"}, {"--focal"}},
      {{"tokenize", "--heads", "3", "cat"}, {"--heads"}},
      {{"weights", "--mask", "none"}, {"--mask"}},
      {{"The", "cat"}, {"\"The\"", "\"cat\""}},
      {{"The", "cat", "sat"}, {"\n  attnviz \"The cat sat\"\n"}},
      {{"tokenise", "cat"}, {"\"tokenize\""}},
      {{"weigths", "-o", "w.json", "x"}, {"\"weights\""}},
      {{"--json", "cat", "tokenize"}, {"\n  attnviz tokenize cat\n"}},
      {{"tokenize", "a", "b"}, {"\"a\"", "\"b\"", "\n  attnviz tokenize \"a b\"\n"}},
      {{"weights", "cat"}, {"weights", "TEXT", "\"cat\""}},
      {{"--random", "-m", "w.json", "cat"}, {"--random", "--model"}},
      {{"-m", "w.json", "--heads", "2", "cat"}, {"--heads", "--model"}},
      {{"-m", "w.json", "--layers", "2", "cat"}, {"--layer"}},
      {{"-m", "w.json", "--kv-heads", "2", "cat"}, {"--kv-heads", "--model"}},
      {{"-m", "w.json", "--d-model", "2", "cat"}, {"--d-model", "--model"}},
      {{"-m", "w.json", "--d-head", "2", "cat"}, {"--d-head", "--model"}},
      {{"-m", "w.json", "--d-value", "2", "cat"}, {"--d-value", "--model"}},
      {{"--heads", "0", "cat"}, {"--heads", "1000000", "\"0\""}},
      {{"--heads", "-1", "cat"}, {"--heads", "\"-1\""}},
      {{"--heads", "2.5", "cat"}, {"--heads", "\"2.5\""}},
      {{"--heads", "two", "cat"}, {"\"two\""}},
      {{"--heads", "1e3", "cat"}, {"--heads", "\"1e3\""}},
      {{"--heads", "99999999999999999999999", "cat"}, {"--heads", "\"99999999999999999999999\""}},
      {{"--layers", "0", "cat"}, {"--layers", "\"0\""}},
      {{"--kv-heads", "0", "cat"}, {"--kv-heads", "\"0\""}},
      {{"--kv-heads", "3", "cat"}, {"kv", "3"}},
      {{"--d-model", "0", "cat"}, {"--d-model", "\"0\""}},
      {{"--d-head", "-5", "cat"}, {"--d-head", "\"-5\""}},
      {{"--d-value", "", "cat"}, {"--d-value", "\"\""}},
      {{"--seed", "-1", "cat"}, {"--seed", "\"-1\""}},
      {{"--seed", "18446744073709551616", "cat"}, {"--seed", "\"18446744073709551616\""}},
      {{"--threads", "0", "cat"}, {"--threads", "\"0\""}},
      {{"--threads", "5000", "cat"}, {"--threads", "\"5000\""}},
      {{"--temperature", "0", "cat"}, {"--temperature", "1e-37", "1e38", "\"0\""}},
      {{"--temperature", "-1", "cat"}, {"--temperature", "\"-1\""}},
      {{"--temperature", "nan", "cat"}, {"--temperature", "\"nan\""}},
      {{"--temperature", "inf", "cat"}, {"--temperature", "\"inf\""}},
      {{"--temperature", "1e-60", "cat"}, {"--temperature", "\"1e-60\""}},
      {{"--temperature", "1.2e-38", "cat"}, {"--temperature", "1e-37", "1e38", "\"1.2e-38\""}},
      {{"--temperature", "2e38", "cat"}, {"--temperature", "1e-37", "1e38", "\"2e38\""}},
      {{"--temperature", "hot", "cat"}, {"--temperature", "\"hot\""}},
      {{"--dropout", "1", "cat"}, {"--dropout", "\"1\""}},
      {{"--dropout", "-0.1", "cat"}, {"--dropout", "\"-0.1\""}},
      {{"--mask", "casual", "cat"}, {"\"causal\""}},
      {{"--mask", "window", "cat"}, {"window:N"}},
      {{"--mask", "window:0", "cat"}, {"window:N"}},
      {{"--mask", "block:x", "cat"}, {"block:x", "block:N"}},
      {{"--positions", "rop", "cat"}, {"\"rope\""}},
      {{"--tokenizer", "word", "cat"}, {"\"words\""}},
      {{"--style", "block", "cat"}, {"\"blocks\""}},
      {{"--color", "yes", "cat"}, {"--color", "auto", "always", "never", "\"yes\""}},
      {{"--simd", "avx99", "cat"}, {"avx99"}},
      {{"--head", "9.9", "cat"}, {"9"}},
      {{"--head", "x", "cat"}, {"x"}},
      {{"--layer", "7", "cat"}, {"7"}},
      {{"--ids", "1,x", "cat"}, {"--ids", "\"1,x\""}},
      {{"--ids", ""}, {"--ids"}},
      {{"--ids", "1,"}, {"--ids"}},
      {{"--ids", "1", "cat"}, {"TEXT", "--ids"}},
      {{"--random", "--ids", "1"}, {"vocabulary"}},
      {{"--positions", "alibi", "cat"}, {"demo", "rope", "--random"}},
      {{"--tokenizer", "words", "cat"}, {"--random"}},
      {{"--ids", "1", "--lines"}, {"--ids", "--lines"}},
      {{"-f", "a.txt", "cat"}, {"--file"}},
      {{"--lines", "--json-lines"}, {"--lines", "--json-lines"}},
      {{"-q", "-v", "cat"}, {"--quiet", "--verbose"}},
      {{"-o", "a.bmp", "cat"}, {"a.bmp", ".png"}},
      {{"-o", "a.json", "-o", "./a.json", "cat"}, {"-o ./a.json"}},
      {{"-o", "a", "cat"}, {".png"}},
      {{"-o", "-", "cat"}, {"-o -", "--format"}},
      {{"-o", "-", "-o", "-", "--format", "png", "cat"}, {"-o -"}},
      {{"-o", "-", "--format", "png", "--json", "cat"}, {"--json", "-o -"}},
      {{"-o", "a.png", "--format", "gif", "cat"},
       {"--format", "png", "svg", "html", "json", "npy", "txt", "\"gif\""}},
      {{"--format", "png", "cat"}, {"--format", "-o"}},
      {{"-o", "a.png", "--format", "json", "cat"}, {"--format", "-o"}},
      {{"-o=a.png", "cat"}, {"-o", "\"=a.png\""}},
      {{"-f=a.txt"}, {"-f", "\"=a.txt\""}},
      {{"weights", "-o", "w.png"}, {"w.png", ".json"}},
      {{"tokenize", "cat", "--style", "ascii"}, {"--style", "attnviz show"}},
      {{"cat", "--heads"}, {"--heads"}},
      {{"cat", "-o"}, {"--output"}},
      {{"cat", "--mask"}, {"--mask", "causal|none"}},
  };
  for (const Case& item : cases) {
    std::string line;
    for (const std::string& word : item.arguments) {
      line += word + ' ';
    }
    CAPTURE(line);
    const TemporaryFolder folder;
    ProgramRun run;
    run.arguments = item.arguments;
    run.folder = folder.path();
    const ProgramResult result = attnviz(run);
    CHECK(result.exit_code == 2);
    CHECK(result.err.starts_with("attnviz: "));
    CHECK(mentions(result.err, item.named));
    CHECK(result.out.empty());
    CHECK(folder.names().empty());
  }
}

TEST_CASE("malformed weights files end with their exit code, and say file and place") {
  const TemporaryFolder folder;
  ProgramRun run;
  run.folder = folder.path();
  run.arguments = {"-m", "w.json", "-o", "a.json", "cat"};
  for (const MalformedWeights& weights : malformed_weights()) {
    CAPTURE(weights.what);
    write_file(folder.file("w.json"), weights.bytes);
    const ProgramResult result = attnviz(run);
    CHECK(result.exit_code == static_cast<int>(weights.kind));
    // What is before the first colon is the place, unless that colon is in a name.
    const std::size_t place = weights.message.find(": ");
    const std::string named = place == std::string::npos ? "" : weights.message.substr(0, place);
    CHECK_MESSAGE(result.err.starts_with("attnviz: " + printable_message("w.json: " + named)),
                  result.err);
    CHECK(result.out.empty());
    CHECK(folder.names() == std::vector<std::string>{"w.json"});
  }
}

TEST_CASE("two names that lead to one file are refused, also before there is one") {
  const TemporaryFolder folder;
  std::filesystem::create_symlink("a.json", folder.file("b.json"));
  ProgramRun run;
  run.folder = folder.path();
  run.arguments = {"-q", "cat", "-o", "a.json", "-o", "b.json"};
  const ProgramResult result = attnviz(run);
  CHECK(result.exit_code == 2);
  CHECK(mentions(result.err, {"-o b.json"}));
  CHECK(folder.names() == std::vector<std::string>{"b.json"});
}

}  // namespace attnviz::test
