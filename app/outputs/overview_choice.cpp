#include "outputs/outputs.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/report/attention_heatmap.h"
#include "attnviz/report/figures.h"
#include "attnviz/report/patterns/focus_bars.h"
#include "attnviz/report/patterns/step_patterns.h"
#include "outputs/formats/shown_attention.h"

namespace attnviz::app {

bool draws_overview(const std::vector<HeadId>& heads, const HeadOptions& asked,
                    const PatternOptions& pattern, StyleChoice style, const Outputs& outputs) {
  if (heads.size() <= kMostHeadsAsPanels || heads.front().layer == heads.back().layer) {
    return false;
  }
  // Heads that are far apart would leave the grid mostly empty.
  const OverviewGrid grid(heads);
  const bool is_full = grid.layers.size() <= 2 * heads.size() / grid.heads.size();
  const bool is_drawn = outputs.writes(Content::kFigure) || outputs.writes(Content::kScreen);
  return is_full && is_drawn && asked.heads.empty() && asked.layers.empty() && !pattern.average &&
         !pattern.focus && style != TerminalStyle::kMask && !draws_arcs(style);
}

namespace {

// Whether the document has weights of heads that were not chosen by the user.
bool shows_heads(const AttentionDocument& document, const HeadOptions& asked) {
  const Drawing& drawing = document.drawing;
  return asked.heads.empty() && asked.layers.empty() && !document.average && !document.difference &&
         !document.is_rollout() && document.kind == PatternKind::kWeights && !drawing.focus &&
         drawing.side_by_side.empty();
}

// Whether heads and tokens are few enough to look at one by one, and a remark on them takes no
// time.
bool is_small(const AttentionDocument& document) {
  constexpr std::size_t kMostWeights = std::size_t{1} << 20;
  return document.patterns.size() <= kMostHeadsAsPanels &&
         document.patterns.size() * document.query_tokens.size() * document.key_tokens.size() <=
             kMostWeights;
}

// Whether one token is in focus in many heads of several layers.
bool draws_maps(const AttentionDocument& document, StyleChoice style) {
  const std::vector<HeadId> heads = heads_of(document);
  return document.drawing.focus && !document.average && heads.size() > kMostHeadsAsPanels &&
         heads.front().layer != heads.back().layer && style != TerminalStyle::kMask;
}

// Adds no remark for random weights, which say nothing, or if only some heads were chosen.
void set_remark(ShownAttention& shown) {
  const AttentionDocument& document = shown.first();
  if (document.model) {
    const ModelFacts& model = *document.model;
    const std::size_t n_heads = model.n_layers * model.n_heads;
    if (model.random || (n_heads > 0 && n_heads != document.patterns.size())) {
      return;
    }
  }
  const auto choice = most_informative_head(document);
  if (choice && choice->qualifies()) {
    shown.set_remark(choice_remark(document, *choice), choice);
  } else if (choice) {
    shown.set_remark(habits_sentence(document));
  }
}

ArcsFigure informative_arcs(std::span<const AttentionDocument> documents,
                            const InformativeHead& choice) {
  std::vector<AttentionDocument> alone;
  for (const AttentionDocument& document : documents) {
    alone.push_back(document_of_head(document, choice.head));
  }
  ArcsFigure figure = arcs_figure(alone);
  figure.notes.insert(
      figure.notes.begin(),
      fmt::format("{} of {}. {}", choice_caption(choice), documents.front().patterns.size(),
                  choice_sentence(documents.front(), choice)));
  return figure;
}

// The lines of all heads if one picture can show them; else those of the most informative head, if
// none were chosen and the weights can be judged.
ArcsFigure chosen_arcs(std::span<const AttentionDocument> documents, const HeadOptions& asked) {
  const AttentionDocument& document = documents.front();
  if (is_before_softmax(document.kind)) {
    throw Error(ErrorKind::kUsage, "--style arcs draws weights, but these are scores");
  }
  const std::size_t n_heads = document.patterns.size();
  if (n_heads <= kMostGroups) {
    return arcs_figure(documents);
  }
  if (asked.heads.empty() && asked.layers.empty() && !document.average && !document.difference &&
      document.kind == PatternKind::kWeights) {
    if (const auto choice = most_informative_head(document)) {
      return informative_arcs(documents, *choice);
    }
  }
  throw Error(ErrorKind::kUsage,
              fmt::format("--style arcs: {} {} are too many for one picture, which can show {}: "
                          "choose them with {}",
                          n_heads,
                          document.average                        ? "means"
                          : document.kind == PatternKind::kRouter ? "layers"
                          : document.kind == PatternKind::kDecay  ? "states"
                                                                  : "heads",
                          kMostGroups,
                          document.kind == PatternKind::kRouter ? "--layer, as in --layer 0-3"
                                                                : "--head, as in --head 2.1,5.0"));
}

}  // namespace

bool writes_arcs(StyleChoice style, const Outputs& outputs) {
  return draws_arcs(style) &&
         (outputs.writes(Content::kFigure) || outputs.writes(Content::kScreen));
}

ShownAttention shown_attention(std::span<const AttentionDocument> documents,
                               const HeadOptions& asked, const PatternOptions& pattern,
                               StyleChoice style, const Outputs& outputs) {
  if (writes_arcs(style, outputs)) {
    return {documents, chosen_arcs(documents, asked)};
  }
  const AttentionDocument& document = documents.front();
  ShownAttention shown(documents);
  if (documents.size() == 1 && draws_maps(document, style)) {
    const Heatmap focus = attention_heatmap(document);
    if (auto maps = focus_maps(focus, heads_of(document), bars_subject(document, focus))) {
      return {documents, std::move(*maps)};
    }
  }
  if (documents.size() > 1 || !shows_heads(document, asked)) {
    return shown;
  }
  if (draws_overview(heads_of(document), asked, pattern, style, outputs)) {
    if (const auto choice = most_informative_head(document)) {
      return {documents, overview_of(document, *choice)};
    }
  } else if (style != TerminalStyle::kMask && is_small(document)) {
    set_remark(shown);
  }
  return shown;
}

void warn_unused_drawing(const Outputs& outputs, const DrawingOptions& drawing,
                         const Verbosity& verbosity) {
  const bool is_drawn = outputs.writes(Content::kFigure) || outputs.writes(Content::kScreen);
  const bool has_page = outputs.writes(Content::kPage);
  if (!is_drawn && !has_page && !outputs.writes(Content::kDocument)) {
    return warn_unused(verbosity, {"--plain-labels", "--transpose", "--no-special", "--drop-sink"},
                       "no cells were drawn");
  }
  if (has_page) {  // the page leaves out the first key itself
    warn_unused(verbosity, {"--plain-labels"}, "its labels show spaces as visible marks",
                " in the page");
    warn_unused(verbosity, {"--transpose", "--no-special"},
                "it shows all tokens, and queries as rows", " in the page");
    if (drawing.request.pool == PoolKind::kMean) {
      warn_unused(verbosity, {"--pool"}, "it draws the largest weight where cells are small",
                  " in the page");
    }
  }
  if (outputs.writes(Content::kNumbers)) {
    warn_unused(verbosity, {"--transpose", "--no-special", "--drop-sink"},
                "it has all tokens, and queries as rows", " in the array");
  }
  if (is_drawn && !has_page && !outputs.writes(Content::kDocument) &&
      drawing.style == TerminalStyle::kMask) {
    warn_unused(verbosity, {"--scale", "--range"}, "only the mask is drawn, without weights");
  }
  if (is_drawn && draws_arcs(drawing.style)) {
    constexpr const char* kWhy = "lines go from queries to keys, without numbers";
    if (outputs.writes(Content::kFigure)) {
      warn_unused(verbosity, {"--transpose", "--no-values"}, kWhy);
    } else {  // --no-values applies to pictures only
      warn_unused(verbosity, {"--transpose"}, kWhy);
    }
  }
}

void warn_unused_of_bars(const ShownAttention& shown, const Outputs& outputs,
                         Diagnostics& diagnostics) {
  const bool is_drawn = outputs.writes(Content::kFigure) || outputs.writes(Content::kScreen);
  if (!is_drawn || !std::holds_alternative<BarsFigure>(shown.figure())) {
    return;
  }
  constexpr const char* kWhy =
      "one token's attention is drawn as bars from 0 to the largest weight";
  diagnostics.inform(
      Note::kUnusedOfBars,
      outputs.writes(Content::kFigure)
          ? unused_note(diagnostics.verbosity(), {"--scale", "--range", "--pool", "--cell"}, kWhy)
          : unused_note(diagnostics.verbosity(), {"--scale", "--range", "--pool"}, kWhy));
}

void note_nothing_special(std::span<const AttentionDocument> documents, Diagnostics& diagnostics) {
  const auto has_added = [](const AttentionDocument& document) {
    return !document.marks.added.empty();
  };
  if (std::ranges::none_of(documents, has_added)) {
    diagnostics.inform(Note::kNothingSpecial, unused_note(diagnostics.verbosity(), {"--no-special"},
                                                          "the tokenizer added no token"));
  }
}

namespace {

// The head and query whose attention changes most.
FirstShown most_changed(const AttentionDocument& document) {
  FirstShown found{document.patterns.front().head};
  float largest = -1.0f;
  for (const DocumentPattern& pattern : document.patterns) {
    for (std::size_t query = 0; query < pattern.weights.rows; ++query) {
      for (const float change : pattern.weights.row(query)) {
        if (std::abs(change) > largest) {
          largest = std::abs(change);
          found.head = pattern.head;
          found.token = query;
        }
      }
    }
  }
  return found;
}

}  // namespace

std::optional<FirstShown> first_shown(const ShownAttention& shown) {
  const AttentionDocument& document = shown.first();
  if (document.average || is_before_softmax(document.kind)) {
    return std::nullopt;
  }
  if (document.difference) {
    return most_changed(document);
  }
  const auto chosen =
      document.kind == PatternKind::kWeights ? most_informative_head(document) : std::nullopt;
  return chosen ? std::optional(FirstShown{
                      chosen->head, chosen->query,
                      fmt::format("{}{}",
                                  document.patterns.size() == 1 ? std::string()
                                                                : choice_caption(*chosen) + ". ",
                                  choice_sentence(document, *chosen))})
                : std::nullopt;
}

}  // namespace attnviz::app
