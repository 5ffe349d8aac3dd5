#include "commands/prepared_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "attnviz/analysis/run_stores.h"
#include "attnviz/attention/interventions.h"
#include "attnviz/attention/run_observer.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/report/model_info.h"
#include "attnviz/report/run_facts.h"
#include "attnviz/text/tokenizers/model_tokenizer.h"
#include "options/advice.h"
#include "outputs/formats/shown_attention.h"
#include "system/diagnostics.h"

namespace attnviz::app {

namespace {

std::optional<Continuation> go_on(ShowSetup& setup, const AttentionRequest& request,
                                  TokenizedText& text) {
  auto continuation = continue_text(setup.options, setup.options.generate, setup.model,
                                    *setup.tokenizer, request, text);
  if (continuation) {
    setup.phases.done("generate");
  }
  return continuation;
}

// One entry for each layer that has experts.
std::vector<HeadId> chosen_routers(const HeadOptions& asked, const Model& model) {
  const std::vector<std::size_t> layers = expert_layers(model);
  if (layers.empty()) {
    throw Error(ErrorKind::kUsage, fmt::format("--show router: {} has no experts: every token goes "
                                               "through the same MLPs",
                                               model.config.name));
  }
  if (!asked.heads.empty()) {
    throw Error(ErrorKind::kUsage,
                "--show router: a router belongs to a layer, not to a head: choose with --layer");
  }
  std::vector<HeadId> chosen;
  for (std::size_t layer = 0; layer < model.n_layers(); ++layer) {
    chosen.push_back({layer, 0});
  }
  chosen = select_heads(chosen, "", asked.layers);
  std::erase_if(chosen, [&layers](HeadId head) {
    return std::ranges::find(layers, head.layer) == layers.end();
  });
  if (chosen.empty()) {
    throw Error(ErrorKind::kUsage, "--show router: none of the chosen layers has experts");
  }
  return chosen;
}

// States instead of attention heads.
std::vector<HeadId> chosen_states(const HeadOptions& asked, const Model& model) {
  const std::vector<HeadId> all = state_heads(model);
  if (all.empty()) {
    throw Error(ErrorKind::kUsage, fmt::format("--show decay: {} has no states that decay: it has "
                                               "no gated delta nets or Mamba-2 layers",
                                               model.config.name));
  }
  return select_heads(all, asked.heads, asked.layers);
}

// Hundreds of panels are unreadable, so unless states were chosen, only those of the first layer
// are drawn.
void choose_few_states(ShowSetup& setup) {
  constexpr std::size_t kMostStates = 64;
  const HeadOptions& asked = setup.options.heads;
  const Outputs& outputs = setup.outputs;
  const std::size_t n_states = setup.heads.size();
  const bool is_kept = outputs.writes(Content::kDocument) || outputs.writes(Content::kNumbers) ||
                       outputs.writes(Content::kPage);
  if (n_states <= kMostStates || !asked.heads.empty() || !asked.layers.empty() || is_kept) {
    return;
  }
  const std::size_t layer = setup.heads.front().layer;
  std::erase_if(setup.heads, [layer](HeadId head) { return head.layer != layer; });
  if (setup.heads.size() < n_states) {
    inform(setup.options.verbosity, fmt::format("--show decay: {} states, of which those of layer "
                                                "{} are drawn; --layer and --head choose others",
                                                n_states, layer));
  }
}

bool names_states(const HeadOptions& asked, const Model& model) {
  try {
    select_heads(state_heads(model), asked.heads, asked.layers);
    return true;
  } catch (const Error&) {
    return false;
  }
}

// If --head chooses states rather than heads, the error explains how to draw them.
std::vector<HeadId> attending_heads(const ShowOptions& options, const Model& model) {
  const Model& stack =
      options.part == AttentionPart::kEncoder && model.encoder != nullptr ? *model.encoder : model;
  try {
    return chosen_heads(options.heads, stack, options.verbosity);
  } catch (const Error& error) {
    if (!names_states(options.heads, stack)) {
      throw;
    }
    throw Error(error.kind(), fmt::format("{}; --show decay draws its states", error.what()));
  }
}

}  // namespace

ShowSetup::ShowSetup(const ShowOptions& shown)
    : AttentionSetup(shown, shown.drawing, Result::kAttention, !shown.side_by_side.empty()),
      options(shown) {
  check_next_tokens(options, model);
  phases.done("model");
  tokenizer = chosen_tokenizer(options, origin, model);
  phases.done("tokenizer");
  check_architecture(options, model);
  name_heads(shown, *tokenizer, model);
  heads = options.kind == PatternKind::kDecay    ? chosen_states(options.heads, model)
          : options.kind == PatternKind::kRouter ? chosen_routers(options.heads, model)
                                                 : attending_heads(options, model);
  if (options.kind == PatternKind::kDecay) {
    choose_few_states(*this);
  }
}

PreparedText::PreparedText(ShowSetup& setup, const InputText& input)
    : tokens(read_text(setup, setup.options, *setup.tokenizer, input)),
      request(request_of(setup.options, setup.model, tokens, setup.options.side_by_side,
                         setup.options.generate)),
      continuation(go_on(setup, request, tokens)),
      folded(setup.options.fold ? std::optional(attnviz::folded(tokens, *setup.options.fold))
                                : std::nullopt),
      focus(chosen_focus(setup.options.pattern, shown(), setup.options.verbosity)),
      predictor(setup.options, setup.model, *setup.tokenizer, shown(),
                folded ? folded->numbers : std::span<const std::size_t>()) {}

namespace {

// Routers' choices accompany the attention of a whole text in documents.
std::vector<std::size_t> routed_layers(const ShowSetup& setup, const PreparedText& text) {
  return setup.outputs.writes(Content::kDocument) && !text.folded ? expert_layers(setup.model)
                                                                  : std::vector<std::size_t>();
}

}  // namespace

TextRun::TextRun(const ShowSetup& setup, PreparedText& text, const AttentionRequest& request)
    : setup_(setup),
      text_(text),
      request_(request),
      router_(routed_layers(setup, text)),
      sinks_(setup.model, setup.heads, text.tokens.size()) {}

void TextRun::attend(PatternSink& patterns, const Verbosity& verbosity) {
  ObserverGroup observers({&router_, &text_.predictor.observer()});
  std::optional<MergeSink> merged;
  if (text_.folded) {
    merged.emplace(patterns, text_.folded->numbers, request_.largest_sum());
  }
  PatternSink& rows = merged ? static_cast<PatternSink&>(*merged) : patterns;
  SinkGroup both({&rows, &sinks_});
  turns_ = attend_to(setup_.heads, setup_.model, text_.tokens, request_,
                     has_sinks(setup_.model) ? both : rows, observers, verbosity);
}

void TextRun::add_to(AttentionDocument& document) {
  for (DocumentPattern& pattern : document.patterns) {
    pattern.sink = sinks_.mean(document.source_heads(std::span(&pattern.head, 1)));
    if (text_.folded) {
      pattern.sink = folded_sink(pattern.sink, text_.folded->numbers);
    }
  }
  document.turn_attention = std::move(turns_);
  document.router = router_.take();
}

void note_flat(ShowSetup& setup, const ShownAttention& shown, const std::optional<PoolGrid>& grid) {
  const ShowOptions& options = setup.options;
  if (!setup.diagnostics.is_due(Note::kFlatPicture) || options.drawing.request.scale) {
    return;
  }
  // Bars and masks have no colour scale.
  const bool has_cells = !options.pattern.focus && options.drawing.style != TerminalStyle::kMask;
  if (!setup.outputs.writes(Content::kFigure) &&
      !(has_cells && setup.outputs.writes(Content::kScreen))) {
    return;
  }
  if (const Heatmap* const panels = panels_of(shown.figure())) {
    const std::string note = flat_note(*panels, grid ? &*grid : nullptr);
    setup.diagnostics.inform(Note::kFlatPicture, in_option_names(note, "scale"));
  }
}

void report_unread_keys(std::string_view name, std::span<const IgnoredKey> ignorable,
                        std::span<const std::string> unknown, const Verbosity& verbosity) {
  if (verbosity.strict && !unknown.empty()) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}: unknown keys or tensors: {}; without --strict they are ignored",
                            name, few_keys(unknown)));
  }
  if (!verbosity.verbose && !unknown.empty()) {
    inform(verbosity, fmt::format("{}: {} (-v lists them, --strict refuses them)", name,
                                  unknown_keys_note(unknown)));
  }
  if (!verbosity.verbose) {
    return;
  }
  for (const std::string& key : unknown) {
    warn(fmt::format("ignored as unknown: {}", shown_name(key)));
  }
  for (const IgnoredKey& one : ignorable) {
    warn(fmt::format("ignored: {} ({})", shown_name(one.name), one.why));
  }
}

void report_unread_keys(const ModelConfig& config, const Verbosity& verbosity) {
  report_unread_keys(config.name, config.ignored_keys, config.unknown_keys, verbosity);
}

void report_unread_keys(ModelConfig& config, std::span<const IgnoredKey> ignorable,
                        std::span<const std::string> unknown, const Verbosity& verbosity) {
  report_unread_keys(config.name, ignorable, unknown, verbosity);
  std::ranges::copy(unknown, std::back_inserter(config.unknown_keys));
}

void report_unread_keys(ModelConfig& config, const Tokenizer& tokenizer,
                        const Verbosity& verbosity) {
  if (const auto* const own = dynamic_cast<const ModelTokenizer*>(&tokenizer)) {
    report_unread_keys(config, own->ignored_keys(), own->unknown_keys(), verbosity);
  }
}

void report_unread_keys(std::string_view name, const Tokenizer& tokenizer,
                        const Verbosity& verbosity) {
  if (const auto* const own = dynamic_cast<const ModelTokenizer*>(&tokenizer)) {
    report_unread_keys(name, own->ignored_keys(), own->unknown_keys(), verbosity);
  }
}

}  // namespace attnviz::app
