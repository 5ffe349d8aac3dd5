#include "attnviz/report/patterns/shown_tokens.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "attnviz/analysis/run_stores.h"
#include "attnviz/core/error.h"
#include "attnviz/report/words/words.h"

namespace attnviz {

namespace {

// The data that panels of a derived picture refer to.
struct TakenPanels {
  std::vector<MatrixBuffer> matrices;
  std::shared_ptr<const void> before;  // keeps the values of their functions alive
};

// matrix[rows[i], columns[j]].
MatrixBuffer taken(ConstMatrix matrix, const std::vector<std::size_t>& rows,
                   const std::vector<std::size_t>& columns) {
  MatrixBuffer copy(rows.size(), columns.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = 0; j < columns.size(); ++j) {
      copy.view()(i, j) = matrix(rows[i], columns[j]);
    }
  }
  return copy;
}

MatrixBuffer turned(ConstMatrix matrix) {
  MatrixBuffer copy(matrix.cols, matrix.rows);
  for (std::size_t i = 0; i < matrix.rows; ++i) {
    for (std::size_t j = 0; j < matrix.cols; ++j) {
      copy.view()(j, i) = matrix(i, j);
    }
  }
  return copy;
}

MatrixBuffer shares_of(const HeatmapPanel& panel) {
  MatrixBuffer shares(panel.values.rows, panel.values.cols);
  for (std::size_t query = 0; query < panel.values.rows; ++query) {
    row_shares(panel, query, shares.view().row(query));
  }
  return shares;
}

template <class Label>
std::vector<Label> taken_labels(const std::vector<Label>& labels,
                                const std::vector<std::size_t>& which) {
  std::vector<Label> kept;
  kept.reserve(which.size());
  for (const std::size_t entry : which) {
    if (entry < labels.size()) {  // the list may be empty
      kept.push_back(labels[entry]);
    }
  }
  return kept;
}

template <class Label>
void drop_first(std::vector<Label>& labels, std::size_t count) {
  labels.erase(labels.begin(),
               labels.begin() + static_cast<std::ptrdiff_t>(std::min(count, labels.size())));
}

EntryNumbers taken_numbers(const EntryNumbers& numbers, const std::vector<std::size_t>& which) {
  std::vector<std::size_t> kept;
  kept.reserve(which.size());
  for (const std::size_t entry : which) {
    kept.push_back(numbers.of(entry));
  }
  return EntryNumbers(std::move(kept));
}

// Negative values are scores, whose rows have no fixed sum.
void refuse_negative(const HeatmapPanel& panel) {
  for (std::size_t query = 0; query < panel.values.rows; ++query) {
    for (const float value : panel.values.row(query)) {
      if (value < 0.0f) {
        throw Error(ErrorKind::kUsage,
                    fmt::format("drop_sink: {}, query {}: expected attention weights, found {}",
                                panel.title, query, value),
                    "drop_sink");
      }
    }
  }
}

template <class T>
std::vector<T> turned_cells(const std::vector<T>& cells, std::size_t rows, std::size_t cols) {
  std::vector<T> turned(cells.size());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    turned[i % cols * rows + i / cols] = cells[i];
  }
  return turned;
}

}  // namespace

Heatmap with_tokens(const Heatmap& heatmap, const std::vector<std::size_t>& queries,
                    const std::vector<std::size_t>& keys) {
  Heatmap kept = heatmap;
  kept.query_labels = taken_labels(heatmap.query_labels, queries);
  kept.key_labels = taken_labels(heatmap.key_labels, keys);
  kept.roles.queries = taken_labels(heatmap.roles.queries, queries);
  kept.roles.keys = taken_labels(heatmap.roles.keys, keys);
  kept.first_query = taken_numbers(heatmap.first_query, queries);
  kept.first_key = taken_numbers(heatmap.first_key, keys);
  const auto owned = std::make_shared<TakenPanels>();
  owned->before = heatmap.storage;
  for (HeatmapPanel& panel : kept.panels) {
    owned->matrices.push_back(taken(panel.values, queries, keys));
    panel.values = std::as_const(owned->matrices.back()).view();
    if (panel.visible) {
      panel.visible = [queries, keys, visible = std::move(panel.visible)](std::size_t query,
                                                                          std::size_t key) {
        return visible(queries[query], keys[key]);
      };
    }
  }
  kept.storage = owned;
  return kept;
}

void drop_first_key(Heatmap& heatmap) {
  if (heatmap.n_keys() < 2) {
    throw Error(ErrorKind::kUsage, "drop_sink: there is only one key; nothing would be left",
                "drop_sink");
  }
  const std::size_t n_keys = heatmap.n_keys();
  const auto sees_only_the_first = [n_keys](const HeatmapPanel& panel) {
    for (std::size_t key = 1; key < n_keys; ++key) {
      if (panel.is_visible(0, key)) {
        return false;
      }
    }
    return true;
  };
  const std::size_t first_query =
      heatmap.n_queries() > 1 &&
              std::all_of(heatmap.panels.begin(), heatmap.panels.end(), sees_only_the_first)
          ? 1
          : 0;
  const auto owned = std::make_shared<std::vector<MatrixBuffer>>();
  owned->reserve(heatmap.panels.size());
  for (HeatmapPanel& panel : heatmap.panels) {
    if (!panel.values.empty()) {
      refuse_negative(panel);
      owned->push_back(without_first_key(
          panel.values.row_block(first_query, heatmap.n_queries() - first_query)));
      panel.values = owned->back().view();
    }
    if (panel.visible) {
      panel.visible = [first_query, visible = std::move(panel.visible)](std::size_t query,
                                                                        std::size_t key) {
        return visible(query + first_query, key + 1);
      };
    }
  }
  drop_first(heatmap.key_labels, 1);
  drop_first(heatmap.roles.keys, 1);
  drop_first(heatmap.query_labels, first_query);
  drop_first(heatmap.roles.queries, first_query);
  heatmap.first_key = 1;
  heatmap.first_query = first_query;
  heatmap.storage = owned;
}

void put_sinks_first(Heatmap& heatmap, const std::vector<std::vector<float>>& sinks) {
  const auto owned = std::make_shared<TakenPanels>();
  owned->before = heatmap.storage;
  const std::size_t n_keys = heatmap.n_keys();
  for (std::size_t i = 0; i < heatmap.panels.size(); ++i) {
    HeatmapPanel& panel = heatmap.panels[i];
    const std::vector<float>& sink = sinks[i];
    MatrixBuffer wider(heatmap.n_queries(), n_keys + 1);
    for (std::size_t row = 0; row < heatmap.n_queries(); ++row) {
      const std::size_t query = heatmap.first_query.of(row);
      wider.view()(row, 0) = query < sink.size() ? sink[query] : 0.0f;
      std::ranges::copy(panel.values.row(row), wider.view().row_data(row) + 1);
    }
    owned->matrices.push_back(std::move(wider));
    panel.values = std::as_const(owned->matrices.back()).view();
    panel.visible = [has_one = !sink.empty(), visible = std::move(panel.visible)](std::size_t query,
                                                                                  std::size_t key) {
      return key == 0 ? has_one : !visible || visible(query, key - 1);
    };
  }
  std::vector<std::size_t> numbers;
  for (std::size_t key = 0; key < n_keys && heatmap.first_key.is_list(); ++key) {
    numbers.push_back(heatmap.first_key.of(key));
  }
  heatmap.first_key =
      numbers.empty() ? EntryNumbers::after_sink() : EntryNumbers::after_sink(std::move(numbers));
  heatmap.key_labels.insert(heatmap.key_labels.begin(), "sink");
  if (!heatmap.roles.keys.empty()) {
    heatmap.roles.keys.insert(heatmap.roles.keys.begin(), 0);
  }
  heatmap.storage = owned;
}

void scale_rows_to_one(Heatmap& heatmap) {
  const auto owned = std::make_shared<TakenPanels>();
  owned->before = heatmap.storage;
  for (HeatmapPanel& panel : heatmap.panels) {
    MatrixBuffer scaled(panel.values.rows, panel.values.cols);
    for (std::size_t row = 0; row < scaled.rows(); ++row) {
      std::ranges::copy(panel.values.row(row), scaled.view().row_data(row));
      scale_to_one(scaled.view().row(row));
    }
    owned->matrices.push_back(std::move(scaled));
    panel.values = std::as_const(owned->matrices.back()).view();
  }
  heatmap.storage = owned;
}

Heatmap transposed(const Heatmap& heatmap) {
  Heatmap other = heatmap;
  std::swap(other.query_labels, other.key_labels);
  std::swap(other.roles.queries, other.roles.keys);
  std::swap(other.first_query, other.first_key);
  std::swap(other.query_axis, other.key_axis);
  other.queries_are_columns = !heatmap.queries_are_columns;
  if (other.value_name.starts_with("share of the row")) {
    other.value_name = "share of the query's largest weight";
  }
  const auto owned = std::make_shared<TakenPanels>();
  owned->before = heatmap.storage;
  for (std::size_t i = 0; i < heatmap.panels.size(); ++i) {
    const HeatmapPanel& from = heatmap.panels[i];
    HeatmapPanel& panel = other.panels[i];
    if (!from.values.empty() && heatmap.scale.kind == ScaleKind::kRowMax) {
      const MatrixBuffer shares = shares_of(from);
      owned->matrices.push_back(turned(shares.view()));
      panel.shares = std::as_const(owned->matrices.back()).view();
    }
    if (!from.values.empty()) {
      owned->matrices.push_back(turned(from.values));
      panel.values = std::as_const(owned->matrices.back()).view();
    }
    if (from.visible) {
      panel.visible = [visible = from.visible](std::size_t row, std::size_t column) {
        return visible(column, row);
      };
    }
    if (from.pooled) {
      panel.pooled = [cells = from.pooled](const PoolGrid& grid) {
        return transposed(cells(transposed(grid)));
      };
    }
  }
  other.storage = owned;
  return other;
}

PoolGrid transposed(const PoolGrid& grid) {
  return {grid.keys, grid.queries};
}

PooledMatrix transposed(const PooledMatrix& cells) {
  return {cells.cols, cells.rows, turned_cells(cells.values, cells.rows, cells.cols),
          turned_cells(cells.shares, cells.rows, cells.cols),
          turned_cells(cells.visible, cells.rows, cells.cols)};
}

LabelRoles label_roles(const std::vector<TokenTurn>& turns) {
  LabelRoles roles;
  for (const TokenTurn& turn : turns) {
    std::size_t number = 0;
    if (turn.role) {
      const auto known = std::ranges::find(roles.names, *turn.role);
      number = 1 + static_cast<std::size_t>(known - roles.names.begin());
      if (known == roles.names.end()) {
        roles.names.push_back(*turn.role);
      }
    }
    roles.queries.insert(roles.queries.end(), turn.end - turn.begin, number);
  }
  roles.keys = roles.queries;
  return roles;
}

void drop_space_marks(std::vector<std::string>& labels) {
  for (std::string& label : labels) {
    const std::size_t begin = label.find_first_not_of(' ');
    if (begin != std::string::npos) {
      label = label.substr(begin, label.find_last_not_of(' ') + 1 - begin);
    }
  }
}

namespace {

void append(const TokenMarks& more, std::size_t first, TokenMarks& marks) {
  for (const auto& [from, to] : {std::pair{&more.special, &marks.special},
                                 {&more.added, &marks.added},
                                 {&more.generated, &marks.generated}}) {
    for (const std::size_t token : *from) {
      to->push_back(first + token);
    }
  }
}

// The tokens that the tokenizer did not add.
std::vector<std::size_t> kept_tokens(const TokenMarks& marks, std::size_t n_tokens) {
  std::vector<std::size_t> kept;
  for (std::size_t token = 0; token < n_tokens; ++token) {
    if (!std::ranges::binary_search(marks.added, token)) {
      kept.push_back(token);
    }
  }
  if (kept.empty()) {
    throw Error(ErrorKind::kUsage,
                "no_special: the tokenizer added every token; nothing would be left", "no_special");
  }
  return kept;
}

}  // namespace

TokenMarks shown_marks(const AttentionDocument& document, bool draws_sinks) {
  TokenMarks marks = document.marks;
  if (!document.is_of_one_text()) {
    append(document.key_marks, document.query_tokens.size(), marks);
  }
  if (document.drawing.no_special) {
    std::erase_if(marks.special, [&added = marks.added](std::size_t token) {
      return std::ranges::binary_search(added, token);
    });
    marks.added.clear();
  }
  // A first token that sees others remains as a query.
  if (document.drawing.drop_sink && !draws_sinks && document.run.mask &&
      !document.run.mask->visible(0, 1) && document.is_of_one_text()) {
    for (std::vector<std::size_t>* const some : {&marks.special, &marks.added, &marks.generated}) {
      std::erase(*some, 0);
    }
  }
  return marks;
}

std::vector<std::string> added_tokens(const AttentionDocument& document) {
  std::vector<std::string> tokens;
  std::set<std::string> known;
  const auto add = [&](const TokenMarks& marks, const std::vector<std::string>& names) {
    for (const std::size_t token : marks.added) {
      if (const auto [name, is_new] = known.insert(quoted_token(names[token])); is_new) {
        tokens.push_back(*name);
      }
    }
  };
  add(document.marks, document.query_tokens);
  if (!document.is_of_one_text()) {
    add(document.key_marks, document.key_tokens);
  }
  return tokens;
}

std::size_t n_added(const AttentionDocument& document) {
  return document.marks.added.size() +
         (document.is_of_one_text() ? 0 : document.key_marks.added.size());
}

Heatmap without_added(const Heatmap& heatmap, const AttentionDocument& document) {
  return with_tokens(heatmap, kept_tokens(document.marks, heatmap.n_queries()),
                     kept_tokens(document.marks_of_keys(), heatmap.n_keys()));
}

}  // namespace attnviz
