#include "outputs/arcs_choice.h"

#include <fmt/core.h>

#include <cstddef>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/document/overview.h"

namespace attnviz::app {

namespace {

ArcsFigure telling_arcs(std::span<const AttentionDocument> documents, const TellingHead& choice) {
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

}  // namespace

bool writes_arcs(StyleChoice style, const Outputs& outputs) {
  return draws_arcs(style) &&
         (outputs.writes(Content::kFigure) || outputs.writes(Content::kScreen));
}

std::optional<ArcsFigure> chosen_arcs(std::span<const AttentionDocument> documents,
                                      const HeadOptions& asked, StyleChoice style,
                                      const Outputs& outputs) {
  if (!writes_arcs(style, outputs)) {
    return std::nullopt;
  }
  const AttentionDocument& document = documents.front();
  if (is_before_softmax(document.kind)) {
    throw Error(ErrorKind::kUsage, "--style arcs draws weights, and these are scores");
  }
  const std::size_t n_heads = document.patterns.size();
  if (n_heads <= kMostGroups) {
    return arcs_figure(documents);
  }
  if (asked.heads.empty() && asked.layers.empty() && !document.average && !document.difference &&
      document.kind == PatternKind::kWeights) {
    if (const auto choice = most_telling(document)) {
      return telling_arcs(documents, *choice);
    }
  }
  throw Error(ErrorKind::kUsage,
              fmt::format("--style arcs: {} {} are too many for one picture, which tells {} apart: "
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

}  // namespace attnviz::app
