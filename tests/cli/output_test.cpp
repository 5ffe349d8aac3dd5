// What is written where: files whole or not at all, standard output checked, interrupts clean.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "attnviz/core/utf8.h"
#include "cli/attnviz_program.h"
#include "support/json.h"

namespace attnviz::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Words = std::vector<std::string>;

const char* const kPngSignature = "\x89PNG\r\n\x1a\n";

}  // namespace

TEST_CASE("-o writes each format by its extension, several at once, and says where") {
  const TemporaryFolder folder;
  ProgramRun run;
  run.folder = folder.path();
  run.arguments = {"The cat sat", "-o", "a.png", "--output", "a.JSON", "-oa.npy", "-o", "a.txt"};
  const ProgramResult result = attnviz(run);
  CHECK(result.exit_code == 0);
  CHECK(folder.names() == std::vector<std::string>{"a.JSON", "a.npy", "a.png", "a.txt"});
  CHECK(read_file(folder.file("a.png")).starts_with(kPngSignature));
  CHECK(read_json(folder.file("a.JSON")) == attnviz_json({"The cat sat"}));
  CHECK(read_file(folder.file("a.txt")) == [] {
    ProgramRun wide;
    wide.arguments = {"The cat sat"};
    wide.environment = {{"COLUMNS", "120"}};
    return attnviz(wide).out;
  }());
  for (const char* name : {"a.png", "a.JSON", "a.npy", "a.txt"}) {
    CHECK(mentions(result.err, {name}));
  }
  CHECK(result.out == attnviz({"The cat sat"}).out);
}

TEST_CASE("where a layer's heads fit side by side, they are in one row") {
  for (const char* columns : {"50", "60", "80", "120"}) {
    ProgramRun run;
    run.arguments = {"--layers", "3", "--heads", "4", "The cat sat"};
    run.environment = {{"COLUMNS", columns}};
    const std::string drawing = attnviz(run).out;
    CAPTURE(drawing);
    for (const std::string layer : {"L0", "L1", "L2"}) {
      const std::size_t first = drawing.find(layer + "H0");
      const std::size_t last = drawing.find(layer + "H3");
      REQUIRE(first < last);
      REQUIRE(last != std::string::npos);
      CHECK(drawing.find('\n', first) > last);
    }
  }
}

TEST_CASE("-o x.npy holds float32 [layer, head, query, key]") {
  const TemporaryFolder folder;
  const std::string name = folder.file("a.npy");
  attnviz({"--layers", "2", "--heads", "3", "--head", "*.1,*.2", "-q", "-o", name, "a b c"});
  const std::string bytes = read_file(name);
  CHECK(bytes.starts_with("\x93NUMPY"));
  CHECK(mentions(bytes, {"'<f4'", "(2, 2, 3, 3)"}));
  const std::size_t values = 2 * 2 * 3 * 3;
  const std::size_t begin = bytes.size() - values * sizeof(float);
  CHECK(begin % 64 == 0);
  const json attention =
      attnviz_json({"--layers", "2", "--heads", "3", "--head", "*.1,*.2", "a b c"})["attention"];
  for (std::size_t i = 0; i < values; ++i) {
    float value = 0.0f;
    std::memcpy(&value, bytes.data() + begin + i * sizeof(float), sizeof(float));
    CHECK(value == attention[i / 18][i / 9 % 2][i / 3 % 3][i % 3].get<float>());
  }
}

TEST_CASE("a head selection that is not a rectangle has no .npy, and leaves no file") {
  const TemporaryFolder folder;
  const ProgramResult run = attnviz({"--layers", "2", "--head", "0.1,1.2", "-o",
                                     folder.file("a.npy"), "-o", folder.file("a.json"), "a b"});
  CHECK(run.exit_code == 2);
  CHECK(contains(run.err, ".npy"));
  CHECK(folder.names().empty());
}

TEST_CASE("everything that is drawn as PNG is drawn as SVG, too") {
  const TemporaryFolder folder;
  write_file(folder.file("a.json"), attnviz_json({"The cat sat"}).dump());
  for (const Words& words : {Words{"The cat sat"}, Words{"The cat sat", "--head", "2.1"},
                             Words{"inspect", "The cat sat", "--head", "2.1"},
                             Words{"heads", "--score", "induction"}, Words{"render", "a.json"}}) {
    CAPTURE(words);
    ProgramRun run;
    run.folder = folder.path();
    run.arguments = words;
    run.arguments.insert(run.arguments.end(), {"-q", "-o", "a.svg", "-o", "a.png"});
    CHECK(attnviz(run).exit_code == 0);
    const std::string svg = read_file(folder.file("a.svg"));
    CHECK(svg.starts_with("<svg "));
    CHECK(svg.ends_with("</svg>\n"));
    // As large as the PNG, whose width follows its signature and the start of IHDR.
    const std::string png = read_file(folder.file("a.png"));
    const int width =
        static_cast<unsigned char>(png[18]) * 256 + static_cast<unsigned char>(png[19]);
    CHECK(contains(svg, " width=\"" + std::to_string(width) + "\""));
  }
}

TEST_CASE("-o - with --format writes to standard output instead of the drawing") {
  CHECK(attnviz({"cat", "-o", "-", "--format", "png"}).out.starts_with(kPngSignature));
  CHECK(attnviz({"cat", "-o", "-", "--format", "npy"}).out.starts_with("\x93NUMPY"));
  CHECK(attnviz({"cat", "-o", "-", "--format", "json"}).out == attnviz({"cat", "--json"}).out);
  CHECK(attnviz({"cat", "-o", "-", "--format", "txt"}).out == attnviz({"cat"}).out);
}

TEST_CASE("--format is for names that do not show a format") {
  const TemporaryFolder folder;
  CHECK(attnviz({"cat", "-q", "-o", folder.file("cat"), "--format", "png"}).exit_code == 0);
  CHECK(read_file(folder.file("cat")).starts_with(kPngSignature));
  CHECK(
      attnviz({"cat", "-q", "-o", folder.file("b.json"), "-o", folder.file("c"), "--format", "png"})
          .exit_code == 0);
  CHECK(read_file(folder.file("b.json")).starts_with("{"));
}

TEST_CASE("-q with -o draws nothing and prints nothing") {
  const TemporaryFolder folder;
  const ProgramResult run = attnviz({"cat", "-q", "-o", folder.file("a.png")});
  CHECK(run.out.empty());
  CHECK(run.err.empty());
  CHECK(folder.names().size() == 1);
}

TEST_CASE("PNG and NumPy do not go to a terminal") {
  ProgramRun run;
  run.arguments = {"cat", "-o", "-", "--format", "png"};
  run.tty_columns = 80;
  const ProgramResult result = attnviz(run);
  CHECK(result.exit_code == 2);
  CHECK(result.out.empty());
}

TEST_CASE("--lines -o x.json writes one document a line, other formats are refused") {
  const TemporaryFolder folder;
  const ProgramResult run =
      attnviz({"--random", "--lines", "-q", "-o", folder.file("a.json")}, "The cat\nsat\n");
  CHECK(run.exit_code == 0);
  const auto lines = lines_of(read_file(folder.file("a.json")));
  REQUIRE(lines.size() == 2);
  CHECK(parse_json(lines[1])["tokens"] == json({"sat"}));
  for (const char* name : {"b.png", "b.npy", "b.txt"}) {
    CHECK(attnviz({"--lines", "-o", folder.file(name)}, "a\n").exit_code == 2);
  }
  CHECK(folder.names() == std::vector<std::string>{"a.json"});
}

TEST_CASE("an error leaves the old file as it was and nothing beside it") {
  const TemporaryFolder folder;
  write_file(folder.file("a.json"), "old");
  struct Case {
    std::vector<std::string> arguments;
    std::string input;
  };
  const Case cases[] = {{{"-m", folder.file("none.json"), "x"}, ""},
                        {{"--head", "9.9", "x"}, ""},
                        {{"--json-lines"}, "\"fine\"\n{broken"},
                        {{" "}, ""}};
  for (const Case& item : cases) {
    auto arguments = item.arguments;
    arguments.insert(arguments.end(), {"-o", folder.file("a.json")});
    CHECK(attnviz(arguments, item.input).exit_code != 0);
    CHECK(folder.names() == std::vector<std::string>{"a.json"});
    CHECK(read_file(folder.file("a.json")) == "old");
  }
}

TEST_CASE("an output that would overwrite an input is refused") {
  const TemporaryFolder folder;
  write_file(folder.file("in.json"), "The cat");
  fs::create_symlink("in.json", folder.file("link.json"));
  for (const std::string option : {"-f", "-m"}) {
    for (const char* name : {"in.json", "link.json"}) {
      std::vector<std::string> arguments = {option, folder.file("in.json"), "-o",
                                            folder.file(name)};
      if (option == "-m") {
        arguments.emplace_back("cat");
      }
      const ProgramResult run = attnviz(arguments);
      CHECK(run.exit_code == 2);
      CHECK(contains(run.err, name));
    }
  }
  CHECK(read_file(folder.file("in.json")) == "The cat");
}

TEST_CASE(
    "a replaced file keeps its permissions, a new one gets the umask's, a link stays a link") {
  const TemporaryFolder folder;
  write_file(folder.file("old.json"), "old");
  chmod(folder.file("old.json").c_str(), 0640);
  fs::create_symlink("old.json", folder.file("link.json"));
  fs::create_symlink("later.json", folder.file("dangling.json"));
  const mode_t before = umask(022);
  for (const char* name : {"new.json", "link.json", "dangling.json"}) {
    CHECK(attnviz({"cat", "-q", "-o", folder.file(name)}).exit_code == 0);
  }
  umask(before);
  struct stat info {};
  stat(folder.file("old.json").c_str(), &info);
  CHECK((info.st_mode & 07777) == 0640);
  stat(folder.file("new.json").c_str(), &info);
  CHECK((info.st_mode & 07777) == 0644);
  CHECK(fs::is_symlink(folder.file("link.json")));
  CHECK(fs::is_symlink(folder.file("dangling.json")));
  CHECK(read_file(folder.file("old.json")).starts_with("{"));
  CHECK(read_file(folder.file("later.json")).starts_with("{"));
}

TEST_CASE("what cannot be written ends with 1 and the reason, before any work") {
  const TemporaryFolder folder;
  fs::create_directory(folder.file("sub.json"));
  for (const std::string& name : {folder.file("no/folder/a.json"), folder.file("sub.json"),
                                  std::string("/proc/attnviz.json")}) {
    CAPTURE(name);
    const ProgramResult run = attnviz({"cat", "-o", name});
    CHECK(run.exit_code == 1);
    CHECK(mentions(run.err, {name}));
    CHECK(run.out.empty());
    const ProgramResult weights = attnviz({"weights", "-o", name});
    CHECK(weights.exit_code == 1);
  }
}

TEST_CASE("a read-only folder ends with 1") {
  if (geteuid() == 0) {
    MESSAGE("SKIPPED: root may write everywhere");
    return;
  }
  const TemporaryFolder folder;
  chmod(folder.path().c_str(), 0555);
  const ProgramResult run = attnviz({"cat", "-o", folder.file("a.png")});
  chmod(folder.path().c_str(), 0755);
  CHECK(run.exit_code == 1);
  CHECK(contains(run.err, "Permission denied"));
}

TEST_CASE("a file that may not be written is not replaced") {
  if (geteuid() == 0) {
    MESSAGE("SKIPPED: root may write everywhere");
    return;
  }
  const TemporaryFolder folder;
  write_file(folder.file("a.json"), "old");
  chmod(folder.file("a.json").c_str(), 0444);
  const ProgramResult run = attnviz({"cat", "-o", folder.file("a.json")});
  CHECK(run.exit_code == 1);
  CHECK(contains(run.err, "Permission denied"));
  CHECK(read_file(folder.file("a.json")) == "old");
  CHECK(folder.names().size() == 1);
}

TEST_CASE("a full disk ends with 1 and the reason, for files and for standard output") {
  const ProgramResult file = attnviz({"cat", "-o", "/dev/full", "--format", "json"});
  CHECK(file.exit_code == 1);
  CHECK(mentions(file.err, {"/dev/full"}));
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"cat"},
                                                    {"cat", "--json"},
                                                    {"tokenize", "cat"},
                                                    {"weights"},
                                                    {"--help"},
                                                    {"--version"}}) {
    ProgramRun run;
    run.arguments = arguments;
    run.stdout_path = "/dev/full";
    const ProgramResult result = attnviz(run);
    CAPTURE(arguments.front());
    CHECK(result.exit_code == 1);
    CHECK(contains(result.err, "No space left"));
  }
}

TEST_CASE("devices are written, not replaced") {
  CHECK(attnviz({"cat", "-o", "/dev/null", "--format", "png"}).exit_code == 0);
  CHECK(fs::is_character_file("/dev/null"));
  const ProgramResult run =
      attnviz({"--random", "cat", "-q", "-o", "/dev/stdout", "--format", "json"});
  CHECK(parse_json(run.out)["tokens"] == json({"cat"}));
}

TEST_CASE("a closed pipe ends the program quietly") {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"-q", "--json", "--lines"}, {"tokenize", "--lines"}}) {
    ProgramRun run;
    run.arguments = arguments;
    for (int i = 0; i < 20000; ++i) {
      run.input += "The cat sat on the mat\n";
    }
    run.stdout_limit = 1;
    const ProgramResult result = attnviz(run);
    CHECK(result.exit_code == 0);
    CHECK(result.signal == 0);
    CHECK(result.err.empty());
  }
}

TEST_CASE("a pipe closed on the drawing does not cost the file") {
  const TemporaryFolder folder;
  ProgramRun run;
  run.arguments = {"-q", "--json", "--lines", "-o", folder.file("a.json")};
  for (int i = 0; i < 1000; ++i) {
    run.input += "The cat sat on the mat\n";
  }
  run.stdout_limit = 1;
  CHECK(attnviz(run).exit_code == 0);
  CHECK(lines_of(read_file(folder.file("a.json"))).size() == 1000);
}

TEST_CASE("an interrupt removes unfinished files and ends with 130") {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const TemporaryFolder folder;
    ProgramRun run;
    run.arguments = {"--lines", "--json", "-o", folder.file("a.json"), "-o", folder.file("b.json")};
    run.input = "The cat\n";
    run.signal_after_output = signal;
    const ProgramResult result = attnviz(run);
    CAPTURE(signal);
    CHECK(result.exit_code == 130);
    CHECK(folder.names().empty());
  }
}

TEST_CASE("closed standard streams: files get nothing that was meant for those") {
  const TemporaryFolder folder;
  const std::string name = folder.file("a.json");
  const std::string expected = attnviz({"The cat", "--json"}).out;
  ProgramRun run;
  run.arguments = {"The cat", "-o", name};
  for (const int closed : {0, 1, 2}) {
    CAPTURE(closed);
    run.closed_streams = {closed};
    CHECK(attnviz(run).exit_code == (closed == 1 ? 1 : 0));  // the drawing has nowhere to go
    CHECK(read_file(name) == expected);
  }
  run.closed_streams = {0, 1, 2};
  CHECK(attnviz(run).exit_code == 1);
  CHECK(read_file(name) == expected);

  run.arguments = {"--lines", "The cat\nThe cat", "-o", name};  // finished all the same
  CHECK(attnviz(run).exit_code == 1);
  CHECK(read_file(name) == attnviz({"--lines", "The cat\nThe cat", "--json"}).out);

  run.arguments = {};
  const ProgramResult no_input = attnviz(run);
  CHECK(no_input.exit_code == 1);
}

TEST_CASE("weights writes a model that gives the attention of its seed and shape") {
  const TemporaryFolder folder;
  const std::string name = folder.file("w.json");
  const ProgramResult run =
      attnviz({"weights", "--seed", "3", "--layers", "2", "--heads", "2", "--d-model", "6",
               "--d-head", "5", "--d-value", "4", "--positions", "rope", "-o", name});
  CHECK(run.exit_code == 0);
  CHECK(mentions(run.err, {name}));
  CHECK(run.out.empty());
  CHECK(attnviz({"weights", "--seed", "3", "--layers", "2", "--heads", "2", "--d-model", "6",
                 "--d-head", "5", "--d-value", "4", "--positions", "rope"})
            .out == read_file(name));
  const json loaded = attnviz_json({"-m", name, "The cat sat"});
  const json drawn =
      attnviz_json({"--seed", "3", "--layers", "2", "--heads", "2", "--d-model", "6", "--d-head",
                    "5", "--d-value", "4", "--positions", "rope", "The cat sat"});
  CHECK(loaded["attention"] == drawn["attention"]);
  CHECK(attnviz({"weights", "-q", "-o", name}).err.empty());
  CHECK(contains(attnviz({"weights", "-v", "-o", name}).err, "model"));
}

TEST_CASE("10,000 tokens: one head in a small drawing") {
  std::string text;
  for (int i = 0; i < 10000; ++i) {
    text += "word" + std::to_string(i % 97) + ' ';
  }
  const ProgramResult run = attnviz({"--random", "--head", "0.0"}, text);
  CHECK(run.exit_code == 0);
  CHECK(!run.out.empty());
  CHECK(run.out.size() < 20000);
}

TEST_CASE("more memory than there is: refused at once, with an estimate and a hint") {
  std::string text;
  for (int i = 0; i < 200000; ++i) {
    text += "word ";
  }
  const ProgramResult run = attnviz({"--heads", "64", "--focus", "0"}, text);
  CHECK(run.exit_code == 2);
  CHECK(mentions(run.err, {"64 heads", "200000 tokens", "102"}));
  CHECK(run.out.empty());
}

TEST_CASE("huge random models are refused before they are made") {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--d-model", "1000000", "x"},
        {"--layers", "1000000", "--heads", "1000000", "x"},
        {"weights", "--heads", "1000000", "--d-head", "1000000"}}) {
    const ProgramResult run = attnviz(arguments);
    CHECK(run.exit_code == 2);
    CHECK(mentions(run.err, {"shape"}));
  }
}

TEST_CASE("--lines: each drawing names its text, and each text may have files of its own") {
  const TemporaryFolder folder;
  const std::string texts = "The cat\n\nA \x1b[31mdog ran to the mat and ran to the mat again\n";
  const ProgramResult run = in_folder(
      folder,
      {"--lines", "--random", "-o", "x-{line}.png", "-o", "{line}/{line}.txt", "-o", "all.json"},
      texts);
  CHECK(run.exit_code == 1);  // folder 1 does not exist
  CHECK(folder.names().empty());

  const ProgramResult written =
      in_folder(folder, {"--lines", "--random", "-o", "x-{line}.png", "-o", "all.json"}, texts);
  REQUIRE(written.exit_code == 0);
  CHECK(folder.names() == std::vector<std::string>{"all.json", "x-1.png", "x-3.png"});
  CHECK(written.out.starts_with("line 1: The cat\n"));
  CHECK(written.out.find("\nline 3: A \\x1B[31mdog ran") != std::string::npos);
  for (const std::string& line : lines_of(written.out)) {
    CHECK(display_width(line) <= 80);
  }
  CHECK(contains(written.err, "x-3.png"));

  const ProgramResult alone = in_folder(folder, {"The cat", "--random", "-o", "x-{line}.png"});
  CHECK(alone.exit_code == 2);
  CHECK(mentions(alone.err, {"{line}", "--lines"}));
  const ProgramResult one = in_folder(folder, {"--lines", "--random", "-o", "x.png"}, texts);
  CHECK(one.exit_code == 2);
  CHECK(one.err.find("-o x-{line}.png") != std::string::npos);
}

}  // namespace attnviz::test
