#include "commands/shown_text.h"

#include <fmt/core.h>

#include <algorithm>

#include "attnviz/analysis/decay_store.h"
#include "attnviz/attention/head_selection.h"
#include "attnviz/core/error.h"
#include "attnviz/document/weight_notes.h"
#include "commands/show_parts.h"
#include "options/program_words.h"

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

// Layers may have experts and no heads.
std::vector<HeadId> chosen_routers(const HeadOptions& asked, const Model& model) {
  if (!asked.heads.empty()) {
    throw Error(ErrorKind::kUsage,
                "--show router: a layer has one router, and no heads of it: choose with --layer");
  }
  std::vector<HeadId> all;
  for (std::size_t layer = 0; layer < model.n_layers(); ++layer) {
    const LayerWeights& weights = model.layers[layer];
    const std::size_t n_heads = weights.experts.present()
                                    ? std::max(weights.heads.size(), std::size_t{1})
                                    : weights.heads.size();
    for (std::size_t head = 0; head < n_heads; ++head) {
      all.push_back({layer, head});
    }
  }
  return select_heads(all, asked.heads, asked.layers);
}

// In place of heads of attention.
std::vector<HeadId> chosen_states(const HeadOptions& asked, const Model& model) {
  const std::vector<HeadId> all = state_heads(model);
  if (all.empty()) {
    throw Error(ErrorKind::kUsage,
                fmt::format("--show decay: {} has no states that forget: its layers are no gated "
                            "delta nets and no Mamba-2",
                            model.config.name));
  }
  return select_heads(all, asked.heads, asked.layers);
}

// Hundreds of panels are no picture: of states that nobody chose those of the first layer.
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
    tell(setup.options.talk,
         fmt::format("--show decay: of {} states those of layer {} are drawn; --layer and --head "
                     "choose others",
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

// Who asks for heads where there are states hears how these are drawn.
std::vector<HeadId> attending_heads(const ShowOptions& options, const Model& model) {
  const Model& stack =
      options.part == AttentionPart::kEncoder && model.encoder != nullptr ? *model.encoder : model;
  try {
    return chosen_heads(options.heads, stack, options.talk);
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
  check_stacks(options, model);
  name_heads(shown, *tokenizer, model);
  heads = options.kind == PatternKind::kDecay    ? chosen_states(options.heads, model)
          : options.kind == PatternKind::kRouter ? chosen_routers(options.heads, model)
                                                 : attending_heads(options, model);
  if (options.kind == PatternKind::kDecay) {
    choose_few_states(*this);
  }
}

ShownText::ShownText(ShowSetup& setup, const InputText& input)
    : tokens(read_text(setup, setup.options, *setup.tokenizer, input)),
      request(request_of(setup.options, setup.model, tokens, setup.options.side_by_side,
                         setup.options.generate)),
      continuation(go_on(setup, request, tokens)),
      folded(setup.options.fold ? std::optional(attnviz::folded(tokens, *setup.options.fold))
                                : std::nullopt),
      focus(chosen_focus(setup.options.pattern, shown(), setup.options.talk)),
      predictor(setup.options, setup.model, *setup.tokenizer, shown(),
                folded ? folded->numbers : std::span<const std::size_t>()) {}

void tell_flat(ShowSetup& setup, const ShownAttention& shown, const std::optional<PoolGrid>& grid) {
  const ShowOptions& options = setup.options;
  if (shown.arcs() || !setup.teller.is_due(Note::kFlatPicture) || options.drawing.request.scale) {
    return;
  }
  // Bars and masks have no colour scale.
  const bool has_cells = !options.pattern.focus && options.drawing.style != TerminalStyle::kMask;
  if (setup.outputs.writes(Content::kFigure) ||
      (has_cells && setup.outputs.writes(Content::kScreen))) {
    const std::string note = flat_note(shown.heatmap(), grid ? &*grid : nullptr);
    setup.teller.tell(Note::kFlatPicture, in_program_words(note, "scale"));
  }
}

}  // namespace attnviz::app
