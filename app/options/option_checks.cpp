// Checks that involve several options.
#include "options/command_line.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string>
#include <system_error>
#include <vector>

#include "attnviz/core/error.h"
#include "options/option_groups.h"
#include "options/option_values.h"

namespace attnviz::app {

namespace {

[[noreturn]] void fail(const std::string& message) {
  throw Error(ErrorKind::kUsage, message);
}

}  // namespace

void check_output(const OutputOptions& output) {
  for (const std::string& file : output.files) {
    refuse_equals_sign("-o", file);
  }
  const auto to_stdout = std::ranges::count(output.files, "-");
  if (to_stdout > 1) {
    fail("-o - may be given once");
  }
  if (to_stdout == 1 && output.json) {
    fail("--json and -o - exclude each other");
  }
}

void check_show(const Given& given, ShowOptions& options) {
  for (const Variant& variant : options.side_by_side) {
    if (variant.is_ablated && options.what_if.empty()) {
      fail("--side-by-side ablated needs --ablate or --hide, which say what to leave out");
    }
    const char* const same = variant.mask ? "--mask" : "--temperature";
    if (!variant.is_ablated && given.has(same)) {
      fail(fmt::format("--side-by-side {} and {} exclude each other", variant.name(), same));
    }
  }
  const auto refuse = [&](const std::vector<std::string>& others, const char* what) {
    if (const std::string other = given.first_of(others); !other.empty()) {
      fail(fmt::format("--show {}: {} goes with {}", word_for(kPatternKinds, options.kind), other,
                       what));
    }
  };
  if (options.kind != PatternKind::kWeights) {
    refuse({"--average", "--merge", "--live"}, "weights alone");
  }
  if (is_no_attention(options.kind)) {
    refuse({"--side-by-side", "--focus", "--names", "--style mask"}, "attention");
  }
  const auto* const model = std::get_if<GivenModel>(&options.model.model);
  if (options.live && (model == nullptr || !std::holds_alternative<EmbeddedModel>(*model))) {
    fail("--live works only with the demo model");
  }
}

void check_inspect(const Given& given, const InspectOptions& options) {
  for (const char* const option : {"--step", "--explain", "--batch"}) {
    if (given.has(option) && options.output.json && options.output.files.empty()) {
      fail(fmt::format("{} is for text and pictures: --json always has the numbers of every step",
                       option));
    }
  }
}

void check_heads(const Given& given, HeadsOptions& options) {
  const std::string text = options.input.text.value_or("");
  options.probe.bos = options.input.bos.value_or(true);
  if (!text.ends_with(".json") && !text.ends_with(".npy")) {
    if (given.has(kText) && given.has("--ids")) {
      fail("TEXT and --ids exclude each other");
    }
    return;
  }
  options.patterns = text;
  options.input.text.reset();
  constexpr std::array kOfRuns = {"Input", "Model", "Attention"};
  constexpr std::array kOfFiles = {
      "--ids", "--layer", "--head", "--band", "--punctuation", "--transformer-lens", "--strict"};
  for (const GivenOption& option : given.options()) {
    if (std::ranges::find(kOfRuns, option.group) != kOfRuns.end() &&
        std::ranges::find(kOfFiles, option.name) == kOfFiles.end()) {
      fail(fmt::format("{}: {} already holds computed attention", option.name, text));
    }
  }
}

void check_why(const Given& given, const WhyOptions& options) {
  if (given.has("--by") && !options.wants_all() && options.ablate_each.empty()) {
    fail("--by needs --ablate-each: it says what replaces the output of an ablated part");
  }
}

void check_cite(const Given& /*given*/, const CiteOptions& options) {
  const auto n_stdin = std::ranges::count(options.documents, "-");
  const InputOptions& input = options.input;
  const bool asks_stdin = input.text == "-" || input.file == "-" || !input.is_given();
  if (n_stdin > 1 || (n_stdin == 1 && asks_stdin)) {
    fail("--doc -: standard input is read once; give the question as a TEXT");
  }
}

void check_diff(const Given& /*given*/, DiffOptions& options) {
  settle_compared(options);
  if (draws_arcs(options.drawing.style) && !options.draws_heads()) {
    fail("--style arcs needs --head: it draws the changes of chosen heads");
  }
  if (options.draws_heads() &&
      options.drawing.request.scale.value_or(ScaleKind::kLinear) != ScaleKind::kLinear) {
    fail("--scale: changes have both signs and are always drawn on a linear scale");
  }
}

void check_merge(const Given& /*given*/, const MergeOptions& options) {
  if (options.files.empty()) {
    fail("merge needs FILEs, as in: attnviz merge a.json b.json -o all.json");
  }
  const std::filesystem::path extension = std::filesystem::path(options.output).extension();
  if (!extension.empty() && extension != ".json") {
    fail(fmt::format("-o {}: sums are written as .json", options.output));
  }
}

void check_render(const Given& /*given*/, const RenderOptions& options) {
  const PatternKind usual = options.softmax ? PatternKind::kScores : PatternKind::kWeights;
  if (options.softmax && !is_before_softmax(options.kind.value_or(usual))) {
    fail("--softmax needs scores: --kind scores, scaled or masked");
  }
}

void check_tokenize(const Given& /*given*/, TokenizeOptions& options) {
  if (!options.model && !options.tokenizer) {
    options.model = EmbeddedModel();
  }
}

void check_meaning(const Given& /*given*/, const MeaningOptions& options) {
  if (options.word.find_first_not_of(" \t\r\n") == std::string::npos) {
    fail("meaning needs a WORD, as in: attnviz meaning bank --in \"…\" --in \"…\"");
  }
  if (options.contexts.size() < 2) {
    fail(fmt::format("meaning compares texts: give --in twice or more, found {}",
                     options.contexts.size()));
  }
}

namespace {

namespace fs = std::filesystem;

// Adds links whose names begin with `prefix`: per-line files may replace the files they lead to.
void add_links(const fs::path& prefix, std::vector<fs::path>& files) {
  const fs::path folder = prefix.has_parent_path() ? prefix.parent_path() : fs::path(".");
  const std::string name = prefix.filename().string();
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().filename().string().starts_with(name) && entry->is_symlink(error)) {
      files.push_back(entry->path());
    }
  }
}

}  // namespace

std::vector<std::filesystem::path> output_paths(const Command& command) {
  std::vector<std::filesystem::path> files;
  const auto add = [&files](const std::string& name) {
    if (name != "-") {
      files.emplace_back(name);
    }
  };
  std::visit(
      [&](const auto& options) {
        if constexpr (requires { options.output.files; }) {
          for (const std::string& name : options.output.files) {
            const std::string prefix = name.substr(0, name.find("{line}"));
            add(prefix);
            if (prefix.size() < name.size()) {
              add_links(prefix, files);
            }
          }
        } else if constexpr (requires { options.output; }) {
          add(options.output);
        }
        if constexpr (requires { options.partial; }) {
          if (options.partial) {
            add(options.partial->string());
          }
        }
      },
      command);
  return files;
}

bool is_verbose(const Command& command) {
  return std::visit(
      [](const auto& options) {
        if constexpr (requires { options.verbosity.verbose; }) {
          return options.verbosity.verbose;
        } else {
          return false;
        }
      },
      command);
}

}  // namespace attnviz::app
