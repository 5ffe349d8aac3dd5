#include "commands/commands.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attnviz/analysis/informative_heads.h"
#include "attnviz/analysis/inspection.h"
#include "attnviz/analysis/token_roles.h"
#include "attnviz/attention/head_math.h"
#include "attnviz/attention/interventions.h"
#include "attnviz/attention/layer.h"
#include "attnviz/report/attention_document.h"
#include "attnviz/report/figures.h"
#include "attnviz/report/json/document_json.h"
#include "attnviz/report/run_facts.h"
#include "attnviz/report/steps/inspection_document.h"
#include "attnviz/text/tokenizer.h"
#include "commands/attention_run.h"
#include "commands/input.h"
#include "system/diagnostics.h"
#include "system/process.h"

namespace attnviz::app {

namespace {

void require_memory_for(const Model& model, const std::vector<HeadId>& heads, std::size_t n_tokens,
                        bool all_queries, bool full) {
  constexpr double kCellOfATable = 100.0;  // one number as text, during layout
  const auto bytes = [&](std::size_t n_heads, std::size_t n_rows) {
    const std::vector<HeadId> followed(heads.begin(),
                                       heads.begin() + static_cast<std::ptrdiff_t>(n_heads));
    const auto n = static_cast<double>(n_rows);
    const double cells = full ? n * (n + static_cast<double>(model.config.d_model)) : 0.0;
    return inspection_bytes(model, followed, n_rows, all_queries) + cells * kCellOfATable;
  };
  require_memory_for_heads(bytes, "inspecting", heads.size(), n_tokens);
}

// The heads and the query to follow.
struct Followed {
  std::vector<HeadId> heads;
  std::size_t query = 0;
  std::string why = {};  // reason for an automatic choice
};

// The most informative head on this text, as in the overview.
InformativeHead most_informative_head_of(const std::vector<HeadId>& heads, const Model& model,
                                         const AttentionDocument& document,
                                         const TokenizedText& text, const AttentionRequest& request,
                                         const Verbosity& verbosity) {
  const std::size_t n = text.size();
  const auto bytes = [&](std::size_t n_heads, std::size_t n_tokens) {
    const std::vector<HeadId> some(heads.begin(),
                                   heads.begin() + static_cast<std::ptrdiff_t>(n_heads));
    const auto rows = static_cast<double>(attending_rows(n_tokens) * request.n_threads * n_tokens);
    return layer_bytes(model, n_tokens) + rows * sizeof(float) +
           InformativeSearch::bytes(some, n_tokens);
  };
  require_memory_for_heads(bytes, "choosing one of", heads.size(), n);
  InformativeSearch search = informative_search(document, heads);
  attend("choosing a head", model, text, request, search, verbosity);
  return search.best();
}

// `heads`: those chosen by the user, or none.
Followed chosen(std::vector<HeadId> heads, const Model& model, const ModelFacts& facts,
                const TokenizedText& text, const AttentionRequest& asked,
                const InspectOptions& options) {
  Followed followed{std::move(heads),
                    chosen_token(text, options.query.value_or("-1"), "--query", options.verbosity)};
  if (!followed.heads.empty()) {
    return followed;
  }
  const std::vector<HeadId> all = select_heads(model, "", "");
  // Random numbers say nothing about a head.
  if (facts.random || !facts.random_embeddings.empty() || all.size() == 1) {
    followed.heads = {all.front()};
    return followed;
  }
  AttentionRequest request = asked;
  request.dropout = 0.0f;  // the same head with any dropout
  const AttentionDocument document = attention_document(model, text, request, all);
  const InformativeHead best =
      most_informative_head_of(all, model, document, text, request, options.verbosity);
  followed.heads = {best.head};
  if (!options.query && best.qualifies()) {
    followed.query = best.query;
  }
  followed.why = fmt::format("{}. {}", choice_caption(best), choice_sentence(document, best));
  if (followed.query != best.query) {
    followed.why += fmt::format(" The steps below follow query {}.", followed.query);
  }
  return followed;
}

std::vector<std::string> notes(const ModelFacts& facts, const RunFacts& run) {
  std::vector<std::string> lines = {facts.random ? "RANDOM WEIGHTS: the numbers mean nothing" : "",
                                    random_embeddings_note(facts)};
  std::erase(lines, "");
  std::ranges::move(left_out_notes(run), std::back_inserter(lines));
  return lines;
}

std::vector<std::string> remarks(const Model& model, const ModelFacts& facts,
                                 const TokenizedText& text, const Followed& followed) {
  std::vector<std::string> lines = {
      origin_note(facts), unknown_keys_note(facts.unknown_keys), followed.why,
      model.altup.present() ? fmt::format("x is the active one of {} residual streams (AltUp): "
                                          "stream {}, which the layer predicts from all of them.",
                                          model.altup.n_streams(), model.altup.active)
                            : ""};
  std::erase(lines, "");
  lines.insert(lines.begin(), text.notes.begin(), text.notes.end());
  return lines;
}

// Reports each requested step that none of these heads takes, which would otherwise go missing
// silently.
void warn_about_missing_steps(const InspectOptions& options,
                              const std::vector<Inspection>& inspections) {
  for (const InspectionStep step : options.steps) {
    const bool is_there =
        std::any_of(inspections.begin(), inspections.end(),
                    [step](const Inspection& head) { return has_step(head, step); });
    if (!is_there) {
      inform(options.verbosity,
             fmt::format("--step {}: {}", inspection_step_name(step),
                         inspections.size() == 1 ? "this head does not have this step"
                                                 : "none of these heads has this step"));
    }
  }
}

}  // namespace

void run(const InspectOptions& options) {
  AttentionSetup setup(options, options.look, Result::kInspection);
  const Model& model = setup.model;
  setup.phases.done("model");
  const auto tokenizer = chosen_tokenizer(options, setup.origin, setup.model);
  name_heads(options, *tokenizer, setup.model);
  std::vector<HeadId> heads;
  if (!options.heads.heads.empty() || !options.heads.layers.empty()) {
    heads = chosen_heads(options.heads, model, options.verbosity);
  }
  const auto input = setup.source.next();
  if (!input) {
    return;
  }
  const TokenizedText text = read_text(setup, options, *tokenizer, *input);
  const ModelFacts facts = model_facts(model, text);
  const AttentionRequest request = request_of(options, model, text);
  const Followed followed = chosen(std::move(heads), model, facts, text, request, options);
  if (!followed.why.empty()) {
    setup.phases.done("choosing a head");
  }
  // Documents and pages always have the matrices over all queries; text has them with --full.
  const bool all_queries = options.full || setup.outputs.writes(Content::kDocument) ||
                           setup.outputs.writes(Content::kPage);
  require_memory_for(model, followed.heads, text.size(), all_queries, options.full);
  const std::vector<std::string_view> pieces = text.pieces();
  const std::vector<Inspection> inspections = inspect_heads(
      model, InputColumns(text).view(), request, followed.heads, followed.query, all_queries);
  setup.phases.done("attention");
  warn_about_missing_steps(options, inspections);
  const InspectionPage page{.title = model_title(facts),
                            .full_title = options.title,
                            .notes = notes(facts, run_facts(model, request)),
                            .remarks = remarks(setup.model, facts, text, followed),
                            .tokens = pieces,
                            .heads = inspections,
                            .steps = options.steps,
                            .full = options.full,
                            .explain = options.explain,
                            .batch = options.batch,
                            .facts = inspection_facts(model, text, inspections)};
  setup.outputs.write([&](const Format& format, const Look& look, const ByteSink& sink) {
    format.inspection({page, model, text, options.output.command}, look, sink);
  });
  setup.phases.done("render");
}

}  // namespace attnviz::app
