#include "outputs/show_formats.h"

#include <array>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "attnviz/attention/head_selection.h"
#include "attnviz/core/error.h"
#include "attnviz/document/json/attention_json.h"
#include "attnviz/formats/npy.h"
#include "attnviz/picture/png.h"
#include "attnviz/terminal/bars_view.h"
#include "attnviz/terminal/heatmap_view.h"
#include "attnviz/terminal/next_tokens_view.h"
#include "attnviz/terminal/page/terminal_options.h"

namespace attnviz::app {

namespace {

void write_npy(const AttentionDocument& document, const ByteSink& sink) {
  sink(npy_header_of(document));
  for (const DocumentPattern& pattern : document.patterns) {
    write_npy_values(pattern.weights, sink);
  }
}

// Bars for one token, else cells.
std::string drawn_picture(const AttentionDocument& document, const Heatmap& picture,
                          const TerminalOptions& terminal) {
  const auto& focus = document.drawing.focus;
  if (!focus) {
    return render_terminal(picture, terminal);
  }
  const auto& tokens = focus->as_key ? document.query_tokens : document.key_tokens;
  return render_bars(picture, {focus->token, tokens.size() - picture.n_keys(), focus->as_key},
                     terminal);
}

}  // namespace

std::string drawn_next_tokens(std::span<const AttentionDocument> documents,
                              const TerminalOptions& terminal) {
  const AttentionDocument& first = documents.front();
  std::string text;
  if (first.continuation) {
    text += render_continuation(*first.continuation, terminal);
  }
  for (std::size_t i = 0; i < documents.size(); ++i) {
    if (documents[i].predictions) {
      text += render_predictions(*documents[i].predictions,
                                 documents.size() > 1 ? first.drawing.side_by_side[i] : "",
                                 first.drawing.scale.colormap, terminal);
    }
  }
  return text;
}

std::string npy_header_of(const AttentionDocument& document) {
  std::vector<HeadId> heads;
  std::set<std::size_t> layers;
  for (const DocumentPattern& pattern : document.patterns) {
    heads.push_back(pattern.head);
    layers.insert(pattern.head.layer);
  }
  if (!is_rectangle(heads)) {
    throw Error(ErrorKind::kUsage,
                "--head: an .npy array needs the same heads of every layer; choose a rectangle, or "
                "write .json");
  }
  const std::array shape = {layers.size(), heads.size() / layers.size(),
                            document.query_tokens.size(), document.key_tokens.size()};
  return npy_header(shape);
}

void write_attention(OutputFormat format, std::span<const AttentionDocument> documents,
                     const Heatmap& picture, const FigureStyle& figure,
                     const TerminalOptions& terminal, const ByteSink& sink) {
  switch (format) {
    case OutputFormat::kPng:
      sink(render_png(picture, figure, attention_facts(documents.front())));
      break;
    case OutputFormat::kJson:
      for (const AttentionDocument& document : documents) {
        write_attention_json(document, sink);
      }
      break;
    case OutputFormat::kNpy:
      write_npy(documents.front(), sink);
      break;
    case OutputFormat::kText:
      sink(drawn_picture(documents.front(), picture, terminal) +
           drawn_next_tokens(documents, terminal));
      break;
  }
}

}  // namespace attnviz::app
