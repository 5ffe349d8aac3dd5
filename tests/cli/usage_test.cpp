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
  const char* message;
};

}  // namespace

TEST_CASE("command lines that make no sense end with 2 and say why") {
  const Case cases[] = {
      {{"--hedas", "3", "cat"}, "unknown option --hedas (did you mean \"--heads\"?)"},
      {{"--sed=3", "cat"}, "unknown option --sed (did you mean \"--seed\"?)"},
      {{"--tokeniser", "chars", "cat"}, "did you mean \"--tokenizer\""},
      {{"--colour", "never", "cat"}, "did you mean \"--color\""},
      {{"render", "a.json", "--scale-by", "0.5"}, "did you mean \"--divide-by\""},
      {{"-Z", "cat"}, "unknown option -Z"},
      {{"-qZ", "cat"}, "unknown option -Z"},
      {{"--focal", "1", "cat"}, "unknown option --focal"},
      {{"tokenize", "--heads", "3", "cat"}, "unknown option --heads"},
      {{"weights", "--mask", "none"}, "unknown option --mask"},
      {{"The", "cat"}, "more than one TEXT, \"The\" and \"cat\""},
      {{"The", "cat", "sat"}, "quote the sentence"},
      {{"tokenise", "cat"}, "did you mean \"tokenize\""},
      {{"weigths", "-o", "w.json", "x"}, "did you mean \"weights\""},
      {{"--json", "cat", "tokenize"}, "the command comes first:\n  attnviz tokenize cat\n"},
      {{"tokenize", "a", "b"}, "more than one TEXT"},
      {{"weights", "cat"}, "weights takes no TEXT, found \"cat\""},
      {{"--random", "-m", "w.json", "cat"}, "--random and --model exclude each other"},
      {{"-m", "w.json", "--heads", "2", "cat"}, "--heads and --model exclude each other"},
      {{"-m", "w.json", "--layers", "2", "cat"}, "--layer chooses"},
      {{"-m", "w.json", "--kv-heads", "2", "cat"}, "--kv-heads and --model exclude"},
      {{"-m", "w.json", "--d-model", "2", "cat"}, "--d-model and --model exclude"},
      {{"-m", "w.json", "--d-head", "2", "cat"}, "--d-head and --model exclude"},
      {{"-m", "w.json", "--d-value", "2", "cat"}, "--d-value and --model exclude"},
      {{"--heads", "0", "cat"}, "--heads: expected a whole number from 1 to 1000000, found \"0\""},
      {{"--heads", "-1", "cat"}, "--heads: expected a whole number"},
      {{"--heads", "2.5", "cat"}, "--heads: expected a whole number"},
      {{"--heads", "two", "cat"}, "found \"two\""},
      {{"--heads", "1e3", "cat"}, "--heads: expected a whole number"},
      {{"--heads", "99999999999999999999999", "cat"}, "--heads: expected a whole number"},
      {{"--layers", "0", "cat"}, "--layers: expected"},
      {{"--kv-heads", "0", "cat"}, "--kv-heads: expected"},
      {{"--kv-heads", "3", "cat"}, "kv"},
      {{"--d-model", "0", "cat"}, "--d-model: expected"},
      {{"--d-head", "-5", "cat"}, "--d-head: expected"},
      {{"--d-value", "", "cat"}, "--d-value: expected"},
      {{"--seed", "-1", "cat"}, "--seed: expected"},
      {{"--seed", "18446744073709551616", "cat"}, "--seed: expected"},
      {{"--threads", "0", "cat"}, "--threads: expected"},
      {{"--threads", "5000", "cat"}, "--threads: expected"},
      {{"--temperature", "0", "cat"}, "--temperature: expected a number from 1e-37 to 1e38"},
      {{"--temperature", "-1", "cat"}, "--temperature: expected"},
      {{"--temperature", "nan", "cat"}, "--temperature: expected"},
      {{"--temperature", "inf", "cat"}, "--temperature: expected"},
      {{"--temperature", "1e-60", "cat"}, "--temperature: expected"},
      {{"--temperature", "1.2e-38", "cat"}, "--temperature: expected a number from 1e-37 to 1e38"},
      {{"--temperature", "2e38", "cat"}, "--temperature: expected a number from 1e-37 to 1e38"},
      {{"--temperature", "hot", "cat"}, "--temperature: expected"},
      {{"--dropout", "1", "cat"}, "--dropout: expected a number from 0 to below 1"},
      {{"--dropout", "-0.1", "cat"}, "--dropout: expected"},
      {{"--mask", "casual", "cat"}, "did you mean \"causal\""},
      {{"--mask", "window", "cat"}, "window:N"},
      {{"--mask", "window:0", "cat"}, "window:N"},
      {{"--mask", "block:x", "cat"}, "block:N"},
      {{"--positions", "rop", "cat"}, "did you mean \"rope\""},
      {{"--tokenizer", "word", "cat"}, "did you mean \"words\""},
      {{"--style", "block", "cat"}, "did you mean \"blocks\""},
      {{"--color", "yes", "cat"}, "--color: expected auto, always, never"},
      {{"--simd", "avx99", "cat"}, "avx99"},
      {{"--head", "9.9", "cat"}, "9"},
      {{"--head", "x", "cat"}, "x"},
      {{"--layer", "7", "cat"}, "7"},
      {{"--ids", "1,x", "cat"}, "--ids: expected token ids"},
      {{"--ids", ""}, "--ids: expected token ids"},
      {{"--ids", "1,"}, "--ids: expected token ids"},
      {{"--ids", "1", "cat"}, "TEXT and --ids exclude each other"},
      {{"--random", "--ids", "1"}, "vocabulary"},
      {{"--positions", "alibi", "cat"}, "demo has positions of its own: rope; --random takes"},
      {{"--tokenizer", "words", "cat"}, "leave the option out, or give --random"},
      {{"--ids", "1", "--lines"}, "--ids and --lines exclude each other"},
      {{"-f", "a.txt", "cat"}, "TEXT and --file exclude each other"},
      {{"--lines", "--json-lines"}, "--lines and --json-lines exclude each other"},
      {{"-q", "-v", "cat"}, "--quiet and --verbose exclude each other"},
      {{"-o", "a.bmp", "cat"}, "a.bmp: expected a name that ends in .png"},
      {{"-o", "a.json", "-o", "./a.json", "cat"}, "-o ./a.json: given twice"},
      {{"-o", "a", "cat"}, "expected a name that ends in .png"},
      {{"-o", "-", "cat"}, "-o - needs --format"},
      {{"-o", "-", "-o", "-", "--format", "png", "cat"}, "-o - may be given once"},
      {{"-o", "-", "--format", "png", "--json", "cat"}, "--json and -o - exclude each other"},
      {{"-o", "a.png", "--format", "gif", "cat"},
       "--format: expected png, svg, html, json, npy, txt"},
      {{"--format", "png", "cat"}, "--format goes with -o"},
      {{"-o", "a.png", "--format", "json", "cat"}, "--format: the endings of the -o names say it"},
      {{"-o=a.png", "cat"}, "leave out the ="},
      {{"-f=a.txt"}, "leave out the ="},
      {{"weights", "-o", "w.png"}, "weights are written as .json"},
      {{"tokenize", "cat", "--style", "ascii"},
       "unknown option --style; it belongs to attnviz show"},
      {{"cat", "--heads"}, "--heads needs a value: N"},
      {{"cat", "-o"}, "--output needs a value: FILE"},
      {{"cat", "--mask"}, "--mask needs a value: causal|none"},
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
    CHECK_MESSAGE(contains(result.err, item.message), result.err);
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
    const std::string expected = "attnviz: " + printable_message("w.json: " + weights.message);
    CHECK_MESSAGE(result.err.starts_with(expected), result.err);
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
  CHECK(result.err.find("-o b.json: given twice") != std::string::npos);
  CHECK(folder.names() == std::vector<std::string>{"b.json"});
}

}  // namespace attnviz::test
