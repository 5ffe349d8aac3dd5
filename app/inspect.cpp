#include "inspect.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "attention_run.h"
#include "attnviz/analysis/inspection.h"
#include "attnviz/attention/head_selection.h"
#include "attnviz/render/inspection_figure.h"
#include "attnviz/render/inspection_json.h"
#include "attnviz/render/inspection_text.h"
#include "attnviz/render/run_facts.h"
#include "attnviz/text/token_choice.h"
#include "attnviz/text/tokenizer.h"
#include "drawing_notes.h"
#include "input.h"
#include "memory.h"
#include "outputs.h"
#include "system_fonts.h"
#include "talk.h"

namespace attnviz::app {

namespace {

constexpr std::array kFormats = {OutputFormat::kPng, OutputFormat::kJson, OutputFormat::kText};

std::vector<HeadId> chosen_heads(const Model& model, const InspectOptions& options) {
  const bool is_default = options.heads.heads.empty() && options.heads.layers.empty();
  return select_heads(model, is_default ? "0.0" : options.heads.heads, options.heads.layers);
}

void require_memory_for(const Model& model, const std::vector<HeadId>& heads, std::size_t n_tokens,
                        bool all_queries, bool full) {
  constexpr double kCellOfATable = 100.0;  // a number of a matrix as text, while it is laid out
  const auto n = static_cast<double>(n_tokens);
  double bytes = inspection_bytes(model, heads, n_tokens, all_queries);
  if (full) {
    bytes += n * (n + static_cast<double>(model.config.d_model)) * kCellOfATable;
  }
  require_memory_for_heads(bytes, "inspecting", heads.size(), n_tokens);
}

std::size_t chosen_query(const TokenizedText& text, const InspectOptions& options) {
  const TokenChoice choice = choose_token(text, options.query, "--query");
  if (!choice.note.empty() && !options.talk.quiet) {
    say(choice.note);
  }
  return choice.index;
}

std::vector<std::string> notes(const ModelFacts& facts) {
  std::vector<std::string> lines;
  if (facts.random) {
    lines.emplace_back("RANDOM WEIGHTS: the numbers mean nothing");
  }
  if (std::string note = random_embeddings_note(facts); !note.empty()) {
    lines.push_back(std::move(note));
  }
  return lines;
}

// A step that was asked for and that no head takes would be missing without a word.
void tell_missing_steps(const InspectOptions& options, const std::vector<Inspection>& inspections) {
  for (const InspectionStep step : options.steps) {
    const bool is_there =
        std::any_of(inspections.begin(), inspections.end(),
                    [step](const Inspection& head) { return has_step(head, step); });
    if (!is_there && !options.talk.quiet) {
      const std::string& name = inspection_step_names()[static_cast<std::size_t>(step)];
      say(inspections.size() == 1
              ? fmt::format("--step {}: this head takes no such step", name)
              : fmt::format("--step {}: none of these heads takes such a step", name));
    }
  }
}

}  // namespace

void run_inspect(const InspectOptions& options) {
  Phases phases(options.talk);
  choose_engine(options);
  tell_slip(options);
  TextSource source(options.input, options.talk);
  const auto fonts = open_fonts(options.fonts);
  FigureStyle figure;
  figure.fonts = fonts.get();
  Outputs outputs({options.output,
                   options.talk,
                   kFormats,
                   {options.style, options.color},
                   read_files(options)});
  tell_unused(figure, options.fonts.size(), outputs, options.talk);
  Model model = chosen_model(options);
  phases.done("model");
  const auto tokenizer = chosen_tokenizer(options, model);
  const std::vector<HeadId> heads = chosen_heads(model, options);
  const auto input = source.next();
  if (!input) {
    return;
  }
  const TokenizedText text = chosen_tokens(options, model, *tokenizer, *input);
  phases.done("tokenize");
  tell_randomness(options, model, text);
  tell_far_words(options, model, text);
  const std::size_t query = chosen_query(text, options);
  // JSON always has the matrices over all queries, text when asked for.
  const bool all_queries = options.full || outputs.writes(OutputFormat::kJson);
  require_memory_for(model, heads, text.size(), all_queries, options.full);
  const std::vector<std::string_view> pieces = text.pieces();
  const std::vector<Inspection> inspections = inspect_heads(
      model, InputColumns(text).view(), request_of(options), heads, query, all_queries);
  phases.done("attention");
  tell_missing_steps(options, inspections);
  const ModelFacts facts = model_facts(model, text);
  const InspectionPage page{model_title(facts),
                            notes(facts),
                            origin_note(facts),
                            pieces,
                            inspections,
                            options.steps,
                            options.full,
                            options.explain,
                            inspection_facts(model, text, inspections)};
  const FormatWriter write = [&](OutputFormat format, const TerminalOptions& terminal,
                                 const ByteSink& sink) {
    if (format == OutputFormat::kJson) {
      write_inspection_json(model, text, inspections, sink);
    } else if (format == OutputFormat::kPng) {
      sink(render_inspection_figure(page, figure));
    } else {
      sink(render_inspection(page, terminal));
    }
  };
  outputs.write_files(write);
  outputs.commit();
  outputs.write_to_standard_output(write);
  phases.done("render");
}

}  // namespace attnviz::app
