#include "attnviz/terminal/views.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/report/words/number_formats.h"
#include "attnviz/terminal/page/page.h"
#include "attnviz/terminal/page/text_table.h"

namespace attnviz {

namespace {

// The appearance of lines from a strength on.
struct ArcDensity {
  float least;
  std::size_t period;  // distance between its dots
  bool thick;
  const char* sample;
};

// Weaker lines would fill the few dots of a canvas, and so would thick lines of several heads.
using ArcDensities = std::array<ArcDensity, 3>;
constexpr ArcDensities kDensities = {ArcDensity{0.5f, 1, true, "⠶⠶⠶"},
                                     ArcDensity{0.25f, 1, false, "⠤⠤⠤"},
                                     ArcDensity{0.1f, 3, false, "⠄⠠ ⠄⠠"}};
constexpr ArcDensities kDensitiesOfMany = {ArcDensity{0.5f, 1, false, "⠤⠤⠤"},
                                           ArcDensity{0.25f, 2, false, "⠄⠄⠄"},
                                           ArcDensity{0.1f, 4, false, "⠄ ⠄"}};

constexpr std::size_t kMostListed = 40;  // edges, of all groups together
constexpr std::size_t kLeastListed = 5;  // of one group
constexpr std::size_t kArcPanelGap = 4;
// Up to this number of rows, blank rows separate them; with several heads the limit is higher.
constexpr std::size_t kSparseRows = 12;
constexpr std::size_t kSparseRowsOfMany = 24;

class ArcsView {
 public:
  ArcsView(const ArcsFigure& figure, const TerminalOptions& options)
      : figure_(figure),
        options_(options),
        charset_(options.style),
        query_labels_(indexed(figure.query_labels, figure.first_query)),
        key_labels_(indexed(figure.key_labels, figure.first_key)),
        numbers_(figure.scale.low, figure.scale.high, 5),
        // Lines of a single token leave room for weak ones.
        least_(figure.focus ? figure.least : std::max(figure.least, kDensities.back().least)) {}

  Page draw() && {
    page_.add(paragraph(charset_.sentence(figure_.title), options_.columns, kBold));
    if (!figure_.title.empty()) {
      page_.blank();
    }
    if (charset_.is_ascii()) {
      list();
    } else {
      panels();
    }
    for (const std::string& note : figure_.notes) {
      page_.add(paragraph(charset_.sentence(note), options_.columns));
    }
    if (const std::string note = hidden_arcs_note(figure_, least_); !note.empty()) {
      page_.add(paragraph(note, options_.columns));
    }
    return std::move(page_);
  }

 private:
  bool is_colored() const { return options_.color != ColorDepth::kNone; }

  Style ink_of(const ArcsGroup& group) const { return group_ink(group.color, options_.color); }

  // Whether the lines of all groups leave most dots of their panel free: a cell has only one
  // colour.
  bool are_sparse(const ArcsPanel& panel) const {
    constexpr double kMostFilled = 0.55;
    constexpr double kRowsOfDots = 4.0;
    double n_lines = 0.0;  // weighted by density
    for (const ArcsGroup& group : panel.groups) {
      for (const ArcsEdge& edge : group.edges) {
        n_lines += edge.strength >= least_
                       ? 1.0 / static_cast<double>(density_of(edge.strength).period)
                       : 0.0;
      }
    }
    return n_lines <= kMostFilled * kRowsOfDots * static_cast<double>(n_rows_ * pitch_);
  }

  // Splits the figure's panels into one panel for each group.
  std::vector<ArcsPanel> panels_apart() const {
    std::vector<ArcsPanel> shown;
    for (const ArcsPanel& panel : figure_.panels) {
      for (const ArcsGroup& group : panel.groups) {
        const bool has_both = !panel.title.empty() && !group.name.empty();
        shown.push_back({panel.title + (has_both ? ", " : "") + group.name, {group}});
      }
    }
    return shown;
  }

  // "12 cat": the index distinguishes repeated tokens.
  std::vector<std::string> indexed(const std::vector<std::string>& labels,
                                   const EntryNumbers& first) const {
    std::vector<std::string> all;
    const std::size_t wide = std::to_string(first.of(labels.size() - 1)).size();
    for (std::size_t row = 0; row < labels.size(); ++row) {
      const bool is_opposite_sink = labels[row].empty() && row == 0 && first.has_sink();
      all.push_back(is_opposite_sink ? ""
                                     : charset_.fitted(pad_left(first.name(row), wide) + " " +
                                                           charset_.label(labels[row]),
                                                       options_.columns));
    }
    return all;
  }

  static std::size_t widest(const std::vector<std::string>& labels, std::size_t most) {
    std::size_t columns = 1;
    for (const std::string& label : labels) {
      columns = std::max(columns, display_width(label));
    }
    return std::min(columns, most);
  }

  void panels() {
    n_rows_ = std::max(figure_.query_labels.size(), figure_.key_labels.size());
    const bool is_overlaid = is_colored() && overlays();
    if (!is_overlaid) {
      is_many_ = false;
      pitch_ = n_rows_ <= kSparseRows ? 2 : 1;
    }
    const std::vector<ArcsPanel> shown = is_overlaid ? figure_.panels : panels_apart();
    const std::size_t most = std::max<std::size_t>(options_.columns / 4, 5);
    left_ = std::max(widest(query_labels_, most), figure_.query_axis.size());
    right_ = std::max(widest(key_labels_, most), figure_.key_axis.size());
    constexpr std::size_t kLeastCanvas = 24;
    constexpr std::size_t kMostCanvas = 96;
    const std::size_t labels = left_ + right_ + 2;
    constexpr std::size_t kNarrowest = 4;  // canvas, if even labels do not fit
    const std::size_t columns = std::max(options_.columns, labels + kNarrowest);
    const auto wanted = [&](std::size_t columns_a_row, std::size_t highest) {
      return std::min(columns - labels,
                      std::clamp(columns_a_row * n_rows_ * pitch_, kLeastCanvas, highest));
    };
    const std::size_t least = labels + wanted(2, kMostCanvas / 2);
    const std::size_t together =
        std::clamp<std::size_t>((columns + kArcPanelGap) / (least + kArcPanelGap), 1, shown.size());
    const std::size_t room = (columns + kArcPanelGap) / together - kArcPanelGap - labels;
    canvas_ = std::min(room, wanted(4, kMostCanvas));
    if (is_overlaid) {
      group_legend(shown.front());
    }
    for (std::size_t first = 0; first < shown.size(); first += together) {
      band(std::span(shown).subspan(first, std::min(together, shown.size() - first)));
    }
    density_legend();
  }

  // Chooses the distance of rows and the style of lines; returns whether groups then share a panel.
  bool overlays() {
    is_many_ = figure_.panels.front().groups.size() > 1;
    pitch_ = n_rows_ <= (is_many_ ? kSparseRowsOfMany : kSparseRows) ? 2 : 1;
    return !is_many_ || std::ranges::all_of(figure_.panels, [this](const ArcsPanel& panel) {
      return are_sparse(panel);
    });
  }

  void group_legend(const ArcsPanel& panel) {
    std::vector<Line> items;
    for (const ArcsGroup& group : panel.groups) {
      Line item("━━ ", ink_of(group));
      item.put(charset_.fitted(charset_.sentence(group.name), options_.columns - 3));
      items.push_back(std::move(item));
    }
    page_.add(flow(items, 3, options_.columns));
    page_.blank();
  }

  const ArcDensities& densities() const { return is_many_ ? kDensitiesOfMany : kDensities; }

  const ArcDensity& density_of(float strength) const {
    const auto found = std::ranges::find_if(
        densities(), [strength](const ArcDensity& density) { return strength >= density.least; });
    return found == densities().end() ? densities().back() : *found;
  }

  void density_legend() {
    std::vector<Line> items;
    for (const ArcDensity& density : densities()) {
      if (density.least >= figure_.least) {
        items.emplace_back(
            fmt::format("{} from {:.3g}", density.sample, value_at(figure_.scale, density.least)));
      }
    }
    Line name(charset_.fitted(figure_.value_name + ":", options_.columns));
    items.insert(items.begin(), std::move(name));
    page_.add(flow(items, 3, options_.columns));
  }

  BrailleCanvas drawn(const ArcsPanel& panel) const {
    struct Drawn {
      const ArcsEdge* edge;
      std::size_t group;
    };
    std::vector<Drawn> edges;
    for (std::size_t i = 0; i < panel.groups.size(); ++i) {
      for (const ArcsEdge& edge : panel.groups[i].edges) {
        if (edge.strength >= least_) {
          edges.push_back({&edge, i});
        }
      }
    }
    std::ranges::stable_sort(edges, {}, [](const Drawn& drawn) { return drawn.edge->strength; });
    BrailleCanvas canvas(canvas_, n_rows_ * pitch_);
    for (const Drawn& drawn : edges) {
      // Equal edges of two heads are drawn as two lines.
      const std::size_t lane = 1 + drawn.group % 2;
      const ArcDensity& density = density_of(drawn.edge->strength);
      canvas.line({0, 4 * pitch_ * drawn.edge->query + lane},
                  {canvas.dots_across() - 1, 4 * pitch_ * drawn.edge->key + lane}, density.period,
                  density.thick, ink_of(panel.groups[drawn.group]));
    }
    return canvas;
  }

  void band(std::span<const ArcsPanel> shown) {
    const std::size_t wide = left_ + right_ + 2 + canvas_;
    std::vector<BrailleCanvas> canvases;
    Line titles;
    Line axes;
    for (std::size_t i = 0; i < shown.size(); ++i) {
      canvases.push_back(drawn(shown[i]));
      const std::size_t gap = i + 1 < shown.size() ? kArcPanelGap : 0;
      titles.put_padded(charset_.fitted(charset_.sentence(shown[i].title), wide), wide + gap,
                        kBold);
      axes.put(pad_left(figure_.query_axis, left_), kDim);
      axes.space(canvas_ + 2);
      axes.put_padded(figure_.key_axis, right_ + gap, kDim);
    }
    if (!shown.front().title.empty()) {
      page_.add(std::move(titles));
    }
    page_.add(std::move(axes));
    const std::size_t n_lines = n_rows_ * pitch_ - (pitch_ - 1);
    for (std::size_t at = 0; at < n_lines; ++at) {
      Line line;
      for (std::size_t i = 0; i < shown.size(); ++i) {
        line.space(i > 0 ? kArcPanelGap : 0);
        const std::string query = side_label(query_labels_, at, left_);
        line.space(left_ - display_width(query));
        line.put(query, label_style(at, /*of_query=*/true));
        line.space(1);
        line.put(canvases[i].row(at));
        line.space(1);
        line.put_padded(side_label(key_labels_, at, right_), right_,
                        label_style(at, /*of_query=*/false));
      }
      page_.add(std::move(line));
    }
    page_.blank();
  }

  std::string side_label(const std::vector<std::string>& labels, std::size_t at,
                         std::size_t columns) const {
    const std::size_t row = at / pitch_;
    return at % pitch_ == 0 && row < labels.size() ? charset_.fitted(labels[row], columns) : "";
  }

  Style label_style(std::size_t at, bool of_query) const {
    if (!figure_.focus || figure_.focus->as_key == of_query) {
      return {};
    }
    return figure_.focus->token == at / pitch_ ? kBold : kDim;
  }

  void list() {
    const std::vector<ArcsPanel> shown = panels_apart();
    const std::size_t most = std::max(kLeastListed, kMostListed / shown.size());
    for (const ArcsPanel& panel : shown) {
      page_.add(charset_.fitted(charset_.sentence(panel.title), options_.columns), kBold);
      list_edges(panel.groups.front(), most);
      page_.blank();
    }
    page_.add(paragraph(
        fmt::format("lines: {}; == from {:.3g}, -- from {:.3g}, .. below", figure_.value_name,
                    value_at(figure_.scale, 0.5f), value_at(figure_.scale, 0.25f)),
        options_.columns));
  }

  void list_edges(const ArcsGroup& group, std::size_t most) {
    std::vector<ArcsEdge> edges;
    std::ranges::copy_if(group.edges, std::back_inserter(edges),
                         [this](const ArcsEdge& edge) { return edge.strength >= least_; });
    const std::size_t n_all = edges.size();
    edges.erase(edges.begin(),
                edges.end() - static_cast<std::ptrdiff_t>(std::min(most, edges.size())));
    std::ranges::sort(edges, {}, [](const ArcsEdge& edge) {
      return std::tuple(edge.query, -edge.strength, edge.key);
    });
    constexpr std::size_t kArrow = 13;  // " ==0.463==> "
    const std::size_t most_label =
        options_.columns > kArrow + 6 ? (options_.columns - kArrow) / 2 : 3;
    const std::size_t left = widest(query_labels_, most_label);
    for (const ArcsEdge& edge : edges) {
      const std::string shaft(2, edge.strength >= 0.5f ? '=' : edge.strength >= 0.25f ? '-' : '.');
      page_.add(fmt::format(
          "{} {}{}{}> {}", pad_right(charset_.fitted(query_labels_[edge.query], left), left), shaft,
          numbers_.text(edge.value), shaft, charset_.fitted(key_labels_[edge.key], most_label)));
    }
    if (edges.empty()) {
      page_.add("no lines", kDim);
    } else if (edges.size() < n_all) {
      page_.add(
          paragraph(fmt::format("the strongest {} of {}", edges.size(), counted(n_all, "line")),
                    options_.columns, kDim));
    }
  }

  const ArcsFigure& figure_;
  TerminalOptions options_;
  Charset charset_;
  std::vector<std::string> query_labels_;  // no wider than the terminal
  std::vector<std::string> key_labels_;
  NumberFormat numbers_;
  float least_;
  std::size_t left_ = 0;  // columns of labels
  std::size_t right_ = 0;
  std::size_t canvas_ = 0;
  std::size_t n_rows_ = 0;
  std::size_t pitch_ = 1;
  bool is_many_ = false;  // whether groups share a panel
  Page page_;
};

}  // namespace

Page arcs_page(const ArcsFigure& figure, const TerminalOptions& options) {
  return ArcsView(figure, wide_enough(options)).draw();
}

}  // namespace attnviz
