// Where texts come from.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "cli/attnviz_program.h"
#include "support/json.h"
#include "support/repeated.h"
#include "support/sanitized.h"

namespace attnviz::test {
namespace {

using nlohmann::json;

json tokens_of(std::vector<std::string> arguments, std::string input = {}) {
  arguments.insert(arguments.begin(), "tokenize");
  return attnviz_json(std::move(arguments), std::move(input));
}

}  // namespace

TEST_CASE("a TEXT, standard input, - and a file give the same") {
  const TemporaryFolder folder;
  write_file(folder.file("cat.txt"), "The cat sat\n");
  const std::string expected = attnviz({"The cat sat"}).out;
  CHECK(!expected.empty());
  CHECK(attnviz({}, "The cat sat\n").out == expected);
  CHECK(attnviz({"-"}, "The cat sat").out == expected);
  CHECK(attnviz({"-f", folder.file("cat.txt")}).out == expected);
  CHECK(attnviz({"-f", "-"}, "The cat sat\n").out == expected);
  CHECK(attnviz({"--file", folder.file("cat.txt")}).out == expected);
}

TEST_CASE("the line end that closes a file is not a token, line ends inside are") {
  CHECK(tokens_of({"--tokenizer", "chars"}, "a\nb\n")["tokens"] == json({"a", "\n", "b"}));
  CHECK(tokens_of({"--tokenizer", "chars"}, "a\r\n")["tokens"] == json({"a"}));
  CHECK(tokens_of({"--tokenizer", "chars", "a\n"})["tokens"] == json({"a", "\n"}));
}

TEST_CASE("a byte order mark that begins a file is not part of the text") {
  const std::string mark = "\xEF\xBB\xBF";
  CHECK(tokens_of({"--tokenizer", "words"}, mark + "The cat")["tokens"] == json({"The", "cat"}));
  CHECK(tokens_of({"--tokenizer", "words", "--lines"}, mark + "The cat\n")["tokens"] ==
        json({"The", "cat"}));
}

TEST_CASE("a command's name is a text after show or --") {
  CHECK(attnviz_json({"show", "--random", "tokenize"})["tokens"] == json({"tokenize"}));
  CHECK(attnviz_json({"show", "--random", "show"})["tokens"] == json({"show"}));
  const ProgramResult run = attnviz({"--random", "--json", "--", "tokenize"});
  CHECK(parse_json(run.out)["tokens"] == json({"tokenize"}));
  CHECK(tokens_of({"--tokenizer", "words", "tokenize"})["tokens"] == json({"tokenize"}));
}

TEST_CASE("texts that look like options, brackets or numbers are taken as they are") {
  const auto text_of = [](const char* text) {
    return parse_json(attnviz({"tokenize", "--json", "--", text}).out)["text"];
  };
  for (const char* text : {"--help", "-q", "[CLS]", "[a,b]", "{}", "%%", "a=b", "'quoted'", "\"q\"",
                           "a\tb", "-1", "--", "~/x", "$HOME"}) {
    CAPTURE(std::string(text));
    CHECK(text_of(text) == text);
  }
  for (const char* text : {"[CLS]", "-5 degrees", "- item", "/usr/bin", "a,b", "@file"}) {
    CAPTURE(std::string(text));
    CHECK(tokens_of({text})["text"] == text);
  }
}

TEST_CASE("--lines reads each line as a text, answers each with a line, and skips blank ones") {
  const ProgramResult run =
      attnviz({"--random", "--lines", "--json"}, "The cat\n\n  \nsat\r\non the mat");
  const auto lines = lines_of(run.out);
  REQUIRE(lines.size() == 3);
  CHECK(parse_json(lines[0])["tokens"] == json({"The", "cat"}));
  CHECK(parse_json(lines[1])["text"] == "sat");
  CHECK(parse_json(lines[1])["line"] == 4);
  CHECK(parse_json(lines[2])["tokens"].size() == 3);
  CHECK(mentions(run.err, {"line 2"}));
  CHECK(run.exit_code == 0);
}

TEST_CASE("documents of --json-lines have the line number of their text, counting skipped lines") {
  const std::string texts = "\"a b\"\n\n{\"text\": \"\"}\n{\"text\": \"c d\"}\n";
  const auto numbers = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--json-lines", "--json", "-q"});
    std::vector<json> all;
    for (const std::string& line : lines_of(attnviz(arguments, texts).out)) {
      all.push_back(parse_json(line)["line"]);
    }
    return all;
  };
  const std::vector<json> wanted = {1, 4};
  CHECK(numbers({"show"}) == wanted);
  CHECK(numbers({"show", "--max-memory", kSanitized ? "8G" : "60M"}) == wanted);
  CHECK(numbers({"tokenize"}) == wanted);
  CHECK(numbers({"rollout"}) == wanted);
  CHECK(numbers({"--average", "heads"}) == wanted);
  CHECK(mentions(attnviz({"--json-lines", "--json"}, texts + "3\n").err, {"line 5"}));
  CHECK_FALSE(attnviz_json({"a b"}).contains("line"));
}

TEST_CASE("--lines: an error about a text names its line, and what came before it is answered") {
  std::string long_line;
  for (int i = 0; i < 300; ++i) {
    long_line += "the cat ";
  }
  const ProgramResult run = attnviz({"--lines", "--json"}, "The cat\n\n" + long_line + "\nsat\n");
  CHECK(run.exit_code == 2);
  CHECK(lines_of(run.out).size() == 1);
  CHECK(mentions(run.err, {"attnviz", "line 3", "demo"}));
  CHECK_FALSE(contains(attnviz({long_line}).err, "line"));
  CHECK(contains(attnviz({"--lines", "--focus", "cat"}, "a cat\na dog\n").err, "line 2: --focus"));
  CHECK(contains(attnviz({"tokenize", "--json-lines"}, "\"a\"\n{\"ids\": [99999]}\n").err,
                 "standard input: line 2: "));
}

TEST_CASE("--lines answers a line before the next one is there") {
  ProgramRun run;
  run.arguments = {"--random", "--lines", "--json", "-q"};
  run.input = "The cat\n";
  run.signal_after_output = 15;  // input stays open: only a flushed answer ends this
  const ProgramResult result = attnviz(run);
  CHECK(result.exit_code == 130);
  CHECK(parse_json(result.out)["tokens"] == json({"The", "cat"}));
}

TEST_CASE("--lines draws one after another, each under its text, with a blank line between") {
  const std::string one = attnviz({"The cat"}).out;
  const std::string two = attnviz({"sat"}).out;
  CHECK(attnviz({"--lines"}, "The cat\nsat\n").out ==
        "line 1: The cat\n\n" + one + "\nline 2: sat\n\n" + two);
  CHECK(attnviz({"--lines", "The cat\nsat"}).out ==
        "line 1: The cat\n\n" + one + "\nline 2: sat\n\n" + two);
}

TEST_CASE("--json-lines takes strings and objects with text or ids") {
  const ProgramResult run =
      attnviz({"tokenize", "--json-lines", "--json", "--tokenizer", "bytes"},
              "\"a\\nb\"\n{\"text\": \"c\", \"label\": 1}\n{\"ids\": [104, 105]}\n");
  const auto lines = lines_of(run.out);
  REQUIRE(lines.size() == 3);
  CHECK(parse_json(lines[0])["text"] == "a\nb");
  CHECK(parse_json(lines[1])["tokens"] == json({"c"}));
  CHECK(parse_json(lines[2])["tokens"] == json({"h", "i"}));
}

TEST_CASE("--json-lines names the line that is wrong, and keeps what was answered") {
  struct Case {
    const char* line;
    int exit_code;
    std::vector<std::string> named;
  };
  const Case cases[] = {
      {"{\"text\": ", 3, {"line 2", "column"}},
      {"5", 3, {"line 2"}},
      {"{}", 3, {"\"text\"", "\"ids\""}},
      {"{\"text\": 5}", 3, {"line 2", "text"}},
      {"{\"text\": \"a\", \"ids\": [1]}", 3, {"\"text\"", "\"ids\""}},
      {"{\"ids\": []}", 3, {"line 2", "ids"}},
      {"{\"ids\": {\"a\": 1}}", 3, {"line 2", "ids"}},
      {"{\"ids\": [1, -2]}", 3, {"ids[1]"}},
      {"{\"ids\": [4294967296]}", 3, {"ids[0]"}},
      {"{\"text\": \"a\", \"pair\": \"b\"}", 2, {"line 2", "--pair"}},
      {"{\"text\": \"a\", \"pair\": 5}", 3, {"line 2", "pair"}},
      {"{\"ids\": [1], \"pair\": \"b\"}", 3, {"\"pair\"", "\"text\""}},
      {"\"\xFF\"", 3, {"line 2"}},
  };
  for (const Case& item : cases) {
    CAPTURE(std::string(item.line));
    const ProgramResult run =
        attnviz({"--json-lines", "--json"}, "\"fine\"\n" + std::string(item.line));
    CHECK(run.exit_code == item.exit_code);
    CHECK(mentions(run.err, item.named));
    CHECK(lines_of(run.out).size() == 1);
  }
}

TEST_CASE("endlessly nested lists are refused, wherever JSON is read beside a text") {
  const TemporaryFolder folder;
  const std::string deep = repeated("[", 1'000'000) + repeated("]", 1'000'000);
  CHECK(attnviz({"--json-lines"}, "\"" + repeated("[", 100) + "\"\n").exit_code == 0);
  const ProgramResult ids = attnviz({"--json-lines"}, "{\"ids\": " + deep + "}\n");
  CHECK(ids.exit_code == 3);
  CHECK(mentions(ids.err, {"standard input: line 1: ", " 64 "}));
  write_file(folder.file("m.json"),
             R"([{"role": "user", "content": [{"type": "text", "text": )" + deep + "}]}]");
  CHECK(in_folder(folder, {"tokenize", "--messages", "m.json"}).exit_code == 3);
  write_file(folder.file("p.json"), "[" + deep + "]");
  CHECK(in_folder(folder, {"heads", "--probe-ids", "p.json"}).exit_code == 3);
}

TEST_CASE("--ids takes token ids instead of a text") {
  const json document = attnviz_json({"tokenize", "--tokenizer", "bytes", "--ids", "104, 105"});
  CHECK(document["tokens"] == json({"h", "i"}));
  CHECK(document["token_ids"] == json({104, 105}));
  CHECK(attnviz_json({"--random", "--tokenizer", "bytes", "--ids", "104,105"})["tokens"] ==
        json({"h", "i"}));
}

TEST_CASE("empty texts, and texts of white space to draw, are usage errors") {
  for (const char* text : {"", " ", "\t\n ", "\n"}) {
    CAPTURE(std::string(text));
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"show"}, {"tokenize", "--tokenizer", "words"}}) {
      std::vector<std::string> arguments = command;
      CHECK(attnviz(arguments, text).exit_code == 2);
      arguments.emplace_back(text);
      CHECK(attnviz(arguments).exit_code == 2);
      arguments.back() = "--lines";
      CHECK(attnviz(arguments, text).exit_code == 2);
    }
    CHECK(attnviz({"show", "--tokenizer", "chars", text}).exit_code == 2);
    CHECK(attnviz({"tokenize", "--lines"}, text).exit_code == 2);
  }
  CHECK(attnviz({"tokenize", ""}).exit_code == 2);
  CHECK(attnviz({"tokenize"}, "\n").exit_code == 2);  // the line end is not part of the text
  const ProgramResult run = attnviz({""});
  CHECK(run.err.starts_with("attnviz: TEXT: "));
  CHECK(run.out.empty());
}

TEST_CASE("tokenize: white space is a text like others where the tokenizer makes tokens of it") {
  for (const char* text : {" ", "\n", "\t", "\n \n"}) {
    CAPTURE(std::string(text));
    const json tokens = attnviz_json({"tokenize", text})["tokens"];
    CHECK(tokens.size() > 1);
    CHECK(tokens[0] == "<|bos|>");
    CHECK(attnviz_json({"tokenize", "--tokenizer", "bytes", text})["tokens"].size() ==
          std::string(text).size());
  }
  CHECK(attnviz_json({"tokenize", "--tokenizer", "bytes", "--json-lines"},
                     "\" \"\n")["token_ids"] == json({32}));
}

TEST_CASE("files that cannot be read end with 1 and the reason") {
  const TemporaryFolder folder;
  const ProgramResult missing = attnviz({"-f", folder.file("no.txt")});
  CHECK(missing.exit_code == 1);
  CHECK(mentions(missing.err, {"no.txt"}));
  CHECK(attnviz({"-f", folder.path().string()}).exit_code == 1);
  CHECK(attnviz({"-m", folder.file("no.json"), "cat"}).exit_code == 1);
}

TEST_CASE("an endless text is refused before it fills the memory") {
  const ProgramResult run = attnviz({"-f", "/dev/zero"});
  CHECK(run.exit_code == 2);
  CHECK(mentions(run.err, {"64 MiB"}));
}

TEST_CASE("without TEXT on a terminal, a short help and exit 2") {
  ProgramRun run;
  run.tty_columns = 80;
  run.stdin_is_tty = true;
  const ProgramResult result = attnviz(run);
  CHECK(result.exit_code == 2);
  CHECK(result.err.find("attnviz tour") < result.err.find("attnviz \"The cat sat\""));
  CHECK(contains(result.err, "attnviz --help"));
  CHECK(result.out.empty());
}

TEST_CASE("tokenize prints a table of tokens, ids and byte ranges") {
  const ProgramResult run = attnviz({"tokenize", "--tokenizer", "words", "The 猫 sat"});
  const auto lines = lines_of(run.out);
  REQUIRE(lines.size() == 4);
  CHECK(lines[1] == "    0       0  The    0-3");
  CHECK(lines[2] == "    1       1  猫     4-7");
  CHECK(lines[3] == "    2       2  sat    8-11");
  CHECK(run.err.empty());
}

TEST_CASE("tokenize --json gives tokens, ids and ranges") {
  const json document = attnviz_json({"tokenize", "--tokenizer", "words", "a b a"});
  CHECK(document["schema"] == "attnviz.tokens/1");
  CHECK(document["text"] == "a b a");
  CHECK(document["tokens"] == json({"a", "b", "a"}));
  CHECK(document["token_ids"] == json({0, 1, 0}));
  CHECK(document["ranges"] == parse_json("[[0,1],[2,3],[4,5]]"));
  CHECK(document["tokenizer"] == "words");
}

TEST_CASE("tokenize -m takes the vocabulary and the tokenizer of the weights") {
  const TemporaryFolder folder;
  write_file(folder.file("w.json"), R"({"schema": "attnviz.weights/1", "d_model": 1,
    "tokenizer": "chars", "embeddings": {"x": [1], "y": [2]},
    "layers": [{"heads": [{"W_Q": [[1]], "W_K": [[1]], "W_V": [[1]]}]}]})");
  const json document = attnviz_json({"tokenize", "-m", folder.file("w.json"), "yxz"});
  CHECK(document["tokens"] == json({"y", "x", "z"}));
  CHECK(document["token_ids"] == json({1, 0, 2}));
  CHECK(attnviz_json({"tokenize", "-m", folder.file("w.json"), "--ids", "1,1"})["text"] == "yy");
  CHECK(attnviz({"tokenize", "-m", folder.file("w.json"), "--ids", "9"}).exit_code == 2);
}

TEST_CASE("control characters of a text never reach the terminal") {
  const std::string text = "a \x1b[31mred\x07 \xe2\x80\xae \xff b";
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{}, {"--style", "blocks"}, {"--style", "numbers"}, {"--json"}}) {
    for (const char* command : {"show", "tokenize"}) {
      std::vector<std::string> arguments = {command, "--tokenizer", "chars"};
      if (std::string(command) == "show" || options == std::vector<std::string>{"--json"}) {
        arguments.insert(arguments.end(), options.begin(), options.end());
      }
      if (std::string(command) == "show") {
        arguments.emplace_back("--random");
      }
      arguments.push_back(text);
      const ProgramResult run = attnviz(arguments);
      CHECK(run.exit_code == 0);
      CHECK(!contains(run.out, "\x1b"));
      CHECK(!contains(run.out, "\x07"));
      CHECK(!contains(run.out, "\xff"));
    }
  }
  CHECK(!contains(attnviz({"-f", "no\x1b[2J"}).err, "\x1b"));
  CHECK(!contains(attnviz({"--mask", "\x1b[2J", "x"}).err, "\x1b"));
}

}  // namespace attnviz::test
