#include "picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/attention/head_selection.h"
#include "model_choice.h"

namespace attnviz::app {

namespace {

std::vector<std::string> notes(const Model& model, const TokenizedText& text,
                               const AttentionRequest& request, const Mask& mask) {
  std::vector<std::string> lines;
  if (model.config.random_weights) {
    lines.emplace_back("RANDOM WEIGHTS: the pattern means nothing");
  }
  if (std::string note = random_embeddings_note(model, text); !note.empty()) {
    lines.push_back(std::move(note));
  }
  lines.push_back("mask " + mask.name());
  if (model.config.positions != Positions::kNone) {
    lines.push_back(fmt::format("positions {}", positions_name(model.config.positions)));
  }
  if (request.temperature != 1.0f) {
    lines.push_back(fmt::format("temperature {}", request.temperature));
  }
  if (!request.scale) {
    lines.emplace_back("scores not scaled");
  }
  if (request.dropout > 0.0f) {
    lines.push_back(fmt::format("dropout {} (seed {})", request.dropout, request.dropout_seed));
  }
  return lines;
}

// The heads of each of several layers; 1 where there is no such order to keep.
std::size_t panels_together(std::span<const HeadId> heads) {
  const std::size_t first_layer = heads.front().layer;
  if (heads.back().layer == first_layer || !is_rectangle(heads)) {
    return 1;
  }
  return static_cast<std::size_t>(
      std::count_if(heads.begin(), heads.end(),
                    [first_layer](HeadId head) { return head.layer == first_layer; }));
}

}  // namespace

Heatmap attention_picture(const Model& model, const TokenizedText& text,
                          const AttentionRequest& request, const PatternStore& patterns) {
  const Mask mask = request.mask.value_or(model.config.mask);
  Heatmap heatmap;
  for (const HeadId head : patterns.heads()) {
    heatmap.panels.push_back(
        {head_title(head), patterns.pattern(head),
         [mask](std::size_t query, std::size_t key) { return mask.visible(query, key); }});
  }
  heatmap.panels_together = panels_together(patterns.heads());
  for (const Token& token : text.tokens) {
    heatmap.query_labels.push_back(token.text);
  }
  heatmap.key_labels = heatmap.query_labels;
  heatmap.scale.high = 1.0f / (1.0f - request.dropout);  // what dropout lets a weight grow to
  heatmap.title = "attention: " + model_title(model);
  heatmap.notes = notes(model, text, request, mask);
  return heatmap;
}

}  // namespace attnviz::app
