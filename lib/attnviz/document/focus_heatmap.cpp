#include "attnviz/document/focus_heatmap.h"

#include <fmt/core.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/document/pooling.h"

namespace attnviz {

namespace {

// The rows, and which of their cells are visible.
struct FocusRows {
  MatrixBuffer values;
  MatrixBuffer shares;  // as the scale asks for them; may be empty
  std::vector<std::uint8_t> visible;
};

// What each value under a key is of its query's largest: [panels, queries].
MatrixBuffer shares_under(const Heatmap& whole, std::size_t key) {
  MatrixBuffer shares(whole.panels.size(), whole.n_queries());
  std::vector<float> row(whole.n_keys());
  for (std::size_t panel = 0; panel < whole.panels.size(); ++panel) {
    for (std::size_t query = 0; query < whole.n_queries(); ++query) {
      row_shares(whole.panels[panel], query, row);
      shares.view()(panel, query) = row[key];
    }
  }
  return shares;
}

}  // namespace

std::string focus_title(const AttentionDocument& document) {
  const Focus& focus = *document.drawing.focus;
  const auto& tokens = focus.as_key ? document.key_tokens : document.query_tokens;
  if (focus.token >= tokens.size()) {
    throw Error(ErrorKind::kUsage, fmt::format("focus: expected a token below {}, found {}",
                                               tokens.size(), focus.token));
  }
  return fmt::format("attention {} {} (token {})", focus.as_key ? "to" : "of",
                     attnviz::quoted(tokens[focus.token]), focus.token);
}

Heatmap focus_heatmap(const Heatmap& whole, const Focus& focus, std::size_t n_queries,
                      std::size_t n_keys) {
  const std::size_t dropped =
      focus.as_key ? n_keys - whole.n_keys() : n_queries - whole.n_queries();
  if (focus.token < dropped) {
    throw Error(ErrorKind::kUsage,
                fmt::format("focus: token {} is left out by drop_sink", focus.token), "focus");
  }
  const std::size_t at = focus.token - dropped;
  Heatmap heatmap = whole;
  heatmap.key_labels = focus.as_key ? whole.query_labels : whole.key_labels;
  heatmap.key_axis = focus.as_key ? whole.query_axis : whole.key_axis;
  heatmap.first_key = focus.as_key ? whole.first_query : whole.first_key;
  heatmap.query_axis = "head";
  heatmap.first_query = 0;
  heatmap.query_labels.clear();
  heatmap.panels.clear();
  heatmap.panels_together = 1;
  const std::size_t n_tokens = heatmap.key_labels.size();
  const auto rows = std::make_shared<FocusRows>();
  rows->values = MatrixBuffer(whole.panels.size(), n_tokens);
  rows->visible.resize(whole.panels.size() * n_tokens);
  for (std::size_t row = 0; row < whole.panels.size(); ++row) {
    const HeatmapPanel& panel = whole.panels[row];
    heatmap.query_labels.push_back(panel.title);
    for (std::size_t token = 0; token < n_tokens; ++token) {
      const std::size_t query = focus.as_key ? token : at;
      const std::size_t key = focus.as_key ? at : token;
      rows->values.view()(row, token) = panel.values(query, key);
      rows->visible[row * n_tokens + token] = panel.is_visible(query, key) ? 1 : 0;
    }
  }
  ConstMatrix shares;
  if (focus.as_key && whole.scale.kind == ScaleKind::kRowMax) {
    rows->shares = shares_under(whole, at);
    shares = std::as_const(rows->shares).view();
    heatmap.value_name = "share of the query's largest weight";
  }
  const ConstMatrix values = std::as_const(rows->values).view();
  const auto visible = [rows, n_tokens](std::size_t row, std::size_t token) {
    return rows->visible[row * n_tokens + token] != 0;
  };
  heatmap.panels.push_back({"", values, visible, "", shares});
  heatmap.storage = rows;
  return heatmap;
}

}  // namespace attnviz
