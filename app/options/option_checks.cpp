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

void check_input(const CLI::App& app, const InputOptions& input) {
  const std::pair<const char*, bool> sources[] = {{"TEXT", input.text.has_value()},
                                                  {"--file", input.file.has_value()},
                                                  {"--ids", input.ids.has_value()}};
  const char* given = nullptr;
  for (const auto& [name, present] : sources) {
    if (!present) {
      continue;
    }
    if (given != nullptr) {
      conflict(given, name);
    }
    given = name;
  }
  if (input.lines && input.json_lines) {
    conflict("--lines", "--json-lines");
  }
  if (input.ids && input.many_texts()) {
    conflict("--ids", input.lines ? "--lines" : "--json-lines");
  }
  if (app.count("--bos") > 0 && app.count("--no-bos") > 0) {
    conflict("--bos", "--no-bos");
  }
  for (const char* option : {"--pair", "--bos", "--no-bos", "--special"}) {
    if (input.ids && app.count(option) > 0) {
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

void check_attention(const CLI::App& app, AttentionOptions& options) {
  check_input(app, options.input);
  check_quiet(options.talk);
  if (options.model.weights) {
    if (app.count("--random") > 0) {
      conflict("--random", "--model");
    }
    for (const char* option : kShapeOptions) {
      if (app.count(option) > 0) {
        throw Error(ErrorKind::kUsage,
                    fmt::format("{} shapes random weights; with --model the model does", option));
      }
    }
  }
  const bool seeds_weights = app.count("--seed") > 0 && app.count("--dropout") == 0;
  const bool is_random = app.count("--random") > 0 || seeds_weights ||
                         std::ranges::any_of(kShapeOptions, [&app](const char* option) {
                           return app.count(option) > 0;
                         });
  if (!options.model.weights && !is_random) {
    options.model.weights = kDemo;
  }
  check_output(options.output);
}

}  // namespace

void check_show(const CLI::App& app, ShowOptions& options) {
  check_attention(app, options);
  for (const Variant& variant : options.side_by_side) {
    if (const char* same = variant.mask ? "--mask" : "--temperature"; app.count(same) > 0) {
      conflict("--side-by-side " + variant.name(), same);
    }
  }
  check_patterns(options.pattern, options.drawing.style);
  if (options.at && options.predict == 0) {
    throw Error(ErrorKind::kUsage, "--at goes with --predict: it says where");
  }
}

void check_inspect(const CLI::App& app, InspectOptions& options) {
  check_attention(app, options);
  const bool only_json = options.output.json && options.output.files.empty();
  for (const char* option : {"--step", "--explain"}) {
    if (only_json && app.count(option) > 0) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("{} goes with text and pictures: --json always has the numbers of "
                              "every step",
                              option));
    }
  }
}

void check_render(const CLI::App& /*app*/, const RenderOptions& options) {
  check_quiet(options.talk);
  check_output(options.output);
  check_patterns(options.pattern, options.drawing.style);
}

void check_tokenize(const CLI::App& app, TokenizeOptions& options) {
  check_input(app, options.input);
  check_quiet(options.talk);
  if (!options.weights && !options.tokenizer) {
    options.weights = kDemo;
  }
}

void check_info(const CLI::App& app, InfoOptions& options) {
  check_quiet(options.talk);
  if (app.count(kFile) > 0 && app.count("--model") > 0) {
    conflict(kFile, "--model");
  }
  constexpr const char* kDescribing[] = {"--layers", "--heads",   "--kv-heads", "--d-model",
                                         "--d-head", "--d-value", "--d-ff",     "--gated",
                                         "--vocab",  "--tied",    "--context"};
  const auto* const given = std::ranges::find_if(
      kDescribing, [&app](const char* option) { return app.count(option) > 0; });
  const bool is_described = given != std::end(kDescribing);
  if (options.weights && is_described) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format("{} describes a model without weights; with --model the model does", *given));
  }
  if (is_described && app.count("--d-model") == 0 && app.count("--d-head") == 0) {
    throw Error(ErrorKind::kUsage,
                "info: give --d-model, or --heads and --d-head, beside the other sizes");
  }
  if (!options.weights && !is_described) {
    options.weights = kDemo;
  }
  for (const auto& [option, other] : {std::pair("--gated", "--d-ff"), {"--tied", "--vocab"}}) {
    if (app.count(option) > 0 && app.count(other) == 0) {
      throw Error(ErrorKind::kUsage, fmt::format("{} goes with {}", option, other));
    }
  }
}

void check_models(const CLI::App& /*app*/, const ModelsOptions& options) {
  check_quiet(options.talk);
}

void check_weights(const CLI::App& /*app*/, const WeightsOptions& options) {
  check_quiet(options.talk);
}

}  // namespace attnviz::app
