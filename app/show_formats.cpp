#include "show_formats.h"

#include <array>
#include <cstddef>
#include <set>
#include <vector>

#include "attnviz/attention/head_selection.h"
#include "attnviz/core/error.h"
#include "attnviz/formats/npy.h"
#include "attnviz/render/attention_json.h"
#include "attnviz/render/png.h"
#include "attnviz/render/terminal.h"

namespace attnviz::app {

namespace {

void write_npy(const AttentionDocument& document, const ByteSink& sink) {
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
  sink(npy_header(shape));
  for (const DocumentPattern& pattern : document.patterns) {
    write_npy_values(pattern.weights, sink);
  }
}

}  // namespace

void write_attention(OutputFormat format, const AttentionDocument& document, const Heatmap& picture,
                     const FigureStyle& figure, const TerminalOptions& terminal,
                     const ByteSink& sink) {
  switch (format) {
    case OutputFormat::kPng:
      sink(render_png(picture, figure));
      break;
    case OutputFormat::kJson:
      write_attention_json(document, sink);
      break;
    case OutputFormat::kNpy:
      write_npy(document, sink);
      break;
    case OutputFormat::kText:
      sink(render_terminal(picture, terminal));
      break;
  }
}

}  // namespace attnviz::app
