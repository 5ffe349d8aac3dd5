#include "commands/shown_text.h"

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
  heads = chosen_heads(
      options.heads,
      options.part == AttentionPart::kEncoder && model.encoder != nullptr ? *model.encoder : model,
      options.talk);
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
