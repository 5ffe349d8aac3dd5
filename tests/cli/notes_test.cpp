// Options that change nothing, and pictures that show nothing, get a note or are refused.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <string>
#include <string_view>
#include <vector>

#include "cli/attnviz_program.h"
#include "support/json.h"

namespace attnviz::test {
namespace {

using Words = std::vector<std::string>;

std::string words(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += fmt::format("w{} ", i);
  }
  return text;
}

}  // namespace

TEST_CASE("options of pictures get a note when no picture of their kind is written") {
  const TemporaryFolder folder;
  const auto errors = [&folder](Words options) {
    options.emplace_back("The cat");
    const ProgramResult run = in_folder(folder, std::move(options));
    CHECK(run.exit_code == 0);
    return run.err;
  };
  CHECK(mentions(errors({"--theme", "dark", "--cell", "9", "--dpi", "300"}),
                 {"--cell, --theme, --dpi", "-o FILE.png", "-o FILE.svg"}));
  CHECK(contains(errors({"--dpi", "300", "-o", "a.json"}), "--dpi"));
  CHECK_FALSE(contains(errors({"--theme", "dark", "-o", "a.png"}), "--theme"));
  CHECK_FALSE(contains(errors({"--theme", "dark", "-o", "a.svg"}), "--theme"));
  CHECK(errors({"--theme", "dark", "-q"}).empty());
  CHECK(contains(in_folder(folder, {"render", "a.json", "--cell", "9"}).err, "--cell"));
}

TEST_CASE("notes name the options that arrays and pages ignore, also beside a picture") {
  const TemporaryFolder folder;
  const auto errors = [&folder](Words options) {
    options.emplace_back("The cat");
    const ProgramResult run = in_folder(folder, std::move(options));
    CHECK(run.exit_code == 0);
    return run.err;
  };
  CHECK(contains(errors({"--no-special", "-o", "a.npy"}), "--no-special"));
  CHECK(contains(errors({"--drop-sink", "--transpose", "--json", "-o", "a.npy"}),
                 "--drop-sink, --transpose"));
  CHECK_FALSE(contains(errors({"--plain-labels", "-o", "a.npy"}), "--plain-labels"));
  for (const Words& where : {Words{"-o", "a.html"}, Words{"-o", "-", "--format", "html"}}) {
    Words all = {"--no-special", "--transpose", "--plain-labels"};
    all.insert(all.end(), where.begin(), where.end());
    CHECK(mentions(errors(all), {"--no-special, --transpose", "--plain-labels"}));
    Words sink = {"--drop-sink"};
    sink.insert(sink.end(), where.begin(), where.end());
    CHECK_FALSE(contains(errors(sink), "--drop-sink"));
    for (const char* const pool : {"mean", "max", "auto"}) {
      Words pooled = {"--pool", pool};
      pooled.insert(pooled.end(), where.begin(), where.end());
      CHECK(contains(errors(pooled), "--pool") == (pool == std::string_view("mean")));
    }
  }
  // Once, even with two reasons.
  const std::string arcs = errors({"--style", "arcs", "--no-values"});
  CHECK(mentions(arcs, {"--no-values"}));
  CHECK(arcs.find("--no-values") == arcs.rfind("--no-values"));
  CHECK(errors({"--no-special", "--transpose", "-q", "-o", "a.npy", "-o", "a.html"}).empty());
  CHECK(contains(in_folder(folder, {"diff", "The cat", "The dog", "--head", "2.1", "--transpose",
                                    "-o", "a.npy"})
                     .err,
                 "--transpose"));
}

TEST_CASE("--focus with --style mask is refused; dots and numbers become bars") {
  const Words focus = {"The cat sat", "--focus", "cat", "--layer", "2", "-q", "--style"};
  const auto with = [&focus](const char* style) {
    Words arguments = focus;
    arguments.emplace_back(style);
    return attnviz(arguments);
  };
  const ProgramResult mask = with("mask");
  CHECK(mask.exit_code == 2);
  CHECK(mentions(mask.err, {"--focus", "--style mask"}));
  for (const char* style : {"dots", "numbers"}) {
    CHECK(with(style).out == with("blocks").out);
  }
}

TEST_CASE("inspect --json has every step: choosing some or explaining them is refused") {
  const TemporaryFolder folder;
  for (const Words& option : {Words{"--step", "softmax"}, Words{"--explain"}}) {
    Words arguments = {"inspect", "The cat", "--json"};
    arguments.insert(arguments.end(), option.begin(), option.end());
    const ProgramResult alone = in_folder(folder, arguments);
    CHECK(alone.exit_code == 2);
    CHECK(mentions(alone.err, {option.front()}));
    CHECK(alone.out.empty());
    arguments.insert(arguments.end(), {"-o", "a.txt"});
    CHECK(in_folder(folder, arguments).exit_code == 0);
  }
  CHECK(attnviz({"inspect", "The cat", "--json", "--full"}).exit_code == 0);
}

TEST_CASE(
    "a long text's picture of nearly one colour gets one note, with an option that shows more") {
  // Equal scores give each of n tokens a weight of 1/n.
  const TemporaryFolder folder;
  const std::string note = "--scale";
  const auto errors = [&folder](Words options) {
    options.insert(options.end(), {"--random", "--mask", "none", "--temperature", "1000"});
    const ProgramResult run = in_folder(folder, std::move(options));
    CHECK(run.exit_code == 0);
    return run.err;
  };
  const std::string text = words(40);
  CHECK(contains(errors({text}), note));
  CHECK_FALSE(contains(errors({words(32)}), note));
  CHECK_FALSE(contains(errors({text, "-q"}), note));
  CHECK_FALSE(contains(errors({text, "--scale", "log"}), note));
  CHECK_FALSE(contains(errors({text, "--scale", "linear"}), note));
  CHECK_FALSE(contains(errors({text, "--style", "mask"}), note));
  CHECK_FALSE(contains(errors({text, "--json"}), note));
  CHECK(contains(errors({text, "--json", "-o", "a.png"}), note));
  CHECK_FALSE(contains(errors({text, "--focus", "3"}), note));
  const std::string lines =
      attnviz({"--random", "--lines", "--mask", "none", "--temperature", "1000"},
              text + "\n" + text)
          .err;
  CHECK(contains(lines, note));
  CHECK(lines.find(note) == lines.rfind(note));
}

TEST_CASE("notes: windows and soft caps of the layers that are drawn are in legend and document") {
  const std::string model = ATTNVIZ_SOURCE_DIR "/tests/reference/models/gemma2-softcap-window";
  const TemporaryFolder folder;
  const Words text = {"-m", model, "--ids", "5,17,3,9,30,2,8"};
  const auto with = [&text](Words more) {
    more.insert(more.begin(), text.begin(), text.end());
    return more;
  };
  const ProgramResult both = in_folder(folder, with({"--layer", "0,1", "-o", "both.json"}));
  CHECK(mentions(both.out, {"layer 0", "window 5", "cap 1.75", "layer 1"}));
  CHECK_FALSE(contains(in_folder(folder, with({"--layer", "1"})).out, "layer 0"));
  const nlohmann::json document = read_json(folder.file("both.json"));
  CHECK(document["model"]["family"] == "gemma2");
  CHECK(document["layer_facts"][0] ==
        nlohmann::json{{"layer", 0}, {"window", 5}, {"soft_cap", 1.75}});
  CHECK(contains(in_folder(folder, {"render", "both.json"}).out, "layer 0: window 5"));
  const ProgramResult all = in_folder(folder, {"render", "both.json", "--mask", "none"});
  CHECK_FALSE(contains(all.out, "window 5"));
  CHECK(mentions(all.out, {"cap 1.75"}));
}

}  // namespace attnviz::test
