#include "attnviz/terminal/views.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "attnviz/core/utf8.h"
#include "attnviz/terminal/cell_painter.h"
#include "attnviz/terminal/page/page.h"
#include "attnviz/terminal/page/text_table.h"

namespace attnviz {

namespace {

constexpr std::size_t kNarrowestThumbnail = 5;  // columns of a thumbnail
constexpr std::size_t kWidestThumbnail = 16;
constexpr std::size_t kMostGridLines = 60;  // of the whole grid

// The background of the names of layers without attention, a grey between black and white.
Style blank_fill(ColorDepth depth) {
  constexpr int kOf16 = 100;
  constexpr int kOf256 = 242;
  constexpr Rgb kGrey{0x6C, 0x6C, 0x6C};
  return depth == ColorDepth::kNone
             ? kDim
             : Style{.fill = PaletteColor{depth == ColorDepth::k16 ? kOf16 : kOf256, kGrey}};
}

// Sizes in columns and lines of text.
struct ThumbnailLayout {
  std::size_t gutter = 0;      // names of layers
  std::size_t together = 1;    // heads side by side
  std::size_t slot = 0;        // one thumbnail, or its name if that is wider
  std::size_t cell_width = 1;  // with half blocks also the height, in halves of a line
  std::size_t cell_height = 1;
  bool half_blocks = false;
  std::size_t height = 0;  // of a thumbnail
  std::size_t pitch = 0;   // from one row of thumbnails to the next
  PoolAxis queries;
  PoolAxis keys;

  std::size_t width() const noexcept { return keys.cells() * cell_width; }
};

class ThumbnailPlanner {
 public:
  ThumbnailPlanner(const Overview& overview, const OverviewGrid& places,
                   const TerminalOptions& options)
      : thumbnails_(overview.thumbnails),
        blanks_(overview.blanks),
        places_(places),
        options_(options) {}

  ThumbnailLayout plan() const {
    ThumbnailLayout best = laid_out(kNarrowestThumbnail);
    for (std::size_t width = kNarrowestThumbnail + 1; width <= kWidestThumbnail; ++width) {
      const ThumbnailLayout larger = laid_out(width);
      if (n_groups(larger) <= n_groups(best) &&
          lines(larger) <= std::max(kMostGridLines, lines(best)) &&
          larger.width() >= best.width()) {
        best = larger;
      }
    }
    return best;
  }

 private:
  std::size_t n_groups(const ThumbnailLayout& layout) const {
    return divided_up(places_.heads.size(), layout.together);
  }
  std::size_t lines(const ThumbnailLayout& layout) const {
    return n_groups(layout) * places_.layers.size() * layout.pitch;
  }

  // Lays out thumbnails of at most `width` columns with cells that look square.
  ThumbnailLayout laid_out(std::size_t width) const {
    constexpr std::size_t kLargestCell = 4;  // few tokens need not fill a screen
    ThumbnailLayout layout;
    layout.half_blocks =
        options_.style == TerminalStyle::kBlocks && options_.color != ColorDepth::kNone;
    layout.queries = PoolAxis::at_most(thumbnails_.n_queries(), width, thumbnails_.first_query);
    layout.keys = PoolAxis::at_most(thumbnails_.n_keys(), width, thumbnails_.first_key);
    const std::size_t most_cells = std::max(layout.queries.cells(), layout.keys.cells());
    std::size_t cell = std::min(width / most_cells, kLargestCell);
    if (layout.half_blocks) {
      cell = std::min<std::size_t>(cell, 3);
      layout.height = divided_up(layout.queries.cells() * cell, 2);
      layout.pitch = layout.queries.cells() * cell / 2 + 1;  // half a line is enough for a gap
    } else {
      // A character is about twice as high as wide.
      cell -= cell > 1 ? cell % 2 : std::size_t{0};
      layout.queries.block *= cell == 1 && thumbnails_.n_queries() > 1 ? 2u : 1u;
      layout.cell_height = std::max<std::size_t>(cell / 2, 1);
      layout.height = layout.queries.cells() * layout.cell_height;
      layout.pitch = layout.height + 1;
    }
    layout.cell_width = cell;
    const auto name_width = [](const std::vector<std::size_t>& numbers) {
      return std::to_string(numbers.back()).size() + 1;
    };
    layout.gutter = name_width(places_.layers);
    for (const BlankLayers& blank : blanks_) {
      layout.gutter = std::max(layout.gutter, blank.numbers().size() + 1);
    }
    layout.slot = std::max(layout.width(), name_width(places_.heads));
    const std::size_t room = options_.columns - std::min(options_.columns - 1, layout.gutter + 1);
    const std::size_t most = std::max<std::size_t>(room / (layout.slot + 1), 1);
    layout.together = divided_up(places_.heads.size(), divided_up(places_.heads.size(), most));
    return layout;
  }

  const Heatmap& thumbnails_;
  const std::vector<BlankLayers>& blanks_;
  const OverviewGrid& places_;
  const TerminalOptions& options_;
};

// The layout, with options adjusted to what is possible.
struct OverviewSheet {
  TerminalOptions options;
  TerminalOptions thumbnail_options;
  OverviewGrid places;
  ThumbnailLayout layout;

  OverviewSheet(const Overview& overview, const TerminalOptions& asked)
      : options(wide_enough(asked)), thumbnail_options(options), places(overview.heads) {
    if (options.style == TerminalStyle::kNumbers) {
      thumbnail_options.style = TerminalStyle::kBlocks;
    }
    layout = ThumbnailPlanner(overview, places, thumbnail_options).plan();
  }
};

class OverviewScreen {
 public:
  OverviewScreen(const Overview& overview, const OverviewSheet& sheet)
      : overview_(overview),
        sheet_(sheet),
        layout_(sheet.layout),
        charset_(sheet.options.style),
        painter_(sheet.thumbnail_options, overview.thumbnails.scale, layout_.cell_width) {}

  Page draw() {
    const Heatmap& thumbnails = overview_.thumbnails;
    add_text(thumbnails.title, kBold);
    if (!thumbnails.title.empty()) {
      page_.blank();
    }
    const std::size_t n_heads = sheet_.places.heads.size();
    for (std::size_t first = 0; first < n_heads; first += layout_.together) {
      group(first, std::min(layout_.together, n_heads - first));
    }
    add_text(overview_.caption, kBold);
    add_text(overview_.sentence);
    page_.add(heatmap_page(overview_.large, sheet_.options));
    if (layout_.queries.pooled() || layout_.keys.pooled()) {
      add_text("thumbnails: each cell shows " +
               thumbnail_pooling(thumbnails, layout_.queries, layout_.keys, charset_.times()));
    }
    for (const std::string& note : thumbnails.notes) {
      add_text(note);
    }
    return std::move(page_);
  }

 private:
  void add_text(std::string_view text, const Style& style = {}) {
    page_.add(paragraph(charset_.sentence(text), sheet_.options.columns, style));
  }

  // Draws all layers of some heads.
  void group(std::size_t first, std::size_t count) {
    const OverviewGrid& places = sheet_.places;
    Line names;
    names.space(layout_.gutter);
    for (std::size_t i = first; i < first + count; ++i) {
      names.space(1);
      names.put_padded(fmt::format("H{}", places.heads[i]), layout_.slot);
    }
    page_.add(std::move(names));
    for (const std::size_t layer : places.layers) {
      blanks(places.row({layer, 0}), count);
      std::vector<PooledMatrix> thumbnails(count);  // empty where a layer lacks the head
      std::vector<bool> chosen(count);
      for (std::size_t i = 0; i < count; ++i) {
        const HeadId head{layer, places.heads[first + i]};
        const std::vector<HeadId>& heads = overview_.heads;
        const auto found = std::lower_bound(heads.begin(), heads.end(), head);
        if (found != heads.end() && *found == head) {
          const auto panel = static_cast<std::size_t>(found - heads.begin());
          thumbnails[i] = pool(overview_.thumbnails, overview_.thumbnails.panels[panel],
                               layout_.queries, layout_.keys);
        }
        chosen[i] = head == overview_.chosen;
      }
      for (std::size_t text_line = 0; text_line < layout_.pitch; ++text_line) {
        Line line;
        line.put_padded(text_line == 0 ? fmt::format("L{}", layer) : "", layout_.gutter);
        const auto mark = [&](bool is_marked, bool closes) {
          if (is_marked) {
            line.put(bracket(text_line, closes), kBold);
          } else {
            line.space(1);
          }
        };
        mark(chosen.front(), /*closes=*/false);
        for (std::size_t i = 0; i < count; ++i) {
          thumbnail(line, thumbnails[i], text_line);
          const bool next_is_chosen = i + 1 < count && chosen[i + 1];
          if (layout_.slot > layout_.width()) {
            mark(chosen[i], /*closes=*/true);
            line.space(layout_.slot - layout_.width() - 1);
            mark(next_is_chosen, /*closes=*/false);
          } else {
            mark(chosen[i] || next_is_chosen, /*closes=*/chosen[i]);
          }
        }
        page_.add(std::move(line));
      }
    }
    blanks(places.layers.size(), count);
    if (layout_.pitch == layout_.height) {
      page_.blank();
    }
  }

  // Draws layers without attention before a row, as wide as the row.
  void blanks(std::size_t row, std::size_t count) {
    const std::vector<BlankLayers>& all = overview_.blanks;
    for (auto blank = std::ranges::lower_bound(all, row, {}, &BlankLayers::row);
         blank != all.end() && blank->row == row; ++blank) {
      Line line;
      line.put_padded("L" + blank->numbers(), layout_.gutter);
      line.space(1);
      const std::size_t width = count * (layout_.slot + 1) - 1;
      line.put(pad_right(" " + blank->name + " ", width), blank_fill(sheet_.options.color));
      page_.add(std::move(line));
      if (layout_.pitch > layout_.height) {
        page_.blank();
      }
    }
  }

  std::string_view bracket(std::size_t text_line, bool closes) const {
    if (text_line >= layout_.height) {
      return " ";
    }
    if (charset_.is_ascii() || layout_.height == 1) {
      return closes ? "]" : "[";
    }
    if (text_line == 0) {
      return closes ? "┐" : "┌";
    }
    if (text_line + 1 == layout_.height) {
      return closes ? "┘" : "└";
    }
    return "│";
  }

  // Draws one line of a thumbnail, as wide as all are.
  void thumbnail(Line& line, const PooledMatrix& cells, std::size_t text_line) {
    if (cells.rows == 0 || text_line >= layout_.height) {
      line.space(layout_.width());
      return;
    }
    const std::size_t cell = layout_.cell_width;
    for (std::size_t col = 0; col < cells.cols; ++col) {
      if (!layout_.half_blocks) {
        painter_.cell(line, cell_of(cells, text_line / layout_.cell_height, col),
                      /*show_value=*/text_line % layout_.cell_height == 0);
        continue;
      }
      const CellValue upper = cell_of(cells, 2 * text_line / cell, col);
      const CellValue lower = cell_of(cells, (2 * text_line + 1) / cell, col);
      for (std::size_t i = 0; i < cell; ++i) {
        painter_.two_cells(line, upper, lower);
      }
    }
  }

  const Overview& overview_;
  const OverviewSheet& sheet_;
  const ThumbnailLayout& layout_;
  Charset charset_;
  CellPainter painter_;
  Page page_;
};

}  // namespace

Page overview_page(const Overview& overview, const TerminalOptions& options) {
  const OverviewSheet sheet(overview, options);
  return OverviewScreen(overview, sheet).draw();
}

OverviewCells terminal_cells(const Overview& overview, const TerminalOptions& options) {
  const OverviewSheet sheet(overview, options);
  return {{sheet.layout.queries, sheet.layout.keys}, terminal_grid(overview.large, sheet.options)};
}

}  // namespace attnviz
