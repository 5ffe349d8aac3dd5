#include "attnviz/report/figures.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <tuple>
#include <utility>

#include "attnviz/attention/interventions.h"
#include "attnviz/core/error.h"
#include "attnviz/report/attention_heatmap.h"

namespace attnviz {

namespace {

// The strength of a value, or of a share of its row. At 0 or below no line is drawn; above 1 the
// value lies beyond the scale.
float unclamped_strength(const ColorScale& scale, float value) noexcept {
  if (scale.low >= 0.0f) {
    return scale.position(value);
  }
  const float end = value < 0.0f ? scale.low : scale.high;
  return end == 0.0f ? 0.0f : value / end;
}

// "L2H1 induction".
std::string group_name(const AttentionDocument& document, const DocumentPattern& pattern,
                       const HeatmapPanel& panel) {
  if (is_no_attention(document.kind)) {
    return panel.title;
  }
  if (!pattern.title.empty()) {
    return pattern.title;
  }
  const std::string names =
      document.model && !document.average ? names_of(*document.model, pattern.head) : "";
  return head_title(pattern.head) + (names.empty() ? "" : " " + names);
}

class ArcsMaker {
 public:
  explicit ArcsMaker(std::span<const AttentionDocument> documents)
      : documents_(documents), heatmap_(attention_panels(documents)) {}

  ArcsFigure make() && {
    const AttentionDocument& document = documents_.front();
    figure_.query_labels = heatmap_.query_labels;
    figure_.key_labels = heatmap_.key_labels;
    figure_.first_query = heatmap_.first_query;
    figure_.first_key = heatmap_.first_key;
    if (is_no_attention(document.kind)) {
      figure_.query_axis = heatmap_.query_axis;
      figure_.key_axis = heatmap_.key_axis;
    }
    if (heatmap_.first_key.has_sink()) {
      first_row_ = 1;
      figure_.query_labels.insert(figure_.query_labels.begin(), "");
      figure_.first_query = heatmap_.first_key;
    }
    figure_.value_name = heatmap_.value_name;
    figure_.scale = heatmap_.scale;
    figure_.title = heatmap_.title;
    figure_.notes = heatmap_.notes;
    figure_.least = kLeastStrength;
    if (document.drawing.focus) {
      figure_.focus = *document.drawing.focus;
      figure_.focus->token = focus_row(heatmap_, *document.drawing.focus,
                                       document.query_tokens.size(), document.key_tokens.size());
    }
    add_panels(document);
    if (figure_.focus && !figure_.focus->as_key) {
      figure_.focus->token += first_row_;
    }
    raise_least();
    require_short_lines();
    for_each_group([](ArcsGroup& group) {
      std::ranges::sort(group.edges, {}, [](const ArcsEdge& edge) {
        return std::tuple(edge.strength, edge.query, edge.key);
      });
    });
    if (has_odd_) {
      figure_.notes.emplace_back("numbers that are not finite have no line");
    }
    return std::move(figure_);
  }

 private:
  void add_panels(const AttentionDocument& document) {
    if (figure_.is_signed()) {
      require_at_most_groups(heatmap_.panels.size());
      for (const HeatmapPanel& panel : heatmap_.panels) {
        add_signed(panel);
      }
      return;
    }
    const std::size_t n_variants = documents_.size();
    require_at_most_groups(document.patterns.size());
    for (std::size_t variant = 0; variant < n_variants; ++variant) {
      ArcsPanel panel;
      if (n_variants > 1) {
        panel.title = document.drawing.side_by_side[variant];
      }
      for (std::size_t i = 0; i < document.patterns.size(); ++i) {
        const HeatmapPanel& from = heatmap_.panels[i * n_variants + variant];
        panel.groups.push_back({group_name(document, document.patterns[i], from), i, {}});
        add_edges(from,
                  [&panel, i](const ArcsEdge& edge) { panel.groups[i].edges.push_back(edge); });
      }
      figure_.panels.push_back(std::move(panel));
    }
  }

  void add_signed(const HeatmapPanel& from) {
    const bool is_change = documents_.front().difference.has_value();
    ArcsPanel panel{from.title,
                    {{is_change ? "less in B" : "below 0", kBelowZero, {}},
                     {is_change ? "more in B" : "above 0", kAboveZero, {}}}};
    add_edges(from, [&panel](const ArcsEdge& edge) {
      panel.groups[edge.value < 0.0f ? 0 : 1].edges.push_back(edge);
    });
    figure_.panels.push_back(std::move(panel));
  }

  template <class Add>
  void add_edges(const HeatmapPanel& panel, Add&& add) {
    const bool by_row = figure_.scale.kind == ScaleKind::kRowMax;
    std::vector<float> shares(by_row ? heatmap_.n_keys() : 0);
    for (std::size_t query = 0; query < heatmap_.n_queries(); ++query) {
      if (figure_.focus && !figure_.focus->as_key && figure_.focus->token != query) {
        continue;
      }
      if (by_row) {
        row_shares(panel, query, shares);
      }
      for (std::size_t key = 0; key < heatmap_.n_keys(); ++key) {
        const bool out_of_focus =
            figure_.focus && figure_.focus->as_key && figure_.focus->token != key;
        if (out_of_focus || !panel.is_visible(query, key)) {
          continue;
        }
        const float value = panel.values(query, key);
        const float strength = unclamped_strength(figure_.scale, by_row ? shares[key] : value);
        if (!std::isfinite(value)) {
          has_odd_ = true;
        } else if (strength >= kLeastStrength) {
          constexpr float kRounding = 1e-4f;
          figure_.has_stronger = figure_.has_stronger || strength > 1.0f + kRounding;
          add(ArcsEdge{first_row_ + query, key, value, std::min(strength, 1.0f)});
        } else {
          figure_.has_weaker = figure_.has_weaker || value != 0.0f;
        }
      }
    }
  }

  template <class Visit>
  void for_each_group(Visit&& visit) {
    for (ArcsPanel& panel : figure_.panels) {
      std::ranges::for_each(panel.groups, visit);
    }
  }

  // More lines would merge into a solid area, in a file too large to open.
  void raise_least() {
    for (const float least : {0.02f, 0.05f, 0.1f, 0.2f, 0.5f}) {
      std::size_t n_edges = 0;
      for_each_group([&n_edges](const ArcsGroup& group) { n_edges += group.edges.size(); });
      if (n_edges <= kMostArcs) {
        return;
      }
      figure_.least = least;
      figure_.has_weaker = true;
      for_each_group([least](ArcsGroup& group) {
        std::erase_if(group.edges, [least](const ArcsEdge& edge) { return edge.strength < least; });
      });
    }
  }

  // The time to draw a line grows with the number of rows it spans.
  void require_short_lines() {
    constexpr double kMostRows = 1e8;
    std::size_t n_edges = 0;
    double n_rows = 0.0;
    for_each_group([&](const ArcsGroup& group) {
      n_edges += group.edges.size();
      for (const ArcsEdge& edge : group.edges) {
        n_rows += std::abs(static_cast<double>(edge.query) - static_cast<double>(edge.key));
      }
    });
    if (n_rows > kMostRows) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("arcs: {} lines over up to {} tokens are too long to draw; use a "
                              "shorter text, or focus on one token",
                              n_edges, std::max(heatmap_.n_queries(), heatmap_.n_keys())),
                  "arcs");
    }
  }

  void require_at_most_groups(std::size_t n_heads) const {
    if (n_heads > kMostGroups) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("arcs: expected at most {} heads in one picture, found {}",
                              kMostGroups, n_heads),
                  "arcs");
    }
  }

  std::span<const AttentionDocument> documents_;
  Heatmap heatmap_;  // without focus
  ArcsFigure figure_;
  std::size_t first_row_ = 0;  // of queries
  bool has_odd_ = false;
};

}  // namespace

ArcsFigure arcs_figure(std::span<const AttentionDocument> documents) {
  return ArcsMaker(documents).make();
}

float value_at(const ColorScale& scale, float strength) noexcept {
  if (scale.low < 0.0f) {
    return strength * scale.high;
  }
  switch (scale.kind) {
    case ScaleKind::kSqrt:
      return scale.low + strength * strength * (scale.high - scale.low);
    case ScaleKind::kLog:
      return static_cast<float>(double{scale.low} *
                                std::pow(double{scale.high} / double{scale.low}, strength));
    case ScaleKind::kLinear:
    case ScaleKind::kRowMax:
      break;
  }
  return scale.low + strength * (scale.high - scale.low);
}

std::string hidden_arcs_note(const ArcsFigure& figure, float least) {
  bool is_weaker = figure.has_weaker;
  for (const ArcsPanel& panel : figure.panels) {
    for (const ArcsGroup& group : panel.groups) {
      is_weaker = is_weaker || (!group.edges.empty() && group.edges.front().strength < least);
    }
  }
  if (!is_weaker) {
    return {};
  }
  return fmt::format("lines below {:.3g}{} are left out", value_at(figure.scale, least),
                     figure.scale.kind == ScaleKind::kRowMax ? " of the row's largest" : "");
}

}  // namespace attnviz
