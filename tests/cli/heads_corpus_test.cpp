// attnviz heads over many texts: partial sums, merge, resume.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/attnviz_program.h"
#include "support/json.h"

namespace attnviz::test {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

std::string lines(std::size_t first, std::size_t end) {
  const char* const names[] = {"cat", "dog", "girl", "bird"};
  std::string text;
  for (std::size_t i = first; i < end; ++i) {
    text += std::string("The ") + names[i % 4] + " saw the " + names[i * i % 3] +
            std::string(i % 5, '.') + " and it ran\n";
  }
  return text;
}

// Removes what merged sums lack: they have no position in a single input.
void forget_lines(json& sums) {
  sums.erase("n_lines");
  sums.erase("lines_fingerprint");
  sums.erase("merged_fingerprints");
  sums["reading"].erase("format");
  sums["reading"].erase("pair");
}

struct Corpus {
  TemporaryFolder folder;

  std::string file(const std::string& name) const { return folder.file(name); }

  /// Scores `text` line by line, with the sums in a file of this name.
  ProgramResult score(const std::string& text, const std::string& partial, Words more = {}) const {
    Words arguments = {"heads", "--lines", "-q", "--partial", file(partial), "-o", file("x.csv")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return attnviz(arguments, text);
  }
};

}  // namespace

TEST_CASE("merge reports lines that count twice, regardless of the files' names") {
  const Corpus corpus;
  REQUIRE(corpus.score(lines(0, 5), "a.json").exit_code == 0);
  REQUIRE(corpus.score(lines(5, 8), "b.json").exit_code == 0);
  write_file(corpus.file("copy.json"), read_file(corpus.file("a.json")));
  const auto notes = [&](const char* one, const char* other, const char* merged) {
    const ProgramResult run =
        attnviz({"merge", corpus.file(one), corpus.file(other), "-o", corpus.file(merged)});
    CHECK(run.exit_code == 0);
    return run.err;
  };
  CHECK_FALSE(contains(notes("a.json", "b.json", "both.json"), corpus.file("b.json")));
  CHECK(contains(notes("a.json", "copy.json", "m1.json"), corpus.file("copy.json")));
  CHECK(contains(notes("both.json", "copy.json", "m2.json"), corpus.file("copy.json")));
  CHECK(contains(notes("b.json", "both.json", "m3.json"), corpus.file("both.json")));
}

TEST_CASE("heads over a corpus: parts merged in any order are the whole, to the byte") {
  const Corpus corpus;
  REQUIRE(corpus.score(lines(0, 12), "whole.json").exit_code == 0);
  REQUIRE(corpus.score(lines(0, 5), "a.json").exit_code == 0);
  REQUIRE(corpus.score(lines(5, 6), "b.json").exit_code == 0);
  REQUIRE(corpus.score(lines(6, 12), "c.json").exit_code == 0);
  const ProgramResult merged = attnviz({"merge", corpus.file("c.json"), corpus.file("a.json"),
                                        corpus.file("b.json"), "-o", corpus.file("m.json")});
  REQUIRE(merged.exit_code == 0);
  CHECK(mentions(merged.err, {"12", "3 files"}));
  json whole = read_json(corpus.file("whole.json"));
  json parts = read_json(corpus.file("m.json"));
  CHECK(whole["n_lines"] == 12);
  CHECK(!parts.contains("lines_fingerprint"));
  CHECK(parts["merged_fingerprints"].size() == 3);
  forget_lines(whole);
  forget_lines(parts);
  CHECK(whole == parts);
  for (const char* format : {"csv", "json", "txt"}) {
    const auto written = [&](const char* name) {
      return attnviz({"heads", corpus.file(name), "-o", "-", "--format", format}).out;
    };
    CHECK(!written("m.json").empty());
    CHECK(written("m.json") == written("whole.json"));
  }
  CHECK(attnviz({"heads", corpus.file("m.json"), "--expect", "2.1 induction>2"}).exit_code == 5);
}

TEST_CASE("heads over a corpus: a run resumes after the lines that it has counted") {
  const Corpus corpus;
  REQUIRE(corpus.score(lines(0, 12), "whole.json").exit_code == 0);
  REQUIRE(corpus.score(lines(0, 5), "part.json").exit_code == 0);
  REQUIRE(corpus.score(lines(0, 12), "part.json", {"--resume"}).exit_code == 0);
  CHECK(read_file(corpus.file("part.json")) == read_file(corpus.file("whole.json")));
  // Nothing is left.
  REQUIRE(corpus.score(lines(0, 12), "part.json", {"--resume"}).exit_code == 0);
  CHECK(read_file(corpus.file("part.json")) == read_file(corpus.file("whole.json")));
}

TEST_CASE("heads over a corpus: a resumed run says how many lines it skips, unless quiet") {
  const Corpus corpus;
  write_file(corpus.file("c.txt"), lines(0, 7));
  REQUIRE(corpus.score(lines(0, 5), "p.json").exit_code == 0);
  Words arguments = {"heads",
                     "--lines",
                     "-f",
                     corpus.file("c.txt"),
                     "--partial",
                     corpus.file("p.json"),
                     "--resume",
                     "-o",
                     corpus.file("x.csv")};
  CHECK(mentions(attnviz(arguments).err, {"c.txt", "5 lines", corpus.file("p.json")}));
  arguments.emplace_back("-q");
  CHECK(attnviz(arguments).err.empty());
}

TEST_CASE("heads over a corpus: a run resumes only on the lines that were counted") {
  const Corpus corpus;
  const auto refusal = [&](const std::string& text, const Words& how) {
    const std::string sums = read_file(corpus.file("p.json"));
    write_file(corpus.file("c.txt"), text);
    Words arguments = {"heads",    "--partial", corpus.file("p.json"),
                       "--resume", "-f",        corpus.file("c.txt")};
    arguments.insert(arguments.end(), how.begin(), how.end());
    const ProgramResult result = attnviz(arguments);
    CHECK(result.exit_code == 2);
    CHECK(contains(result.err, corpus.file("p.json") + ": --resume: "));
    CHECK(read_file(corpus.file("p.json")) == sums);
    return result.err;
  };
  REQUIRE(corpus.score(lines(0, 5), "p.json").exit_code == 0);
  const std::string other = corpus.file("c.txt");
  CHECK(mentions(refusal(lines(1, 6), {"--lines"}), {other, "5 lines"}));
  CHECK(contains(refusal(lines(0, 4) + lines(5, 9), {"--lines"}), other));
  CHECK(contains(refusal(lines(0, 4) + "\n" + lines(4, 9), {"--lines"}), other));
  CHECK(mentions(refusal(lines(0, 3), {"--lines"}), {"5 lines", corpus.file("c.txt")}));
  CHECK(mentions(refusal("", {"--lines"}), {"5 lines", "0"}));
  std::filesystem::remove(corpus.file("p.json"));
  const Words json_lines = {"heads", "--json-lines", "--partial", corpus.file("p.json"), "-q"};
  REQUIRE(attnviz(json_lines, "\"The cat\"\n{\"text\": \"The dog\"}").exit_code == 0);
  CHECK(contains(refusal("\"The cat\"\n\"The dog\"\n", {"--json-lines"}), other));
}

TEST_CASE("heads over a corpus: a run resumes only when it reads lines as they were read before") {
  const Corpus corpus;
  // Lines that are texts as well as JSON: their bytes are the same.
  const std::string text = "\"The cat saw it\"\n\"A dog ran to <s> her\"\n";
  const std::string sums_file = corpus.file("p.json");
  const auto score = [&](Words how) {
    how.insert(how.begin(), {"heads", "-q", "--head", "0.0", "--partial", sums_file, "-o",
                             corpus.file("x.csv")});
    return attnviz(how, text);
  };
  struct Change {
    Words before;
    Words now;
    Words named;
  };
  const Change changes[] = {{{"--lines"}, {"--json-lines"}, {"format", "json-lines"}},
                            {{"--lines"}, {"--lines", "--no-bos"}, {"bos", "none"}},
                            {{"--lines", "--bos"}, {"--lines", "--no-bos"}, {"bos", "one", "none"}},
                            {{"--lines", "--special"}, {"--lines"}, {"special", "tokens", "text"}},
                            {{"--lines", "--truncate", "left"},
                             {"--lines", "--truncate", "right"},
                             {"truncate", "left", "right"}},
                            {{"--lines", "--punctuation", "1,3"},
                             {"--lines", "--punctuation", "1"},
                             {"punctuation", "1,3"}}};
  for (const Change& change : changes) {
    std::filesystem::remove(sums_file);
    REQUIRE(score(change.before).exit_code == 0);
    const std::string sums = read_file(sums_file);
    Words now = change.now;
    now.emplace_back("--resume");
    const ProgramResult refused = score(now);
    CHECK(refused.exit_code == 2);
    CHECK(mentions(refused.err, {sums_file, "--resume"}));
    CHECK(mentions(refused.err, change.named));
    CHECK(read_file(sums_file) == sums);
    Words as_before = change.before;
    as_before.emplace_back("--resume");
    CHECK(score(as_before).exit_code == 0);
  }
  CHECK(score({"--lines", "--resume", "--punctuation", "3,1,3"}).exit_code == 0);
}

TEST_CASE("heads over a corpus: sums that do not say how lines were read can be resumed") {
  const Corpus corpus;
  REQUIRE(corpus.score(lines(0, 5), "p.json").exit_code == 0);
  json sums = read_json(corpus.file("p.json"));
  REQUIRE(sums.erase("reading") == 1);
  nlohmann::ordered_json older = {{"schema", sums["schema"]}};  // which comes first
  older.update(nlohmann::ordered_json::parse(sums.dump()));
  write_file(corpus.file("p.json"), older.dump());
  CHECK(corpus.score(lines(0, 7), "p.json", {"--no-bos", "--resume"}).exit_code == 0);
  CHECK(!read_json(corpus.file("p.json")).contains("reading"));
  REQUIRE(corpus.score(lines(7, 8), "q.json").exit_code == 0);
  REQUIRE(
      attnviz({"merge", corpus.file("q.json"), corpus.file("p.json"), "-o", corpus.file("m.json")})
          .exit_code == 0);
  CHECK(!read_json(corpus.file("m.json")).contains("reading"));
}

TEST_CASE("heads over a corpus: line ends, and blank lines at the end, do not change the text") {
  const Corpus corpus;
  const auto goes_on = [&](const std::string& first, const std::string& all) {
    std::filesystem::remove(corpus.file("p.json"));
    REQUIRE(corpus.score(first, "p.json").exit_code == 0);
    return corpus.score(all, "p.json", {"--resume"}).exit_code == 0;
  };
  CHECK(goes_on("The cat\nThe dog", "The cat\r\nThe dog\r\nThe girl\r\n"));
  CHECK(goes_on("The cat\n\n\n", "The cat\n\n\nThe dog\n"));
  CHECK_FALSE(goes_on("The cat\nThe do", "The cat\nThe dog\n"));
}

TEST_CASE("heads over a corpus: merged sums cannot be resumed, a copy of one file's can") {
  const Corpus corpus;
  REQUIRE(corpus.score(lines(0, 5), "a.json").exit_code == 0);
  REQUIRE(corpus.score(lines(5, 9), "b.json").exit_code == 0);
  const auto merged = [&](Words files) {
    files.insert(files.begin(), "merge");
    files.insert(files.end(), {"-o", corpus.file("m.json")});
    REQUIRE(attnviz(files).exit_code == 0);
    return corpus.score(lines(0, 9), "m.json", {"--resume"});
  };
  const ProgramResult several = merged({corpus.file("a.json"), corpus.file("b.json")});
  CHECK(several.exit_code == 2);
  CHECK(mentions(several.err, {"m.json", "--resume", "merged"}));
  CHECK(merged({corpus.file("a.json")}).exit_code == 0);
  CHECK(read_json(corpus.file("m.json"))["n_texts"] == 9);
}

TEST_CASE("heads over a corpus: --partial begins a file of its own; only sums can be resumed") {
  const Corpus corpus;
  REQUIRE(corpus.score(lines(0, 5), "p.json").exit_code == 0);
  write_file(corpus.file("notes.txt"), lines(0, 2));
  for (const char* name : {"p.json", "notes.txt"}) {
    CAPTURE(name);
    const std::string before = read_file(corpus.file(name));
    const ProgramResult anew = corpus.score(lines(0, 5), name);
    CHECK(anew.exit_code == 2);
    CHECK(mentions(anew.err, {"--partial", corpus.file(name), "--resume"}));
    CHECK(read_file(corpus.file(name)) == before);
  }
  CHECK(corpus.score(lines(0, 5), "notes.txt", {"--resume"}).exit_code == 3);
  CHECK(read_file(corpus.file("notes.txt")) == lines(0, 2));
}

TEST_CASE("heads over a corpus: an interrupted run keeps what it has, and says so") {
  const Corpus corpus;
  std::string text;
  for (int i = 0; i < 400'000; ++i) {
    text += "The cat sat\n";
  }
  write_file(corpus.file("long.txt"), text);
  ProgramRun run;
  run.arguments = {"--preserve-status",
                   "-s",
                   "INT",
                   "2",
                   ATTNVIZ_PROGRAM,
                   "heads",
                   "--lines",
                   "-f",
                   corpus.file("long.txt"),
                   "--partial",
                   corpus.file("p.json"),
                   "-o",
                   corpus.file("x.json"),
                   "-o",
                   corpus.file("x.csv")};
  const ProgramResult result = run_program("/usr/bin/timeout", run);
  CHECK(result.exit_code == 130);
  const json partial = read_json(corpus.file("p.json"));
  const std::size_t n_lines = partial["n_lines"];
  CHECK(n_lines > 0);
  CHECK(n_lines < 400'000);
  CHECK(result.err.ends_with(" " + std::to_string(n_lines) + "\n"));
  CHECK(partial["n_texts"] == n_lines);
  CHECK(read_json(corpus.file("x.json"))["source"] ==
        json{{"kind", "corpus"}, {"n_texts", n_lines}, {"interrupted_after_line", n_lines}});
  const Words rows = lines_of(read_file(corpus.file("x.csv")));
  REQUIRE(rows.size() == 17);
  CHECK(rows[0].ends_with(",interrupted_after_line"));
  for (std::size_t i = 1; i < rows.size(); ++i) {
    CHECK(rows[i].ends_with("," + std::to_string(n_lines)));
    CHECK(std::ranges::count(rows[i], ',') == std::ranges::count(rows[0], ','));
  }
}

TEST_CASE("heads over a corpus: a run that was not interrupted has no mark of an interruption") {
  const Corpus corpus;
  REQUIRE(corpus.score(lines(0, 3), "p.json", {"-o", corpus.file("x.json")}).exit_code == 0);
  CHECK(!contains(read_file(corpus.file("x.csv")), "interrupted"));
  CHECK(!contains(read_file(corpus.file("x.json")), "interrupted"));
}

TEST_CASE("heads over a corpus: a line that cannot be read leaves the sums up to it") {
  const Corpus corpus;
  const std::string broken = "{\"text\": \"The cat sat\"}\n{\"text\": 5}\n";
  const ProgramResult result = attnviz(
      {"heads", "--json-lines", "--partial", corpus.file("p.json"), "-o", corpus.file("x.csv")},
      broken);
  CHECK(result.exit_code == 3);
  CHECK(mentions(result.err, {"line 2"}));
  CHECK(read_json(corpus.file("p.json"))["n_texts"] == 1);
  CHECK(read_json(corpus.file("p.json"))["n_lines"] == 1);
}

TEST_CASE("merge: other models, heads and definitions are refused, broken files with the place") {
  const Corpus corpus;
  REQUIRE(corpus.score(lines(0, 2), "a.json").exit_code == 0);
  const auto refusal = [&](const Words& how) {
    std::filesystem::remove(corpus.file("b.json"));
    REQUIRE(corpus.score(lines(0, 2), "b.json", how).exit_code == 0);
    const ProgramResult result = attnviz({"merge", corpus.file("a.json"), corpus.file("b.json")});
    CHECK(result.exit_code == 2);
    CHECK(corpus
              .score(lines(0, 3), "a.json",
                     [&] {
                       Words resumed = how;
                       resumed.emplace_back("--resume");
                       return resumed;
                     }())
              .exit_code == 2);
    return result.err;
  };
  CHECK(mentions(refusal({"--random"}), {"fingerprint"}));
  CHECK(mentions(refusal({"--head", "*.1"}), {"16"}));
  CHECK(mentions(refusal({"--band", "2"}), {"band", " 2", " 4"}));
  CHECK(mentions(refusal({"--temperature", "2"}), {"mask", "temperature"}));
  CHECK(mentions(refusal({"--no-bos"}), {"bos", "none"}));
  CHECK(attnviz({"merge"}).exit_code == 2);
  const ProgramResult table = attnviz({"merge", corpus.file("a.json"), "-o", corpus.file("m.csv")});
  CHECK(table.exit_code == 2);
  CHECK(mentions(table.err, {"m.csv"}));
  for (const char* broken : {"{}", "[1]", R"({"schema": "attnviz.heads/1"})"}) {
    write_file(corpus.file("c.json"), broken);
    CHECK(attnviz({"merge", corpus.file("c.json")}).exit_code == 3);
  }
  std::string damaged = read_file(corpus.file("a.json"));
  damaged.replace(damaged.find("\"previous\": \"") + 13, 2, "zz");
  write_file(corpus.file("c.json"), damaged);
  CHECK(mentions(attnviz({"merge", corpus.file("c.json")}).err, {"uniform.previous", "32"}));
  damaged = read_file(corpus.file("a.json"));
  damaged.replace(damaged.find("\"previous\": \"") + 13, 2, "7f");
  write_file(corpus.file("c.json"), damaged);
  CHECK(attnviz({"merge", corpus.file("c.json")}).exit_code == 3);
  damaged = read_file(corpus.file("a.json"));
  damaged.insert(damaged.find("\"n_texts\": ") + 11, "1000000000000000");
  write_file(corpus.file("c.json"), damaged);
  CHECK(mentions(attnviz({"merge", corpus.file("c.json")}).err, {"n_texts"}));
}

TEST_CASE("merge: two lists of a hundred thousand fingerprints are compared") {
  const Corpus corpus;
  REQUIRE(corpus.score(lines(0, 2), "a.json").exit_code == 0);
  const std::string sums = read_file(corpus.file("a.json"));
  for (const std::string name : {"b", "c"}) {
    std::string prints;
    for (int i = 0; i < 100'000; ++i) {
      prints.append("\"").append(name).append(std::to_string(i)).append("\", ");
    }
    std::string many = sums;
    many.insert(many.find("\"n_texts\""), "\"merged_fingerprints\": [" + prints + "\"z\"], ");
    write_file(corpus.file(name + ".json"), many);
  }
  const ProgramResult merged =
      attnviz({"merge", corpus.file("b.json"), corpus.file("c.json"), "-o", corpus.file("d.json")});
  CHECK(merged.exit_code == 0);
  CHECK(contains(merged.err, corpus.file("c.json")));
}

TEST_CASE("heads over a corpus: neither the corpus nor sums that are read are overwritten") {
  const Corpus corpus;
  write_file(corpus.file("c.txt"), lines(0, 2));
  const ProgramResult over =
      attnviz({"heads", "--lines", "-f", corpus.file("c.txt"), "--partial", corpus.file("c.txt")});
  CHECK(over.exit_code == 2);
  CHECK(mentions(over.err, {"--partial", corpus.file("c.txt")}));
  CHECK(read_file(corpus.file("c.txt")) == lines(0, 2));
  CHECK(corpus.score(lines(0, 2), "a.json", {"-o", corpus.file("a.json")}).exit_code == 2);
  REQUIRE(corpus.score(lines(0, 2), "a.json").exit_code == 0);
  const std::string sums = read_file(corpus.file("a.json"));
  CHECK(attnviz({"merge", corpus.file("a.json"), "-o", corpus.file("a.json")}).exit_code == 2);
  CHECK(read_file(corpus.file("a.json")) == sums);
  CHECK(mentions(attnviz({"merge", corpus.file("a.json"), corpus.file("a.json")}).err, {"a.json"}));
}

TEST_CASE("heads of sums: options for what went into them are refused") {
  const Corpus corpus;
  REQUIRE(corpus.score(lines(0, 2), "a.json").exit_code == 0);
  for (const Words& late : std::vector<Words>{{"--head", "0.1"},
                                              {"--layer", "1"},
                                              {"--ids", "1"},
                                              {"--punctuation", "1"},
                                              {"--transformer-lens"},
                                              {"--band", "2"}}) {
    CAPTURE(late.front());
    Words arguments = {"heads", corpus.file("a.json")};
    arguments.insert(arguments.end(), late.begin(), late.end());
    const ProgramResult result = attnviz(arguments);
    CHECK(result.exit_code == 2);
    CHECK(mentions(result.err, {late.front(), corpus.file("a.json")}));
  }
}

TEST_CASE("samples/corpus.sh: two jobs at once, killed and started again, count each line once") {
  if (!std::filesystem::exists("/usr/bin/parallel")) {
    MESSAGE("SKIPPED: no /usr/bin/parallel");
    return;
  }
  const Corpus corpus;
  write_file(corpus.file("corpus.txt"), lines(0, 900));
  ProgramRun run;
  const std::string script = ATTNVIZ_SOURCE_DIR "/samples/corpus.sh";
  run.environment = {{"PROGRAM", ATTNVIZ_PROGRAM}, {"JOBS", "2"}, {"BLOCKS", "6"}};
  run.arguments = {"-s",     "TERM", "1", script, corpus.file("corpus.txt"), corpus.file("sums"),
                   "--head", "*.1"};
  run_program("/usr/bin/timeout", run);
  run.arguments[2] = "50";
  REQUIRE(run_program("/usr/bin/timeout", run).exit_code == 0);
  REQUIRE(corpus.score(lines(0, 900), "whole.json", {"--head", "*.1"}).exit_code == 0);
  json whole = read_json(corpus.file("whole.json"));
  json parts = read_json(corpus.file("sums/all.json"));
  forget_lines(whole);
  forget_lines(parts);
  CHECK(parts["n_texts"] == 900);
  CHECK(whole == parts);
}

}  // namespace attnviz::test
