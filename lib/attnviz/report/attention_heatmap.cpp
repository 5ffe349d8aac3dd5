#include "attnviz/report/attention_heatmap.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "attnviz/attention/interventions.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/report/model_info.h"
#include "attnviz/report/patterns/shown_tokens.h"
#include "attnviz/report/words/words.h"

namespace attnviz {

namespace {

// The number of heads in each layer; 1 for a single layer, or if layers have different heads.
std::size_t panels_together(const std::vector<HeadId>& heads) {
  const std::size_t first_layer = heads.front().layer;
  if (heads.back().layer == first_layer || !is_rectangle(heads)) {
    return 1;
  }
  return static_cast<std::size_t>(
      std::count_if(heads.begin(), heads.end(),
                    [first_layer](HeadId head) { return head.layer == first_layer; }));
}

// Labels of the colour bar.
constexpr std::array kValueNames = {
    Choice{"attention weight", ScaleKind::kLinear},
    Choice{"attention weight (square root scale)", ScaleKind::kSqrt},
    Choice{"attention weight (log scale)", ScaleKind::kLog},
    Choice{"share of the row's largest weight", ScaleKind::kRowMax}};

HeatmapPanel panel_of(const AttentionDocument& document, std::size_t index, const Visibility& seen,
                      const std::string& edges_note) {
  const DocumentPattern& pattern = document.patterns[index];
  HeatmapPanel panel{pattern.title.empty() ? head_title(pattern.head) : pattern.title,
                     pattern.weights};
  if (const auto mask = document.mask_of(pattern.head)) {
    panel.mask = mask->name();
  }
  if (seen.hides_edges()) {
    panel.mask += (panel.mask.empty() ? "" : "; ") + edges_note;
  }
  if (document.kind == PatternKind::kRouter) {
    panel.title = fmt::format("L{} experts", pattern.head.layer);
    panel.mask = "of " + panel.title;  // each layer has its own
    panel.visible = [factors = pattern.weights](std::size_t token, std::size_t expert) {
      return factors(token, expert) != 0.0f;
    };
    return panel;
  }
  if (document.kind == PatternKind::kDecay) {
    panel.title = fmt::format("L{} state {}", pattern.head.layer, pattern.head.head);
  }
  if (seen.hides_edges() || seen.mask().kind != MaskKind::kNone) {
    panel.visible = [seen](std::size_t query, std::size_t key) { return seen.visible(query, key); };
  }
  return panel;
}

// Long lists of edges are cut in names: panels that see different keys need different names.
void part_names(const std::vector<Visibility>& seen, std::vector<HeatmapPanel>& panels) {
  std::map<std::string, Visibility> known;
  for (std::size_t i = 0; i < panels.size(); ++i) {
    if (!seen[i].hides_edges()) {
      continue;
    }
    const auto place = known.try_emplace(panels[i].mask, seen[i]).first;
    if (place->second != seen[i]) {
      panels[i].mask += fmt::format(" ({})", panels[i].title);
    }
  }
}

std::string_view subject(const AttentionDocument& document) {
  return document.difference                        ? "difference of attention, B - A"
         : document.is_rollout()                    ? "attention rollout"
         : document.part == AttentionPart::kCross   ? "cross-attention"
         : document.part == AttentionPart::kEncoder ? "attention of the encoder"
         : document.part == AttentionPart::kDecoder ? "attention of the decoder"
                                                    : subject_of(document.kind);
}

// `attention of "cat" (1)`, or for a key `attention to "cat" (1)`.
std::string focus_title(const AttentionDocument& document) {
  const Focus& focus = *document.drawing.focus;
  const auto& tokens = focus.as_key ? document.key_tokens : document.query_tokens;
  if (focus.token >= tokens.size()) {
    throw Error(ErrorKind::kUsage, fmt::format("focus: expected a token below {}, found {}",
                                               tokens.size(), focus.token));
  }
  return fmt::format("{} {} {}", subject(document), focus.as_key ? "to" : "of",
                     named_token(tokens[focus.token], focus.token));
}

// The rows and their visible cells.
struct FocusRows {
  MatrixBuffer values;
  MatrixBuffer shares;  // for ScaleKind::kRowMax; may be empty
  std::vector<std::uint8_t> visible;
};

// Each weight of a key as a share of its query's largest: [panels, queries].
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

Heatmap attention_heatmap(const AttentionDocument& document) {
  return attention_heatmap(std::span(&document, 1));
}

void set_cells(Heatmap& heatmap, const AttentionDocument& document,
               const std::vector<std::shared_ptr<const PooledPatterns>>& pictures) {
  for (std::size_t i = 0; i < heatmap.panels.size(); ++i) {
    const bool turns = document.drawing.transposed;
    heatmap.panels[i].pooled = [pictures, turns,
                                head = document.patterns[i].head](const PoolGrid& asked) {
      const PoolGrid grid = turns ? transposed(asked) : asked;
      const auto found =
          std::find_if(pictures.begin(), pictures.end(), [&grid, head](const auto& picture) {
            return picture->wants(head) && picture->grid().same_cells(grid);
          });
      if (found == pictures.end()) {
        throw std::logic_error("a picture was cut in another way than planned");
      }
      return turns ? transposed((*found)->cells(head)) : (*found)->cells(head);
    };
  }
}

std::size_t focus_row(const Heatmap& whole, const Focus& focus, std::size_t n_queries,
                      std::size_t n_keys) {
  const EntryNumbers& numbers = focus.as_key ? whole.first_key : whole.first_query;
  const std::size_t n_shown = focus.as_key ? whole.n_keys() : whole.n_queries();
  if (numbers.is_list()) {
    for (std::size_t row = 0; row < n_shown; ++row) {
      if (numbers.of(row) == focus.token) {
        return row;
      }
    }
    throw Error(ErrorKind::kUsage,
                fmt::format("focus: token {} is left out by no_special", focus.token), "focus");
  }
  if (numbers.has_sink()) {
    return focus.token + 1;
  }
  const std::size_t dropped = (focus.as_key ? n_keys : n_queries) - n_shown;
  if (focus.token < dropped) {
    throw Error(ErrorKind::kUsage,
                fmt::format("focus: token {} is left out by drop_sink", focus.token), "focus");
  }
  return focus.token - dropped;
}

Heatmap focus_heatmap(const Heatmap& whole, const Focus& focus, std::size_t n_queries,
                      std::size_t n_keys) {
  const std::size_t at = focus_row(whole, focus, n_queries, n_keys);
  Heatmap heatmap = whole;
  heatmap.key_labels = focus.as_key ? whole.query_labels : whole.key_labels;
  heatmap.key_axis = focus.as_key ? whole.query_axis : whole.key_axis;
  heatmap.first_key = focus.as_key ? whole.first_query : whole.first_key;
  heatmap.query_axis = "head";
  heatmap.first_query = 0;
  heatmap.query_labels.clear();
  heatmap.roles = {};
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

Heatmap attention_panels(std::span<const AttentionDocument> documents) {
  const AttentionDocument& document = documents.front();
  const Drawing& drawing = document.drawing;
  Heatmap heatmap;
  std::vector<DocumentVisibilities> visibilities(documents.begin(), documents.end());
  std::vector<Visibility> seen;  // of the panels
  MaskedScores masked;
  for (std::size_t i = 0; i < document.patterns.size(); ++i) {
    for (std::size_t variant = 0; variant < documents.size(); ++variant) {
      const HeadId head = documents[variant].patterns[i].head;
      seen.push_back(visibilities[variant].of(head));
      heatmap.panels.push_back(
          panel_of(documents[variant], i, seen.back(), visibilities[variant].edges_note(head)));
      masked.hide_in(heatmap.panels.back(), documents[variant].kind, documents[variant].patterns[i],
                     seen.back());
      if (documents.size() > 1) {
        heatmap.panels.back().title += " " + drawing.side_by_side[variant];
      }
    }
  }
  part_names(seen, heatmap.panels);
  heatmap.panels_together =
      documents.size() > 1 ? documents.size() : panels_together(heads_of(document));
  heatmap.query_labels = document.query_tokens;
  heatmap.key_labels = document.key_tokens;
  if (document.is_of_one_text()) {
    heatmap.roles = label_roles(document.turns);
  }
  if (drawing.plain_labels) {
    drop_space_marks(heatmap.query_labels);
    drop_space_marks(heatmap.key_labels);
  }
  mark_labels(document.marks, heatmap.query_labels);
  mark_labels(document.marks_of_keys(), heatmap.key_labels);
  if (document.part == AttentionPart::kCross) {
    heatmap.query_axis = "target (attending)";
    heatmap.key_axis = "source (attended to)";
  }
  heatmap.value_name = word_for(kValueNames, drawing.scale.kind);
  if (document.kind != PatternKind::kWeights && drawing.scale.kind != ScaleKind::kRowMax) {
    constexpr std::string_view kUsual = value_name_of(PatternKind::kWeights);
    heatmap.value_name.replace(0, kUsual.size(), value_name_of(document.kind));
  }
  if (document.kind == PatternKind::kRouter) {
    heatmap.query_axis = "token";
    heatmap.key_axis = "expert";
    heatmap.masked_name = "not chosen";
    heatmap.has_numbered_labels = true;
  }
  if (document.kind == PatternKind::kDecay) {
    heatmap.query_axis = "token now";
    heatmap.key_axis = "token stored";
    heatmap.masked_name = "not stored yet";
  }
  if (document.is_rollout() && drawing.scale.kind != ScaleKind::kRowMax) {
    heatmap.value_name.replace(0, subject({}).size(), "rollout");
  }
  if (document.difference) {
    heatmap.value_name = "change of attention weight, from A to B";
  }
  heatmap.scale = drawing.scale;
  heatmap.pool = drawing.pool;
  heatmap.title = subject(document);
  if (drawing.focus) {
    heatmap.title = focus_title(document);
  }
  if (document.model && !(document.difference && document.difference->of_models)) {
    heatmap.title += ": " + model_title(*document.model);
  }
  heatmap.title = drawing.title.value_or(heatmap.title);
  heatmap.notes = shared_notes(documents);
  const bool has_sinks = std::ranges::any_of(documents, draws_sinks);
  if (drawing.drop_sink) {
    has_sinks ? scale_rows_to_one(heatmap) : drop_first_key(heatmap);
  }
  if (drawing.no_special && n_added(document) > 0) {
    heatmap = without_added(heatmap, document);
  }
  if (has_sinks && !drawing.drop_sink) {
    std::vector<std::vector<float>> sinks;
    for (std::size_t i = 0; i < document.patterns.size(); ++i) {
      for (const AttentionDocument& variant : documents) {
        sinks.push_back(variant.patterns[i].sink);
      }
    }
    put_sinks_first(heatmap, sinks);
  }
  return heatmap;
}

Heatmap attention_heatmap(std::span<const AttentionDocument> documents) {
  Heatmap heatmap = attention_panels(documents);
  const AttentionDocument& document = documents.front();
  const std::optional<Focus>& focus = document.drawing.focus;
  if (focus) {
    return focus_heatmap(heatmap, *focus, document.query_tokens.size(), document.key_tokens.size());
  }
  return document.drawing.transposed ? transposed(heatmap) : heatmap;
}

namespace {

// A hash of the cells that are hidden although `seen` sees them; absent if none is. FNV-1a over
// their indices, a word at a time.
std::optional<std::uint64_t> hash_of_hidden(PatternKind kind, const DocumentPattern& pattern,
                                            const Visibility& seen) {
  constexpr std::uint64_t kBasis = 0xCBF29CE484222325;
  constexpr std::uint64_t kPrime = 0x100000001B3;
  const ConstMatrix& cells = is_before_softmax(kind) ? pattern.weights : pattern.scores;
  std::optional<std::uint64_t> hash;
  for (std::size_t query = 0; query < cells.rows; ++query) {
    for (std::size_t key = 0; key < cells.cols; ++key) {
      if (pattern.is_masked_score(kind, query, key) && seen.visible(query, key)) {
        hash = (hash.value_or(kBasis) ^ (query * cells.cols + key)) * kPrime;
      }
    }
  }
  return hash;
}

}  // namespace

void MaskedScores::hide_in(HeatmapPanel& panel, PatternKind kind, const DocumentPattern& pattern,
                           const Visibility& seen) {
  const auto hash = hash_of_hidden(kind, pattern, seen);
  if (!hash) {
    return;
  }
  const std::string own = names_.empty() ? "masked scores" : "masked scores of " + panel.title;
  panel.mask += (panel.mask.empty() ? "" : "; ") + names_.try_emplace(*hash, own).first->second;
  panel.visible = [seen, pattern, kind](std::size_t query, std::size_t key) {
    return seen.visible(query, key) && !pattern.is_masked_score(kind, query, key);
  };
}

}  // namespace attnviz
