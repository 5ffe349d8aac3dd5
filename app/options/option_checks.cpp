// What no option can tell alone.
#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "attnviz/core/error.h"
#include "options/option_definitions.h"
#include "options/option_values.h"

namespace attnviz::app {

namespace {

constexpr const char* kShapeOptions[] = {"--layers",  "--heads",  "--kv-heads",
                                         "--d-model", "--d-head", "--d-value"};

[[noreturn]] void conflict(std::string_view a, std::string_view b) {
  throw Error(ErrorKind::kUsage, fmt::format("{} and {} exclude each other", a, b));
}

void check_input(const Given& given, const InputOptions& input) {
  const std::pair<const char*, bool> sources[] = {{"TEXT", input.text.has_value()},
                                                  {"--file", input.file.has_value()},
                                                  {"--ids", input.ids.has_value()}};
  const char* first = nullptr;
  for (const auto& [name, present] : sources) {
    if (!present) {
      continue;
    }
    if (first != nullptr) {
      conflict(first, name);
    }
    first = name;
  }
  if (input.lines && input.json_lines) {
    conflict("--lines", "--json-lines");
  }
  if (input.ids && input.many_texts()) {
    conflict("--ids", input.lines ? "--lines" : "--json-lines");
  }
  if (given.has("--bos") && given.has("--no-bos")) {
    conflict("--bos", "--no-bos");
  }
  for (const char* option : {"--pair", "--bos", "--no-bos", "--special"}) {
    if (input.ids && given.has(option)) {
      throw Error(
          ErrorKind::kUsage,
          fmt::format("{} says how a text becomes tokens; --ids are taken as they are", option));
    }
  }
}

void check_quiet(const TalkOptions& talk) {
  if (talk.quiet && talk.verbose) {
    conflict("--quiet", "--verbose");
  }
}

void check_output(const OutputOptions& output) {
  for (const std::string& file : output.files) {
    refuse_equals_sign("-o", file);
  }
  const auto to_stdout = std::count(output.files.begin(), output.files.end(), "-");
  if (to_stdout > 1) {
    throw Error(ErrorKind::kUsage, "-o - may be given once");
  }
  if (to_stdout == 1 && output.json) {
    conflict("--json", "-o -");
  }
  if (output.format && output.files.empty()) {
    throw Error(ErrorKind::kUsage, "--format goes with -o: it says what is written there");
  }
}

void check_patterns(const PatternOptions& pattern, StyleChoice style) {
  if (pattern.as_key && !pattern.focus) {
    throw Error(ErrorKind::kUsage, "--as-key goes with --focus: it says how that token is taken");
  }
  if (pattern.focus && style == StyleChoice::kMask) {
    throw Error(ErrorKind::kUsage,
                "--focus draws bars of weights, --style mask none; take one of them");
  }
}

void check_attention(const Given& given, AttentionOptions& options) {
  check_input(given, options.input);
  check_quiet(options.talk);
  if (options.model.weights) {
    if (given.has("--random")) {
      conflict("--random", "--model");
    }
    for (const char* option : kShapeOptions) {
      if (given.has(option)) {
        throw Error(ErrorKind::kUsage,
                    fmt::format("{} shapes random weights; with --model the model does", option));
      }
    }
  }
  const bool seeds_weights = given.has("--seed") && !given.has("--dropout");
  const bool is_random = given.has("--random") || seeds_weights ||
                         std::ranges::any_of(kShapeOptions, [&given](const char* option) {
                           return given.has(option);
                         });
  if (!options.model.weights && !is_random) {
    options.model.weights = kDemo;
  }
  check_output(options.output);
}

}  // namespace

void check_show(const Given& given, ShowOptions& options) {
  check_attention(given, options);
  for (const Variant& variant : options.side_by_side) {
    if (const char* same = variant.mask ? "--mask" : "--temperature"; given.has(same)) {
      conflict("--side-by-side " + variant.name(), same);
    }
  }
  check_patterns(options.pattern, options.drawing.style);
  if (options.at && options.predict == 0) {
    throw Error(ErrorKind::kUsage, "--at goes with --predict: it says where");
  }
}

void check_inspect(const Given& given, InspectOptions& options) {
  check_attention(given, options);
  const bool only_json = options.output.json && options.output.files.empty();
  for (const char* option : {"--step", "--explain"}) {
    if (only_json && given.has(option)) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("{} goes with text and pictures: --json always has the numbers of "
                              "every step",
                              option));
    }
  }
}

void check_render(const Given& /*given*/, const RenderOptions& options) {
  check_quiet(options.talk);
  check_output(options.output);
  check_patterns(options.pattern, options.drawing.style);
}

void check_tokenize(const Given& given, TokenizeOptions& options) {
  check_input(given, options.input);
  check_quiet(options.talk);
  if (!options.weights && !options.tokenizer) {
    options.weights = kDemo;
  }
}

void check_info(const Given& given, InfoOptions& options) {
  check_quiet(options.talk);
  if (given.has(kFile) && given.has("--model")) {
    conflict(kFile, "--model");
  }
  constexpr const char* kDescribing[] = {"--layers", "--heads",   "--kv-heads", "--d-model",
                                         "--d-head", "--d-value", "--d-ff",     "--gated",
                                         "--vocab",  "--tied",    "--context"};
  const auto* const size =
      std::ranges::find_if(kDescribing, [&given](const char* option) { return given.has(option); });
  const bool is_described = size != std::end(kDescribing);
  if (options.weights && is_described) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format("{} describes a model without weights; with --model the model does", *size));
  }
  if (is_described && !given.has("--d-model") && !given.has("--d-head")) {
    throw Error(ErrorKind::kUsage,
                "info: give --d-model, or --heads and --d-head, beside the other sizes");
  }
  if (!options.weights && !is_described) {
    options.weights = kDemo;
  }
  for (const auto& [option, other] : {std::pair("--gated", "--d-ff"), {"--tied", "--vocab"}}) {
    if (given.has(option) && !given.has(other)) {
      throw Error(ErrorKind::kUsage, fmt::format("{} goes with {}", option, other));
    }
  }
}

void check_models(const Given& /*given*/, const ModelsOptions& options) {
  check_quiet(options.talk);
}

void check_weights(const Given& /*given*/, const WeightsOptions& options) {
  check_quiet(options.talk);
}

}  // namespace attnviz::app
