#include "attnviz/terminal/views.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "attnviz/core/utf8.h"
#include "attnviz/terminal/cell_painter.h"
#include "attnviz/terminal/heatmap_view_layout.h"
#include "attnviz/terminal/page/page.h"
#include "attnviz/terminal/page/text_table.h"

namespace attnviz {

namespace {

// The name of an axis without the part in brackets.
std::string axis_name(const std::string& axis) {
  return axis.substr(0, axis.find(" ("));
}

constexpr std::size_t kLegendGap = 3;
constexpr std::size_t kMostRole = 16;

std::string without_blank_end(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

// The mark of each role: a bar in its colour, else a letter of its name that marks no other role,
// else its number.
std::vector<std::string> marks_of(const std::vector<std::string>& roles, bool are_colored) {
  if (are_colored) {
    return std::vector<std::string>(roles.size(), "▌");
  }
  std::vector<std::string> marks;
  std::string free = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  for (const std::string& role : roles) {
    const std::size_t first = free.empty() ? std::string::npos : role.find_first_of(free);
    if (first == std::string::npos) {
      marks.push_back(std::to_string(marks.size() + 1));
    } else {
      marks.emplace_back(1, role[first]);
      std::erase(free, role[first]);
    }
  }
  return marks;
}

class Screen {
 public:
  Screen(const Heatmap& heatmap, const TerminalOptions& options)
      : heatmap_(heatmap),
        options_(options),
        labels_(heatmap, options),
        layout_(plan_layout(heatmap, labels_, options)),
        painter_(options, heatmap.scale, layout_.cell_width),
        role_marks_(marks_of(heatmap.roles.names,
                             !labels_.charset.is_ascii() && options.color != ColorDepth::kNone)) {}

  Page draw() {
    heading();
    const std::size_t n_panels = heatmap_.panels.size();
    for (std::size_t first = 0; first < n_panels; first += layout_.panels_per_band) {
      band(first, std::min(layout_.panels_per_band, n_panels - first));
    }
    key_list();
    legend();
    return std::move(page_);
  }

 private:
  void heading() {
    page_.add(paragraph(labels_.charset.sentence(heatmap_.title), layout_.columns, kBold));
    if (!heatmap_.title.empty()) {
      page_.blank();
    }
  }

  Style role_ink(std::size_t role) const {
    return role == 0 ? Style() : group_ink((role - 1) % kMostGroups, options_.color);
  }

  // A label above or beside a cell, aligned with the cell's own text.
  std::string aligned(std::string_view text) const {
    const std::size_t width = layout_.cell_width;
    const std::string fitted = labels_.charset.fitted(text, width);
    if (options_.style == TerminalStyle::kNumbers) {
      return pad_left(fitted, width);
    }
    const bool centred = layout_.filled_cells && width > 2;
    const std::size_t before = centred ? (width - display_width(fitted) + 1) / 2 : 0;
    return pad_right(std::string(before, ' ') + fitted, width);
  }

  // Column labels, or indices, spaced so that they do not touch.
  std::string header() const {
    std::string text;
    const std::size_t n_cells = layout_.keys.cells();
    if (!layout_.indexed_header) {
      for (std::size_t cell = 0; cell < n_cells; ++cell) {
        text += aligned(labels_.keys[cell]);
      }
      return without_blank_end(std::move(text));
    }
    const std::size_t widest = std::to_string(layout_.keys.largest_number()).size() + 1;
    constexpr std::array<std::size_t, 7> kSteps = {1, 2, 5, 10, 20, 50, 100};
    const std::size_t step = *std::find_if(kSteps.begin(), kSteps.end() - 1, [&](std::size_t each) {
      return each * layout_.cell_width >= widest;
    });
    for (std::size_t cell = 0; cell < n_cells; cell += step) {
      const std::string index = layout_.keys.name(cell);
      const std::size_t start = cell * layout_.cell_width;
      if (step == 1) {
        text += aligned(index);
      } else if (start + index.size() <= layout_.slot) {
        text = pad_right(text, start).append(index);
      }
    }
    return without_blank_end(std::move(text));
  }

  void cells(Line& line, const PooledMatrix& panel, std::size_t text_line, bool show_value) {
    for (std::size_t col = 0; col < panel.cols; ++col) {
      if (layout_.half_blocks) {
        painter_.two_cells(line, cell_of(panel, 2 * text_line, col),
                           cell_of(panel, 2 * text_line + 1, col));
      } else {
        painter_.cell(line, cell_of(panel, text_line, col), show_value);
      }
    }
  }

  void band(std::size_t first_panel, std::size_t n_panels) {
    std::vector<PooledMatrix> panels;
    panels.reserve(n_panels);
    for (std::size_t i = first_panel; i < first_panel + n_panels; ++i) {
      panels.push_back(pool(heatmap_, heatmap_.panels[i], layout_.queries, layout_.keys));
    }
    const auto has_masked = [](const PooledMatrix& panel) {
      return std::find(panel.visible.begin(), panel.visible.end(), 0) != panel.visible.end();
    };
    has_masked_ = has_masked_ || std::any_of(panels.begin(), panels.end(), has_masked);

    const std::size_t rest = layout_.slot - layout_.cells_width();
    const auto across = [&](std::string_view label, std::size_t role, auto&& draw_panel) {
      Line line;
      line.put_padded(label, layout_.gutter - layout_.band);
      if (layout_.band > 0) {
        line.put_padded(role == 0 ? "" : role_marks_[role - 1], layout_.band, role_ink(role));
      }
      for (std::size_t i = 0; i < n_panels; ++i) {
        line.space(i > 0 ? kPanelGap : 0);
        draw_panel(line, i);
      }
      page_.add(std::move(line));
    };
    across("", 0, [&](Line& line, std::size_t i) {
      line.put_padded(labels_.charset.fitted(labels_.titles[first_panel + i], layout_.slot),
                      layout_.slot, kBold);
    });
    across("", 0, [&](Line& line, std::size_t) { line.put_padded(header(), layout_.slot); });
    for (std::size_t row = 0; row < layout_.lines.cells(); ++row) {
      for (std::size_t part = 0; part < layout_.cell_height; ++part) {
        const bool middle = part == (layout_.cell_height - 1) / 2;
        const std::string label =
            middle ? labels_.entries(labels_.queries, layout_.lines, row, layout_.indexed_header,
                                     layout_.gutter - layout_.band - 1)
                   : "";
        const std::size_t role =
            layout_.band == 0 ? 0 : heatmap_.roles.queries[layout_.lines.begin(row)];
        across(label, role, [&](Line& line, std::size_t i) {
          cells(line, panels[i], row, middle);
          line.space(rest);
        });
      }
    }
    page_.blank();
  }

  // The labels of the column indices, unless row labels show them.
  void key_list() {
    if (!layout_.indexed_header || labels_.same || labels_.numbered) {
      return;
    }
    constexpr std::size_t kMostLabel = 24;
    std::vector<Line> items = {Line("keys:")};
    for (std::size_t cell = 0; cell < layout_.keys.cells(); ++cell) {
      std::string label = labels_.entries(labels_.keys, layout_.keys, cell, /*with_index=*/true,
                                          std::min(kMostLabel, layout_.columns));
      label.erase(0, label.find_first_not_of(' '));
      items.emplace_back(label);
    }
    page_.add(flow(items, 2, layout_.columns));
  }

  void legend() {
    page_.add(painter_.ticked_scale(layout_.columns));
    std::vector<Line> items = painter_.legend(has_masked_ ? heatmap_.masked_name : "",
                                              heatmap_.value_name, layout_.columns);
    for (std::size_t role = 1; role <= role_marks_.size(); ++role) {
      items.emplace_back(role_marks_[role - 1], role_ink(role));
      items.back().put(" " +
                       labels_.charset.fitted(
                           labels_.charset.sentence(heatmap_.roles.names[role - 1]), kMostRole));
    }
    for (const std::string& axis :
         {"row = " + axis_name(heatmap_.query_axis), "column = " + axis_name(heatmap_.key_axis)}) {
      items.emplace_back(labels_.charset.fitted(axis, layout_.columns));
    }
    page_.add(flow(items, kLegendGap, layout_.columns));
    if (layout_.queries.pooled() || layout_.keys.pooled()) {
      const std::string block = fmt::format("up to {} {} {}", layout_.queries.block,
                                            labels_.charset.times(), layout_.keys.block);
      const bool mask = options_.style == TerminalStyle::kMask;
      page_.add(paragraph(mask ? fmt::format("pooled: # where any of {} is visible", block)
                               : fmt::format("pooled: each cell is the {} of {} weights",
                                             pool_name(heatmap_.pool), block),
                          layout_.columns));
    }
    for (const std::string& note : heatmap_.notes) {
      page_.add(paragraph(labels_.charset.sentence(note), layout_.columns));
    }
  }

  const Heatmap& heatmap_;
  const TerminalOptions& options_;
  TerminalLabels labels_;
  TerminalLayout layout_;
  CellPainter painter_;
  std::vector<std::string> role_marks_;
  bool has_masked_ = false;
  Page page_;
};

// The heatmap and options actually drawn, which may differ from those requested.
struct Sheet {
  Heatmap heatmap;
  TerminalOptions options;
};

Sheet sheet_of(const Heatmap& heatmap, const TerminalOptions& options) {
  return {options.style == TerminalStyle::kMask ? one_panel_a_mask(heatmap) : heatmap,
          wide_enough(options)};
}

}  // namespace

Page heatmap_page(const Heatmap& heatmap, const TerminalOptions& options) {
  const Sheet sheet = sheet_of(heatmap, options);
  return Screen(sheet.heatmap, sheet.options).draw();
}

PoolGrid terminal_grid(const Heatmap& heatmap, const TerminalOptions& options) {
  const Sheet sheet = sheet_of(heatmap, options);
  const TerminalLabels labels(sheet.heatmap, sheet.options);
  const TerminalLayout layout = plan_layout(sheet.heatmap, labels, sheet.options);
  return {layout.queries, layout.keys};
}

}  // namespace attnviz
