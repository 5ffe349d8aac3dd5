// Work that grows with the size of the input, and not with its square.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "cli/attnviz_program.h"
#include "support/repeated.h"
#include "support/stopwatch.h"

namespace attnviz::test {

namespace {

// "[x, x, …]".
template <class Item>
std::string list_of(std::size_t count, const Item& item) {
  std::string list = "[";
  for (std::size_t i = 0; i < count; ++i) {
    list += (i > 0 ? "," : "") + item(i);
  }
  return list + "]";
}

void render_in_time(const std::string& document) {
  check_in_time([&document] {
    const ProgramResult result = attnviz({"render", "-", "--style", "ascii"}, document);
    CHECK(result.exit_code == 0);
    CHECK(!result.out.empty());
  });
}

const std::string kTwoTokens = R"("tokens": ["a", "b"], "attention": [[[[1, 0], [0.5, 0.5]]]])";

}  // namespace

TEST_CASE("a title of two hundred thousand line feeds") {
  const TemporaryFolder folder;
  write_file(folder.file("a.json"),
             "{" + kTwoTokens + R"(, "drawing": {"title": "x)" + repeated("\\n", 200'000) + "\"}}");
  check_in_time([&folder] {
    CHECK(in_folder(folder, {"render", "a.json", "-q", "-o", "a.svg"}).exit_code == 0);
    CHECK(contains(read_file(folder.file("a.svg")), ">x</text>"));
  });
}

TEST_CASE("two hundred thousand different added tokens") {
  const auto name = [](std::size_t i) { return fmt::format("\"t{}\"", i); };
  const auto number = [](std::size_t i) { return std::to_string(i); };
  const auto one = [](std::size_t) { return std::string("[1]"); };
  render_in_time(R"({"tokens": )" + list_of(200'000, name) +
                 R"(, "key_tokens": ["k"], "marks": {"added": )" + list_of(199'999, number) +
                 R"(}, "drawing": {"no_special": true}, "attention": [[)" + list_of(200'000, one) +
                 "]]}");
}

TEST_CASE("two runs side by side with three hundred thousand notes each") {
  std::string lines;
  for (const char* run : {"x", "y"}) {
    const auto note = [run](std::size_t i) { return fmt::format("\"{}{}\"", run, i); };
    lines += "{" + kTwoTokens + R"(, "drawing": {"side_by_side": ["x", "y"]}, "notes": )" +
             list_of(300'000, note) + "}\n";
  }
  render_in_time(lines);
}

TEST_CASE("a line of sixty thousand repeated options") {
  std::vector<std::string> words;
  for (int i = 0; i < 60'000; ++i) {
    words.insert(words.end(), {"-f", "show"});
  }
  check_in_time([&words] { CHECK(attnviz(words).err.starts_with("attnviz: show: ")); });
}

TEST_CASE("--side-by-side: twenty thousand temperatures") {
  std::string list;
  for (int i = 1; i <= 20'000; ++i) {
    list += std::to_string(i) + ",";
  }
  check_in_time([&list] {
    CHECK(contains(attnviz({"a b", "--side-by-side", list + "bogus"}).err, "mask \"bogus\""));
    CHECK(mentions(attnviz({"a b", "--side-by-side", list + "7"}).err, {"T 7"}));
  });
}

TEST_CASE("sixty thousand brackets around a score; brackets in the name of a file") {
  const std::string score = repeated("[", 60'000) + "1" + repeated("]", 60'000);
  check_in_time([&score] { CHECK(attnviz({"softmax", score}).exit_code == 0); });
  CHECK(attnviz({"merge", "[1]"}).err.starts_with("attnviz: [1]: "));
}

TEST_CASE("merge: sums of four thousand files") {
  const TemporaryFolder folder;
  write_file(folder.file("lines.txt"), "a b\nc d\n");
  CHECK(in_folder(folder, {"heads", "--random", "--layers", "1", "--heads", "1", "--lines", "-f",
                           "lines.txt", "--partial", "sums.json", "-q"})
            .exit_code == 0);
  const std::string sums = read_file(folder.file("sums.json"));
  std::vector<std::string> words = {"merge", "-o", "all.json"};
  for (int i = 0; i < 4000; ++i) {
    words.push_back(fmt::format("{}.json", i));
    write_file(folder.file(words.back()), sums);
  }
  check_in_time([&] { CHECK(mentions(in_folder(folder, words).err, {"8000", "4000 files"})); });
}

TEST_CASE("heads: a text that repeats two words, through a narrow mask") {
  check_in_time([] {
    const ProgramResult result =
        attnviz({"heads", "-", "--random", "--layers", "1", "--heads", "1", "--d-head", "8",
                 "--tokenizer", "words", "--mask", "window:8", "-q"},
                repeated("a , ", 100'000));
    CHECK(result.exit_code == 0);
  });
}

}  // namespace attnviz::test
