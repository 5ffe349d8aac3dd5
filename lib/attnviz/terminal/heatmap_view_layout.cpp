#include "attnviz/terminal/heatmap_view_layout.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>

#include "attnviz/core/utf8.h"
#include "attnviz/report/words/number_formats.h"

namespace attnviz {

namespace {

constexpr std::size_t kMostLines = 60;         // for one of several panels
constexpr std::size_t kMostLinesAlone = 100;   // for a single panel
constexpr std::size_t kWindow = 45;            // lines of a typical window
constexpr std::size_t kScreen = 66;            // lines still readable without paging
constexpr std::size_t kPooledPanelWidth = 64;  // for pooled panels side by side
constexpr std::size_t kFewRows = 30;           // rows worth showing separately
constexpr std::size_t kLinesAround = 3;        // per panel: title, header, blank line
constexpr std::size_t kMostTitle = 24;
constexpr std::size_t kMostGutter = 24;
constexpr std::size_t kBand = 2;

std::size_t digits(std::size_t number) {
  return std::to_string(number).size();
}

std::size_t widest(const std::vector<std::string>& labels) {
  std::size_t width = 0;
  for (const std::string& label : labels) {
    width = std::max(width, display_width(label));
  }
  return width;
}

// The smallest cells and the largest gutter that a layout may try.
struct Attempt {
  std::size_t cell_width;
  bool half_blocks;
  std::size_t most_gutter;
  std::size_t most_lines = std::numeric_limits<std::size_t>::max();
};

class Planner {
 public:
  Planner(const Heatmap& heatmap, const TerminalLabels& labels, const TerminalOptions& options)
      : heatmap_(heatmap), labels_(labels), options_(options) {}

  TerminalLayout plan() const {
    const std::vector<Attempt> all = attempts();
    const bool compares = can_compare(all);
    std::optional<TerminalLayout> best;
    for (const Attempt& attempt : all) {
      const std::optional<TerminalLayout> layout = unpooled(attempt);
      if (!layout || (compares && layout->panels_per_band < n_panels())) {
        continue;
      }
      const bool splits_groups = attempt.most_lines == kWindow &&
                                 !keeps_together(layout->panels_per_band, heatmap_.panels_together);
      if (!splits_groups && total_lines(*layout) <= attempt.most_lines &&
          (!best || total_lines(*layout) < total_lines(*best))) {
        best = layout;
      }
      if (best && total_lines(*best) <= kScreen) {
        break;
      }
    }
    TerminalLayout layout = best ? *best : pooled(all.back());
    enlarge(layout);
    return layout;
  }

 private:
  bool colored() const {
    return options_.style == TerminalStyle::kBlocks && options_.color != ColorDepth::kNone;
  }
  bool numbers() const { return options_.style == TerminalStyle::kNumbers; }
  // One sign per cell, which does not grow.
  bool signs() const {
    return options_.style == TerminalStyle::kDots || options_.style == TerminalStyle::kMask;
  }
  std::size_t n_panels() const { return heatmap_.panels.size(); }

  std::size_t room(const TerminalLayout& layout) const { return layout.columns - layout.gutter; }

  std::vector<Attempt> attempts() const {
    const std::size_t full = std::max<std::size_t>(6, options_.columns * 3 / 10);
    const std::size_t brief = std::clamp<std::size_t>(options_.columns / 6, 5, 12);
    if (numbers()) {
      // Two decimals, or fewer for a wide range, and a space.
      const std::size_t width =
          1 +
          std::clamp<std::size_t>(number_width(heatmap_.scale.low, heatmap_.scale.high, 2), 3, 7);
      return {{width, false, full}, {width, false, brief}};
    }
    std::vector<Attempt> all = {
        {2, false, full}, {2, false, brief}, {1, colored(), full}, {1, colored(), brief}};
    if (colored() && options_.values) {
      // Cells that show their value, if all panels still fit on one screen.
      const std::size_t width = 2 + number_width(heatmap_.scale.low, heatmap_.scale.high, 2);
      all.insert(all.begin(), {width, false, full, kWindow});
    }
    return all;
  }

  std::size_t gutter_for(const TerminalLayout& layout, bool with_index, std::size_t most) const {
    // A cut index would be wrong; a cut label is only less informative.
    const std::size_t least =
        with_index ? digits(heatmap_.first_query.of(heatmap_.n_queries() - 1) + 1) + 1 : 2;
    std::size_t width = 0;
    for (std::size_t line = 0; line < layout.lines.cells() && width < most; ++line) {
      width = std::max(width, 1 + display_width(labels_.entries(labels_.queries, layout.lines, line,
                                                                with_index, most)));
    }
    return std::clamp(width, least, std::max(least, most)) + layout.band;
  }

  std::size_t slot_for(std::size_t cells_width, std::size_t most) const {
    const std::size_t title = std::min(widest(labels_.titles), kMostTitle);
    return std::max(cells_width, std::min(title, most));
  }

  // Whole groups if that costs less than half of the room, else bands of about equal size.
  std::size_t panels_a_band(std::size_t fitting) const {
    const std::size_t together = heatmap_.panels_together;
    for (std::size_t panels = fitting; together > 1 && panels > fitting / 2; --panels) {
      if (keeps_together(panels, together)) {
        return panels;
      }
    }
    return divided_up(n_panels(), divided_up(n_panels(), fitting));
  }

  void set_side_by_side(TerminalLayout& layout) const {
    const std::size_t most = room(layout);
    layout.slot = slot_for(layout.cells_width(), most);
    const std::size_t fitting =
        std::clamp<std::size_t>((most + kPanelGap) / (layout.slot + kPanelGap), 1, n_panels());
    layout.panels_per_band = panels_a_band(fitting);
  }

  TerminalLayout with_cells_of(const Attempt& attempt) const {
    TerminalLayout layout;
    layout.columns = options_.columns;
    layout.cell_width = attempt.cell_width;
    layout.filled_cells = colored();
    layout.half_blocks = attempt.half_blocks;
    layout.band = heatmap_.roles.names.empty() ? 0 : kBand;
    return layout;
  }

  std::optional<TerminalLayout> unpooled(const Attempt& attempt) const {
    const std::size_t per_line = attempt.half_blocks ? 2 : 1;
    TerminalLayout layout = with_cells_of(attempt);
    layout.queries = {heatmap_.n_queries(), 1, heatmap_.first_query};
    layout.keys = {heatmap_.n_keys(), 1, heatmap_.first_key};
    layout.lines = {heatmap_.n_queries(), per_line, heatmap_.first_query};
    if (layout.lines.cells() > (n_panels() == 1 ? kMostLinesAlone : kMostLines) ||
        heatmap_.n_keys() > options_.columns) {
      return std::nullopt;
    }
    layout.gutter = gutter_for(layout, /*with_index=*/true, attempt.most_gutter);
    if (layout.cells_width() > room(layout)) {
      return std::nullopt;
    }
    set_side_by_side(layout);
    return layout;
  }

  TerminalLayout pooled(const Attempt& attempt) const {
    const std::size_t per_line = attempt.half_blocks ? 2 : 1;
    TerminalLayout layout = with_cells_of(attempt);
    layout.gutter =
        layout.band + std::max(attempt.most_gutter,
                               digits(heatmap_.first_query.of(heatmap_.n_queries() - 1) + 1) + 1);

    const std::size_t room_for_all = room(layout);
    const std::size_t side_by_side = std::clamp<std::size_t>(
        (room_for_all + kPanelGap) / (kPooledPanelWidth + kPanelGap), 1, n_panels());
    const std::size_t panel = (room_for_all - (side_by_side - 1) * kPanelGap) / side_by_side;
    layout.keys =
        PoolAxis::at_most(heatmap_.n_keys(), panel / layout.cell_width, heatmap_.first_key);

    // A character is about twice as high as wide.
    const bool tall_cells = layout.cell_width == 1 && !layout.half_blocks;
    const std::size_t square = layout.keys.block * (tall_cells ? 2 : 1);
    const std::size_t worth = std::max<std::size_t>(heatmap_.n_queries() / kFewRows, 1);
    const PoolAxis lowest = PoolAxis::at_most(heatmap_.n_queries(), kMostLines * per_line);
    layout.queries = {heatmap_.n_queries(), std::max(lowest.block, std::min(square, worth)),
                      heatmap_.first_query};
    layout.lines = {heatmap_.n_queries(), layout.queries.block * per_line, heatmap_.first_query};
    set_side_by_side(layout);
    return layout;
  }

  std::size_t total_lines(const TerminalLayout& layout) const {
    return divided_up(n_panels(), layout.panels_per_band) * (layout.lines.cells() + kLinesAround);
  }

  // Widens the cells for values and column labels as far as space allows.
  void enlarge(TerminalLayout& layout) const {
    const bool alone = n_panels() == 1;
    layout.indexed_header = true;
    if (!layout.half_blocks && layout.keys.cells() > 0) {
      const std::size_t most_slot =
          (room(layout) - (layout.panels_per_band - 1) * kPanelGap) / layout.panels_per_band;
      const std::size_t most = most_slot / layout.keys.cells();
      const std::size_t comfortable = numbers() ? 6 : signs() ? 2 : alone ? 7 : 5;
      const std::size_t labelled = widest(labels_.keys) + 1;
      const std::size_t most_labelled = alone ? 12 : 8;
      std::size_t width = std::min(most, comfortable);
      if (labelled <= std::min(most, most_labelled)) {
        width = std::max(width, labelled);
      }
      layout.cell_width = std::max(layout.cell_width, width);
      layout.slot = slot_for(layout.cells_width(), most_slot);
      layout.indexed_header = layout.keys.pooled() || labelled > layout.cell_width;
    }
    const std::size_t panels = layout.panels_per_band * (layout.slot + kPanelGap) - kPanelGap;
    layout.gutter = gutter_for(
        layout, layout.indexed_header,
        std::max(layout.gutter, std::min(layout.columns - panels, kMostGutter)) - layout.band);
    constexpr std::size_t kLargeLines = 24;
    const std::size_t height = colored() ? 3 : 2;
    if (alone && !numbers() && !signs() && layout.cell_width >= 6 &&
        layout.lines.cells() * height <= kLargeLines) {
      layout.cell_height = height;
    }
  }

  // Whether all panels form one group, to be compared, and fit side by side.
  bool can_compare(const std::vector<Attempt>& attempts) const {
    return n_panels() > 1 && n_panels() == heatmap_.panels_together &&
           std::any_of(attempts.begin(), attempts.end(), [this](const Attempt& attempt) {
             const std::optional<TerminalLayout> layout = unpooled(attempt);
             return layout && layout->panels_per_band == n_panels();
           });
  }

  const Heatmap& heatmap_;
  const TerminalLabels& labels_;
  const TerminalOptions& options_;
};

}  // namespace

TerminalLabels::TerminalLabels(const Heatmap& heatmap, const TerminalOptions& options)
    : same(heatmap.query_labels == heatmap.key_labels),
      numbered(heatmap.has_numbered_labels),
      charset(options.style) {
  const auto safe = [&](const std::string& raw) {
    return charset.fitted(charset.label(raw), options.columns);
  };
  std::transform(heatmap.query_labels.begin(), heatmap.query_labels.end(),
                 std::back_inserter(queries), safe);
  std::transform(heatmap.key_labels.begin(), heatmap.key_labels.end(), std::back_inserter(keys),
                 safe);
  for (const HeatmapPanel& panel : heatmap.panels) {
    titles.push_back(charset.sentence(panel.title));
  }
}

std::string TerminalLabels::entries(const std::vector<std::string>& labels, const PoolAxis& axis,
                                    std::size_t cell, bool with_index, std::size_t columns) const {
  std::string text;
  if ((with_index && !numbered) || axis.pooled()) {
    const std::size_t index_width = digits(axis.largest_number());
    text = axis.range(cell, charset.dash());
    if (display_width(text) > columns) {
      text = axis.name(cell);
    }
    text = pad_left(text, std::min(axis.pooled() ? 2 * index_width + 1 : index_width, columns));
  }
  const std::size_t index_columns = text.empty() ? 0 : display_width(text) + 1;
  for (std::size_t entry = axis.begin(cell);
       entry < axis.end(cell) && display_width(text) <= columns; ++entry) {
    text += (text.empty() ? "" : " ") + labels[entry];
  }
  // In a few columns two more letters are worth more than an ellipsis.
  constexpr std::size_t kLeastShortened = 4;
  const bool room = columns >= index_columns + kLeastShortened;
  return fit_width(text, columns, room ? charset.ellipsis() : "");
}

TerminalLayout plan_layout(const Heatmap& heatmap, const TerminalLabels& labels,
                           const TerminalOptions& options) {
  return Planner(heatmap, labels, options).plan();
}

}  // namespace attnviz
