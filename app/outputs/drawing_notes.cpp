#include "outputs/drawing_notes.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "attnviz/document/flat_note.h"
#include "options/program_words.h"
#include "system/talk.h"

namespace attnviz::app {

void tell_unused(const FigureStyle& figure, std::size_t n_fonts, const Outputs& outputs,
                 const TalkOptions& talk) {
  if (talk.quiet || outputs.writes(OutputFormat::kPng)) {
    return;
  }
  const FigureStyle usual;
  std::vector<const char*> unused;
  const auto add_if = [&unused](bool given, const char* option) {
    if (given) {
      unused.push_back(option);
    }
  };
  add_if(figure.theme != usual.theme, "--theme");
  add_if(figure.cell != usual.cell, "--cell");
  add_if(figure.dpi != usual.dpi, "--dpi");
  add_if(n_fonts > 0, "--font");
  if (!unused.empty()) {
    say(fmt::format("{} changed nothing: no PNG picture was asked for (-o FILE.png)",
                    fmt::join(unused, ", ")));
  }
}

bool tell_flat(const Heatmap& picture, const ShowOptions& options, const Outputs& outputs,
               const std::optional<PoolGrid>& grid) {
  if (options.talk.quiet || options.drawing.request.scale) {
    return false;
  }
  // Bars and masks have no colour scale.
  const bool has_cells = !options.pattern.focus && options.drawing.style != StyleChoice::kMask;
  if (!outputs.writes(OutputFormat::kPng) && !(has_cells && outputs.writes(OutputFormat::kText))) {
    return false;
  }
  const std::string note = grid ? flat_note(picture, *grid) : flat_note(picture);
  if (!note.empty()) {
    say(in_program_words(note, "scale"));
  }
  return !note.empty();
}

}  // namespace attnviz::app
