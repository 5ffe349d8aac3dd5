// What no option can tell alone.
#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "attnviz/core/error.h"
#include "options/option_definitions.h"
#include "options/option_groups.h"
#include "options/option_values.h"

namespace attnviz::app {

namespace {

constexpr const char* kShapeOptions[] = {"--layers",  "--heads",  "--kv-heads",
                                         "--d-model", "--d-head", "--d-value"};

constexpr const char* kDescribingOptions[] = {"--d-ff", "--gated", "--vocab", "--tied",
                                              "--context"};

constexpr const char* kProbeOptions[] = {"--probe-length", "--probe-repeats", "--probe-count",
                                         "--probe-seed", "--probe-ids"};

// Options that exclude each other, whatever the command.
constexpr std::pair<const char*, const char*> kConflicts[] = {{kText, "--file"},
                                                              {"--file", "--ids"},
                                                              {kText, "--messages"},
                                                              {"--file", "--messages"},
                                                              {"--lines", "--messages"},
                                                              {"--json-lines", "--messages"},
                                                              {"--ids", "--messages"},
                                                              {"--ids", "--chat"},
                                                              {"--ids", "--system"},
                                                              {"--pair", "--chat"},
                                                              {"--pair", "--system"},
                                                              {"--pair", "--messages"},
                                                              {"--json", "--print-prompt"},
                                                              {"-o", "--print-prompt"},
                                                              {"--lines", "--json-lines"},
                                                              {"--ids", "--lines"},
                                                              {"--ids", "--json-lines"},
                                                              {"--bos", "--no-bos"},
                                                              {"--target", "--decoder-ids"},
                                                              {"--cell", "--width"},
                                                              {"--focus", "--transpose"},
                                                              {"--quiet", "--verbose"},
                                                              {"--random", "--model"},
                                                              {kFile, "--model"}};

// Options that say more of another, and what.
struct Addition {
  const char* option;
  const char* other;
  const char* what;
};

constexpr Addition kAdditions[] = {{"--format", "-o", ": it says what is written there"},
                                   {"--as-key", "--focus", ": it says how that token is taken"},
                                   {"--resume", "--partial", ""},
                                   {"--gated", "--d-ff", ""},
                                   {"--tied", "--vocab", ""}};

[[noreturn]] void fail(const std::string& message) {
  throw Error(ErrorKind::kUsage, message);
}

[[noreturn]] void conflict(std::string_view a, std::string_view b) {
  fail(fmt::format("{} and {} exclude each other", a, b));
}

// The first of `options` that was given; null where none was.
const char* first_given(const Given& given, std::span<const char* const> options) {
  const auto found =
      std::ranges::find_if(options, [&given](const char* option) { return given.has(option); });
  return found == options.end() ? nullptr : *found;
}

void check_ids(const Given& given) {
  if (given.has(kText) && given.has("--ids")) {
    conflict(kText, "--ids");
  }
  constexpr const char* kCutting[] = {"--pair", "--bos", "--no-bos", "--special"};
  if (const char* option = first_given(given, kCutting); option != nullptr && given.has("--ids")) {
    fail(fmt::format("{} says how a text becomes tokens; --ids are taken as they are", option));
  }
}

void check_patterns(const PatternOptions& pattern, StyleChoice style) {
  if (pattern.focus && style == TerminalStyle::kMask) {
    fail("--focus draws bars of weights, --style mask none; take one of them");
  }
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
    conflict("--json", "-o -");
  }
}

void check_attention(const Given& given, AttentionOptions& options) {
  check_ids(given);
  const char* const shape = first_given(given, kShapeOptions);
  if (given.has("--model") && shape != nullptr) {
    fail(fmt::format("{} shapes random weights; with --model the model does", shape));
  }
  const bool seeds_weights = given.has("--seed") && !given.has("--dropout");
  if (seeds_weights && !given.has("--model") && shape == nullptr) {
    options.model.model = RandomShape();
  }
  check_output(options.output);
}

void check_given(const Given& given) {
  constexpr const char* kChat[] = {"--chat", "--system", "--messages"};
  for (const char* const option : {"--no-generation-prompt", "--tools"}) {
    if (given.has(option) && first_given(given, kChat) == nullptr) {
      fail(fmt::format("{} goes with --chat, --system or --messages", option));
    }
  }
  if (given.has("--no-values") && given.word("--style") == "numbers") {
    fail("--style numbers draws nothing but numbers, --no-values none; take one of them");
  }
  for (const auto& [option, other] : kConflicts) {
    if (given.has(option) && given.has(other)) {
      conflict(option, other);
    }
  }
  for (const auto& [option, other, what] : kAdditions) {
    if (given.has(option) && !given.has(other)) {
      fail(fmt::format("{} goes with {}{}", option, other, what));
    }
  }
}

void check_show(const Given& given, ShowOptions& options) {
  check_attention(given, options);
  for (const Variant& variant : options.side_by_side) {
    if (variant.is_ablated && options.what_if.empty()) {
      fail("--side-by-side ablated goes with --ablate or --hide: they say what is left out");
    }
    if (variant.is_ablated) {
      continue;
    }
    if (const char* same = variant.mask ? "--mask" : "--temperature"; given.has(same)) {
      conflict("--side-by-side " + variant.name(), same);
    }
  }
  if (given.has("--at") && !given.has("--predict")) {
    fail("--at goes with --predict: it says where");
  }
  check_patterns(options.pattern, options.drawing.style);
  if (options.kind != PatternKind::kWeights) {
    constexpr const char* kOther[] = {"--average", "--merge", "--live"};
    if (const char* const other = first_given(given, kOther); other != nullptr) {
      fail(fmt::format("--show: {} goes with weights alone", other));
    }
    constexpr const char* kOfAttention[] = {"--side-by-side", "--focus", "--names"};
    const char* const of_attention = first_given(given, kOfAttention);
    if (is_no_attention(options.kind) && of_attention != nullptr) {
      fail(fmt::format("--show {}: {} goes with attention", word_for(kPatternKinds, options.kind),
                       of_attention));
    }
    if (is_no_attention(options.kind) && options.drawing.style == TerminalStyle::kMask) {
      fail(fmt::format("--show {}: --style mask draws which tokens see which",
                       word_for(kPatternKinds, options.kind)));
    }
  }
  if (options.live) {
    constexpr const char* kOther[] = {
        "--random",     "--tokenizer", "--ids",     "--pair",     "--bos",          "--no-bos",
        "--special",    "--mask",      "--seed",    "--no-scale", "--dropout",      "--temperature",
        "--ablate",     "--hide",      "--average", "--merge",    "--side-by-side", "--lines",
        "--json-lines", "--generate",  "--chat",    "--system",   "--messages"};
    if (const char* const other = first_given(given, kOther); other != nullptr) {
      fail(fmt::format("--live runs the demo model as it is, in the page: not beside {}", other));
    }
    const auto* const model = std::get_if<GivenModel>(&options.model.model);
    if (model == nullptr || !std::holds_alternative<EmbeddedModel>(*model)) {
      fail("--live runs the demo model, and no other");
    }
  }
}

void check_inspect(const Given& given, InspectOptions& options) {
  check_attention(given, options);
  constexpr const char* kOfText[] = {"--step", "--explain", "--batch"};
  const char* const option = first_given(given, kOfText);
  if (option != nullptr && options.output.json && options.output.files.empty()) {
    fail(fmt::format("{} goes with text and pictures: --json always has the numbers of every step",
                     option));
  }
}

void check_heads(const Given& given, HeadsOptions& options) {
  options.asks_band = given.has("--band");
  const std::string text = options.input.text.value_or("");
  if (text.ends_with(".json") || text.ends_with(".npy")) {
    options.patterns = text;
    options.input.text.reset();
    check_output(options.output);
    constexpr const char* kOfRuns[] = {"--model",       "--random",
                                       "--seed",        "--positions",
                                       "--tokenizer",   "--truncate",
                                       "--mask",        "--no-scale",
                                       "--temperature", "--dropout",
                                       "--file",        "--pair",
                                       "--bos",         "--no-bos",
                                       "--special",     "--lines",
                                       "--json-lines",  "--copying",
                                       "--known",       "--partial",
                                       "--ablate",      "--hide",
                                       "--chat",        "--system",
                                       "--lint-prompt", "--no-generation-prompt"};
    using Names = std::span<const char* const>;
    for (const Names options_of_runs :
         {Names(kOfRuns), Names(kShapeOptions), Names(kProbeOptions)}) {
      if (const char* option = first_given(given, options_of_runs); option != nullptr) {
        fail(fmt::format("{}: {} holds attention that has been computed", option, text));
      }
    }
    return;
  }
  check_attention(given, options);
  constexpr const char* kOfTexts[] = {"--chat",        "--system",   "--pair",       "--special",
                                      "--lint-prompt", "--truncate", "--punctuation"};
  if (const char* option = first_given(given, kOfTexts);
      option != nullptr && !options.input.is_given()) {
    fail(fmt::format(
        "{} is about a text: heads without one takes random tokens, and attnviz heads - "
        "reads it from standard input",
        option));
  }
  const char* const probe = first_given(given, kProbeOptions);
  if (probe != nullptr && options.input.is_given()) {
    fail(fmt::format("{} describes what is taken without a text", probe));
  }
  if (probe != nullptr && given.has("--probe-ids") && probe != std::string_view("--probe-ids")) {
    conflict("--probe-ids", probe);
  }
  if (options.partial && !options.input.many_texts()) {
    fail("--partial goes with --lines or --json-lines: it keeps sums over many texts");
  }
  options.probe.bos = options.input.bos.value_or(true);
}

void check_why(const Given& given, WhyOptions& options) {
  check_attention(given, options);
  constexpr const char* kOfSplit[] = {"--query", "--key"};
  constexpr const char* kOfPrediction[] = {"--at",   "--toward", "--versus",      "--tokens",
                                           "--lens", "--by",     "--attribution", "--ablate-each"};
  const char* const split = first_given(given, kOfSplit);
  if (split == nullptr) {
    for (const char* selection : {"--head", "--layer"}) {
      if (given.has(selection)) {
        fail(fmt::format("{} goes with --query and --key: it is the head whose score is split",
                         selection));
      }
    }
    if (given.has("--by") && !options.wants_all() && options.ablate_each.empty()) {
      fail("--by goes with --ablate-each: it says what stands in a part's place");
    }
    return;
  }
  for (const char* needed : {"--query", "--key", "--head"}) {
    if (!given.has(needed)) {
      fail(fmt::format("{} needs {}, as in: attnviz why TEXT --head 2.1 --query -1 --key cat",
                       split, needed));
    }
  }
  if (const char* option = first_given(given, kOfPrediction); option != nullptr) {
    fail(fmt::format("{} is about a prediction, {} about a score", option, split));
  }
}

void check_cite(const Given& given, const CiteOptions& options) {
  const auto n_stdin = std::ranges::count(options.documents, "-");
  const InputOptions& input = options.input;
  const bool asks_stdin = input.text == "-" || input.file == "-" || !input.is_given();
  if (n_stdin > 1 || (n_stdin == 1 && asks_stdin)) {
    fail("--doc -: standard input is read once; give the question as a TEXT");
  }
  if (options.answer && options.answer->find_first_not_of(" \t\r\n\v\f") == std::string::npos) {
    fail("--answer: empty or blank: there is nothing to score");
  }
  if (options.answer && given.has("--generate")) {
    conflict("--answer", "--generate");
  }
  if (options.print_prompt && given.has("--truncate")) {
    fail("--print-prompt prints the whole prompt, before --truncate would cut it");
  }
  check_output(options.output);
}

void check_diff(const Given& given, DiffOptions& options) {
  check_attention(given, options);
  settle_compared(options);
  constexpr const char* kOfTables[] = {"--map", "--top", "--threshold"};
  if (const char* option = first_given(given, kOfTables);
      option != nullptr && options.draws_heads()) {
    fail(fmt::format("{} goes with what is said of all heads; with --head chosen ones are drawn",
                     option));
  }
  if (draws_arcs(options.drawing.style) && !options.draws_heads()) {
    fail("--style arcs goes with --head: it draws the changes of chosen heads");
  }
  if (options.draws_heads() &&
      options.drawing.request.scale.value_or(ScaleKind::kLinear) != ScaleKind::kLinear) {
    fail("--scale: changes go to both sides of 0, and are drawn linearly");
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
    fail("--softmax takes scores: --kind scores, scaled or masked");
  }
  check_output(options.output);
  check_patterns(options.pattern, options.drawing.style);
}

void check_tokenize(const Given& given, TokenizeOptions& options) {
  check_ids(given);
  if (options.print_prompt && !options.input.chat) {
    fail("--print-prompt goes with --chat, --system or --messages: it prints what becomes of them");
  }
  if (!options.model && !options.tokenizer) {
    options.model = EmbeddedModel();
  }
}

void check_models(const Given& given, const ModelsOptions& /*options*/) {
  if (given.has("--names") && given.has("--json")) {
    conflict("--names", "--json");
  }
}

void check_info(const Given& given, const InfoOptions& options) {
  const char* const shape = first_given(given, kShapeOptions);
  const char* const size = shape != nullptr ? shape : first_given(given, kDescribingOptions);
  if (options.families) {
    for (const char* other : {"--model", kFile, size}) {
      if (other != nullptr && given.has(other)) {
        conflict(other, "--families");
      }
    }
  }
  if (size != nullptr && (given.has("--model") || given.has(kFile))) {
    fail(fmt::format("{} describes a model without weights; with --model the model does", size));
  }
  if (size != nullptr && !given.has("--d-model") && !given.has("--d-head")) {
    fail("info: give --d-model, or --heads and --d-head, beside the other sizes");
  }
}

}  // namespace attnviz::app
