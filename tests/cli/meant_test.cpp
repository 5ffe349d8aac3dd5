// Wrong command lines: what was probably meant, as a line to type.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "cli/attnviz_program.h"

namespace attnviz::test {
namespace {

// A file of each kind that is easily mistaken for another.
void write_samples(const TemporaryFolder& folder) {
  write_file(folder.file("cat.png"), "\x89PNG\r\n\x1a\n and so on");
  write_file(folder.file("cat.svg"), "<svg xmlns=\"http://www.w3.org/2000/svg\"/>");
  write_file(folder.file("words"), "\x93NUMPY\x01 and so on");
  write_file(folder.file("a.txt"), "The cat sat\n");
  REQUIRE(in_folder(folder, {"The cat", "-q", "-o", "pattern.npy"}).exit_code == 0);
}

// The lines of a message that are to be typed.
std::vector<std::string> lines_to_type(const std::string& message) {
  std::vector<std::string> typed;
  for (const std::string& line : lines_of(message)) {
    if (line.starts_with("  ")) {
      typed.push_back(line.substr(2));
    }
  }
  return typed;
}

// As a user pastes it, with the program on the PATH.
ProgramResult pasted(const TemporaryFolder& folder, const std::string& line) {
  ProgramRun run;
  run.folder = folder.path();
  run.arguments = {"-c", line};
  run.environment["PATH"] =
      std::filesystem::path(ATTNVIZ_PROGRAM).parent_path().string() + ":/usr/bin:/bin";
  return run_program("/bin/sh", run);
}

struct Meant {
  std::vector<std::string> arguments;
  std::vector<std::string> lines;
};

}  // namespace

TEST_CASE("two words where one text is taken: the line that was meant works when it is pasted") {
  const TemporaryFolder folder;
  write_samples(folder);
  const std::vector<Meant> cases = {
      {{"demo", "The cat sat"}, {"attnviz -m demo \"The cat sat\""}},
      {{"The cat sat", "demo", "--head", "2.1"}, {"attnviz -m demo \"The cat sat\""}},
      {{"inspect", "demo", "The cat sat"}, {"attnviz inspect -m demo \"The cat sat\""}},
      {{"The cat sat", "inspect"}, {"attnviz inspect \"The cat sat\""}},
      {{"tokenise", "cat"}, {"attnviz \"tokenise cat\""}},
      {{"The cat sat", "A dog ran"}, {"attnviz diff \"The cat sat\" \"A dog ran\""}},
      {{"The", "cat", "sat"}, {"attnviz \"The cat sat\""}},
      {{"tokenize", "a", "b"}, {"attnviz tokenize \"a b\""}},
      {{"say", "\"no\" to $HOME", "it's"}, {"attnviz 'say \"no\" to $HOME it'\"'\"'s'"}},
      {{"--json", "--", "-a", "b"}, {"attnviz -- \"-a b\""}},
      {{"predict", "x"}, {"attnviz \"predict x\""}},
  };
  for (const Meant& item : cases) {
    CAPTURE(item.arguments.back());
    const ProgramResult run = in_folder(folder, item.arguments);
    CHECK(run.exit_code == 2);
    CHECK(run.out.empty());
    const std::vector<std::string> lines = lines_to_type(run.err);
    CHECK_MESSAGE(lines == item.lines, run.err);
    for (const std::string& line : lines) {
      CAPTURE(line);
      // Two texts of unequal lengths have no tokens in common to compare.
      const ProgramResult typed = pasted(folder, line);
      CHECK_MESSAGE(typed.exit_code == (contains(line, "diff") ? typed.exit_code : 0), typed.err);
    }
  }
}

TEST_CASE("names of models that are not here: well-known ones, and words of a language") {
  for (const char* name :
       {"gpt2", "gpt2-medium", "llama3.2:1b", "Qwen2.5-0.5B", "bert-base-uncased",
        "meta-llama/Llama-3.2-1B", "openai-community/gpt2"}) {
    CAPTURE(name);
    CHECK(contains(attnviz({name, "The cat sat"}).err,
                   std::string("  attnviz -m ") + name + " \"The cat sat\"\n"));
  }
  CHECK(contains(attnviz({"gpt2", "The", "cat"}).err, "  attnviz -m gpt2 \"The cat\"\n"));
  CHECK(contains(attnviz({"mistral", "The cat sat"}).err, "attnviz -m mistral \"The cat sat\""));
  CHECK(contains(attnviz({"mistral", "blew", "hard"}).err, "  attnviz \"mistral blew hard\"\n"));
  CHECK(!contains(attnviz({"gpt2", "The cat", "-m", "demo"}).err, "-m gpt2"));
  CHECK(mentions(attnviz({"sample:le-chat-dort"}).err, {"attnviz render", "le-chat-dort"}));
  CHECK(mentions(attnviz({"sample:four-heads"}).err, {"attnviz -m sample:four-heads"}));
  CHECK(mentions(attnviz({"gpt2"}).err, {"-m", "attnviz -m gpt2 \"The cat sat\""}));
  CHECK(!contains(attnviz({"mistral"}).err, "-m mistral"));
}

TEST_CASE("help: alone or before a command; after show it is a text") {
  CHECK(attnviz({"help"}).out == attnviz({"--help"}).out);
  CHECK(attnviz({"help", "heads"}).out == attnviz({"heads", "--help"}).out);
  CHECK(attnviz({"help", "help"}).exit_code == 2);
  CHECK(contains(attnviz({"help", "me", "out"}).err, "  attnviz \"help me out\"\n"));
  const ProgramResult text = attnviz({"show", "help"});
  CHECK(text.exit_code == 0);
  CHECK(!contains(text.out, "--model"));
}

TEST_CASE("a command after options of its own is that command; an option's value is not") {
  CHECK(attnviz({"-m", "demo", "heads", "--json"}).out ==
        attnviz({"heads", "-m", "demo", "--json"}).out);
  CHECK(attnviz({"--model=demo", "-q", "tokenize", "cat"}).out ==
        attnviz({"tokenize", "cat", "-q"}).out);
  CHECK(contains(attnviz({"-m", "heads", "cat"}).err, "model \"heads\""));
  CHECK(attnviz({"--json", "--", "tour"}).out == attnviz({"show", "tour", "--json"}).out);
}

TEST_CASE("files of another kind: what they are, and what takes them") {
  const TemporaryFolder folder;
  write_samples(folder);
  struct Other {
    std::vector<std::string> arguments;
    int exit_code;
    std::vector<std::string> named;
  };
  const Other cases[] = {
      {{"-m", "cat.png", "x"}, 3, {"cat.png"}},
      {{"-m", "cat.svg", "x"}, 3, {"cat.svg"}},
      {{"-m", "words", "x"}, 3, {"words", "NumPy"}},
      {{"-m", "pattern.npy"}, 3, {"\n  attnviz render pattern.npy\n"}},
      {{"info", "pattern.npy"}, 3, {"\n  attnviz render pattern.npy\n"}},
      {{"-m", "none.npy", "x"}, 1, {"none.npy", "NumPy"}},
      {{"-f", "cat.png"}, 3, {"cat.png"}},
      {{"--lines", "-f", "cat.png"}, 3, {"cat.png"}},
      {{"-f", "pattern.npy"}, 3, {"\n  attnviz render pattern.npy\n"}},
  };
  for (const Other& item : cases) {
    CAPTURE(item.arguments);
    const ProgramResult run = in_folder(folder, item.arguments);
    CHECK(run.exit_code == item.exit_code);
    CHECK(mentions(run.err, item.named));
    CHECK(run.out.empty());
  }
  CHECK(pasted(folder, "attnviz render pattern.npy").exit_code == 0);
  CHECK(contains(in_folder(folder, {"pattern.npy"}).err, "attnviz render pattern.npy"));
  CHECK(attnviz({}, "\x89PNG\r\n\x1a\n").exit_code == 3);
}

TEST_CASE("options that are near what was meant are named") {
  struct Near {
    std::vector<std::string> arguments;
    std::vector<std::string> named;
  };
  const Near cases[] = {{{"predict", "x"}, {"--predict"}},
                        {{"cat", "--heads", "2.1"}, {"--head"}},
                        {{"cat", "-m", "demo", "--layers", "2"}, {"--layer"}},
                        {{"a cat", "--", "-q"}, {"-q", "--"}},
                        {{"--", "-dash", "--width=85mm"}, {"--width=85mm", "--"}}};
  for (const Near& item : cases) {
    const ProgramResult run = attnviz(item.arguments);
    CHECK(run.exit_code == 2);
    CHECK(run.out.empty());
    CHECK(mentions(run.err, item.named));
  }
  CHECK(mentions(attnviz({"--", "-a", "-b"}).err, {"\"-a\"", "\"-b\""}));
  CHECK(mentions(attnviz({"lesson", "--", "masks", "cost"}).err, {"lesson", "\"cost\""}));
  CHECK(attnviz({"diff", "--", "a cat", "a dog", "-q"}).exit_code == 2);
  const ProgramResult random = attnviz({"The cat", "--layers", "2"});
  CHECK(random.exit_code == 0);
  CHECK(mentions(random.err, {"--layer", "--head"}));
}

TEST_CASE("two numbers with a comma that could be the name of one head get a note, and are drawn") {
  const std::string note = "--head 2.1";
  const ProgramResult run = attnviz({"--head", "2,1", "The cat sat"});
  CHECK(run.exit_code == 0);
  CHECK(contains(run.err, note));
  CHECK(contains(attnviz({"inspect", "--head", "2,1", "The cat sat"}).err, note));
  for (const std::vector<std::string>& silent :
       std::vector<std::vector<std::string>>{{"--head", "2.1"},
                                             {"--head", "2,1", "--layer", "2"},
                                             {"--head", "0,1,2"},
                                             {"--head", "2,1", "-q"},
                                             {"--head", "3,*"}}) {
    std::vector<std::string> arguments = silent;
    arguments.emplace_back("The cat sat");
    CHECK(!contains(attnviz(arguments).err, "--head 2.1"));
  }
}

TEST_CASE("a command's name with an s is a text only after show and --") {
  const ProgramResult run = attnviz({"lessons"});
  CHECK(run.exit_code == 2);
  CHECK(run.out.empty());
  CHECK(mentions(run.err, {"attnviz lesson", "\n  attnviz show lessons\n"}));
  CHECK(attnviz({"show", "lessons"}).exit_code == 0);
  CHECK(attnviz({"--", "lessons"}).exit_code == 0);
  CHECK(attnviz({"cats"}).exit_code == 0);
}

TEST_CASE(
    "lines to type keep the text: one that looks like commands, or has invisible characters") {
  // A quote with a mark over it is still a quote.
  CHECK(contains(attnviz({"a'\u0301$(id)'\u0301", "b"}).err,
                 "\n  attnviz 'a'\"'\"'\u0301$(id)'\"'\"'\u0301 b'\n"));
  CHECK(contains(attnviz({"\u202E\\\u0301", "b"}).err,
                 "\n  attnviz \"$(printf '\\342\\200\\256\\134\u0301 b')\"\n"));
  // Bidi controls and bytes that are not text are pasted as they were.
  const ProgramResult unseen = attnviz({"\u202E\u732B", "b\xFF"});
  CHECK(contains(unseen.err, "\n  attnviz \"$(printf '\\342\\200\\256\u732B b\\377')\"\n"));
}

TEST_CASE("a layer among heads: the message names the option that chooses layers") {
  CHECK(mentions(attnviz({"The cat", "--head", "L2"}).err, {"\"L2\"", "layer 2", "--layer"}));
  CHECK(attnviz({"The cat", "--head", "2.0-1,*.3", "--json"}).out ==
        attnviz({"The cat", "--head", "2.0,2.1,0.3,1.3,2.3,3.3", "--json"}).out);
}

TEST_CASE("what resembles an option or a name is answered with the line to type") {
  CHECK(contains(attnviz({"lesson", "softmax"}).err, "\n  attnviz softmax 2.1 8.7 3.2\n"));
  CHECK(contains(attnviz({"cat", "-o", "my cat.pdf"}).err,
                 "\n  rsvg-convert -f pdf -o \"my cat.pdf\" \"my cat.svg\"\n"));
}

}  // namespace attnviz::test
