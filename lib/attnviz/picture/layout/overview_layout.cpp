#include "attnviz/picture/layout/layouts.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/picture/fonts/glyphs.h"
#include "attnviz/picture/layout/figure_labels.h"

namespace attnviz {

namespace {

// Lengths are pixels at 96 dpi.
constexpr int kCaptionColumn = 8;
constexpr int kSectionGap = 40;          // between thumbnails and the large head
constexpr int kGutter = 7;               // between thumbnails; holds the frame
constexpr double kWantedGrid = 900.0;    // side of all thumbnails if they form a square
constexpr double kLongestGrid = 1200.0;  // their longer side
constexpr int kSmallestThumbnail = 24;
constexpr int kLargestThumbnail = 96;
constexpr int kSmallestFittedThumbnail = 8;  // in a figure of a given width
constexpr int kLargestFittedThumbnail = 160;
constexpr int kWideBody = 1000;        // from this width on, both parts stand beside each other
constexpr std::size_t kMostLines = 4;  // of the title and of the sentence
constexpr double kWantedOverviewAspect = 1.5;

// Returns the cells of one side of a thumbnail of about `wanted` pixels.
CellAxis thumbnail_axis(std::size_t n_tokens, const EntryNumbers& first, int wanted,
                        const FigureStyle& style) {
  constexpr std::size_t kFewestCells = 8;
  constexpr double kTooLarge = 1.5;  // too large is worse than too small
  constexpr double kCoarser = 0.15;
  CellAxis best;
  int best_pitch = 1;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t block = 1; block == 1 || n_tokens / block >= kFewestCells; ++block) {
    CellAxis axis;
    axis.tokens = {n_tokens, block, first};
    const auto n_cells = static_cast<double>(axis.n_cells());
    const int pitch = std::max(1, static_cast<int>(std::lround(wanted / n_cells)));
    const double off = std::log(pitch * n_cells / wanted);
    const double misfit =
        (off > 0.0 ? kTooLarge * off : -off) + kCoarser * std::log(static_cast<double>(block));
    if (misfit < least) {
      least = misfit;
      best = axis;
      best_pitch = pitch;
    }
  }
  best.pitch = style.pixels(best_pitch);
  best.gap = best_pitch >= 10 ? style.pixels(1) : 0;
  return best;
}

void shift(FigureLayout& layout, int dx, int dy) {
  const auto move = [dx, dy](auto& thing) {
    thing.x += dx;
    thing.y += dy;
  };
  std::for_each(layout.panels.begin(), layout.panels.end(), move);
  std::for_each(layout.ticks.begin(), layout.ticks.end(), move);
  std::for_each(layout.texts.begin(), layout.texts.end(), move);
  for (FigureLayout::Band& band : layout.bands) {
    move(band.rect);
  }
  for (PixelRect* rect :
       {&layout.color_bar, &layout.visible_swatch, &layout.masked_swatch, &layout.nan_swatch}) {
    move(*rect);
  }
}

struct SectionSize {
  int width = 0;
  int height = 0;
};

int left_of_thumbnails(const Overview& overview, const OverviewGrid& places,
                       const FigureStyle& style) {
  const int text = style.pixels(kTextColumn);
  const FigureTexts texts(style);
  int numbers = texts.width(std::to_string(places.layers.back()), text);
  for (const BlankLayers& blank : overview.blanks) {
    numbers = std::max(numbers, texts.width(blank.numbers(), text));
  }
  return line_height(text) + style.pixels(kSpace) / 2 + numbers + style.pixels(kSpace);
}

// Returns cells of `n_tokens` that fill as much of `room` pixels of the figure as whole pixels can.
CellAxis filling_axis(std::size_t n_tokens, const EntryNumbers& first, int room,
                      const FigureStyle& style) {
  CellAxis axis;
  axis.tokens = PoolAxis::at_most(n_tokens, static_cast<std::size_t>(room), first);
  // Coarser cells may leave less empty.
  const int left_over = room % static_cast<int>(axis.n_cells());
  const PoolAxis coarser = {n_tokens, axis.tokens.block + 1, first};
  if (left_over > room / 5 && room % static_cast<int>(coarser.cells()) < left_over / 2) {
    axis.tokens = coarser;
  }
  axis.pitch = room / static_cast<int>(axis.n_cells());
  axis.gap = axis.pitch >= style.pixels(10) ? style.pixels(1) : 0;
  return axis;
}

class OverviewBuilder {
 public:
  OverviewBuilder(const Overview& overview, const FigureStyle& style)
      : overview_(overview),
        style_(style),
        texts_(style),
        places_(overview.heads),
        left_(left_of_thumbnails(overview, places_, style)),
        plan_(plan_overview(overview, style)),
        grid_(plan_.thumbnails) {
    layout_.thumbnails.grid = grid_;
    layout_.thumbnails.margin = px(kFigureMargin);
    layout_.thumbnails.line = px(1);
    layout_.large = lay_out_figure(overview.large, plan_.large);
  }

  OverviewLayout build() {
    measure();
    const int margin = px(kFigureMargin);
    const bool beside = plan_.beside.value_or(stands_beside());
    const int gap = px(kSectionGap);
    const int body = beside ? grid_size_.width + gap + large_size_.width
                            : std::max(grid_size_.width, large_size_.width);
    layout_.width = style_.width ? style_.width_pixels() : body + 2 * margin;
    y_ = texts_.add_title(overview_.thumbnails.title, kMostLines, {margin, margin, body});
    const int top = y_;
    const auto centred = [&](int width) { return margin + (body - width) / 2; };
    place_grid(beside ? margin : centred(grid_size_.width));
    const int grid_bottom = y_;
    if (beside) {
      place_notes(margin, grid_size_.width);
      const int notes_bottom = y_;
      y_ = top;
      place_large(margin + grid_size_.width + gap);
      y_ = std::max(y_, notes_bottom);
    } else {
      y_ = grid_bottom + gap;
      place_large(centred(large_size_.width));
      place_notes(margin, body);
    }
    layout_.height = y_ + margin;
    layout_.thumbnails.texts = texts_.take();
    check_size(layout_.width, layout_.height, style_);
    return std::move(layout_);
  }

 private:
  int px(double at_96_dpi) const noexcept { return style_.pixels(at_96_dpi); }
  int text_line() const { return line_height(px(kTextColumn)); }
  int caption_height() const { return line_height(px(kCaptionColumn)) + px(kSpace) / 2; }
  // From one thumbnail to the next.
  int step_x() const { return grid_.keys.length() + px(kGutter); }
  int step_y() const { return grid_.queries.length() + px(kGutter); }
  // The space left of the thumbnails, and between the caption and them.
  int left() const { return left_; }
  int above() const { return 2 * text_line() + px(kSpace); }
  // From one blank to the next.
  int blank_step() const { return text_line() + px(kGutter); }
  // Top of a row of thumbnails, relative to that of the first row without blanks.
  int row_y(std::size_t row) const {
    return static_cast<int>(row) * step_y() + static_cast<int>(n_blanks_before(row)) * blank_step();
  }
  std::size_t n_blanks_before(std::size_t row) const {
    const auto after = std::ranges::upper_bound(overview_.blanks, row, {}, &BlankLayers::row);
    return static_cast<std::size_t>(after - overview_.blanks.begin());
  }
  int grid_height() const { return row_y(places_.layers.size()) - px(kGutter); }
  int blank_width(const BlankLayers& blank) const {
    const int wanted = texts_.width(blank.name, px(kTextColumn)) + px(kSpace);
    return style_.width ? std::min(wanted, style_.width_pixels() - 2 * px(kFigureMargin) - left())
                        : wanted;
  }

  void measure() {
    const auto columns = static_cast<int>(places_.heads.size());
    const int caption = texts_.width(grid_caption(), px(kCaptionColumn));
    grid_size_.width = std::max(left() + columns * step_x() - px(kGutter), caption);
    for (const BlankLayers& blank : overview_.blanks) {
      grid_size_.width = std::max(grid_size_.width, left() + blank_width(blank));
    }
    grid_size_.height = caption_height() + above() + grid_height();
    large_size_.width = layout_.large.width - 2 * layout_.large.margin;
    sentence_ = style_.fonts->wrap(printable_message(overview_.sentence),
                                   static_cast<std::size_t>(large_size_.width / px(kTextColumn)),
                                   style_.width ? 3 * kMostLines : kMostLines);
    large_size_.height = caption_height() + static_cast<int>(sentence_.size()) * text_line() +
                         px(kSpace) + layout_.large.height - 2 * layout_.large.margin;
  }

  bool stands_beside() const {
    const auto misfit = [](int width, int height) {
      return std::abs(std::log(static_cast<double>(width) / height / kWantedOverviewAspect));
    };
    const int gap = px(kSectionGap);
    return misfit(grid_size_.width + gap + large_size_.width,
                  std::max(grid_size_.height, large_size_.height)) <=
           misfit(std::max(grid_size_.width, large_size_.width),
                  grid_size_.height + gap + large_size_.height);
  }

  std::string grid_caption() const {
    const bool are_all = overview_.blanks.empty();
    return fmt::format("{} × {}",
                       counted(places_.layers.size(), are_all ? "layer" : "attention layer"),
                       counted(places_.heads.size(), "head"));
  }

  void place_grid(int x) {
    texts_.add(TextRole::kPanelTitle, grid_caption(), px(kCaptionColumn), x, y_);
    const int first_x = x + left();
    const int first_y = y_ + caption_height() + above();
    const int text = px(kTextColumn);
    const int width = static_cast<int>(places_.heads.size()) * step_x() - px(kGutter);
    const int height = grid_height();
    texts_.add_centred(TextRole::kAxisName, "head", text, first_x, width, y_ + caption_height());
    texts_.add(TextRole::kAxisName, "layer", text, x,
               first_y + (height + texts_.width("layer", text)) / 2, TextAngle::kUp);
    const int widest = texts_.width(std::to_string(places_.heads.back()) + " ", text);
    const auto every = static_cast<std::size_t>((widest + step_x() - 1) / step_x());
    for (std::size_t column = 0; column < places_.heads.size(); column += every) {
      const std::string number = std::to_string(places_.heads[column]);
      const int middle = first_x + static_cast<int>(column) * step_x() + grid_.keys.length() / 2;
      texts_.add(TextRole::kKeyLabel, number, text, middle - texts_.width(number, text) / 2,
                 first_y - text_line() - px(kSpace) / 2);
    }
    for (std::size_t row = 0; row < places_.layers.size(); ++row) {
      const std::string number = std::to_string(places_.layers[row]);
      const int middle = first_y + row_y(row) + grid_.queries.length() / 2;
      texts_.add(TextRole::kQueryLabel, number, text,
                 first_x - px(kSpace) - texts_.width(number, text), middle - text_line() / 2);
    }
    place_blanks(first_x, first_y, width);
    layout_.thumbnails.panels.reserve(overview_.heads.size());
    for (const HeadId head : overview_.heads) {
      const PixelRect panel = {first_x + static_cast<int>(places_.column(head)) * step_x(),
                               first_y + row_y(places_.row(head)), grid_.keys.length(),
                               grid_.queries.length()};
      layout_.thumbnails.panels.push_back(panel);
      if (head == overview_.chosen) {
        layout_.chosen = panel;
      }
    }
    y_ = first_y + height;
  }

  // Places the blanks; those before a row stand right above it.
  void place_blanks(int first_x, int first_y, int width) {
    const int text = px(kTextColumn);
    for (std::size_t i = 0; i < overview_.blanks.size(); ++i) {
      const BlankLayers& blank = overview_.blanks[i];
      const std::size_t after = n_blanks_before(blank.row) - i;
      const int y = first_y + row_y(blank.row) - static_cast<int>(after) * blank_step();
      const PixelRect rect = {first_x, y, std::max(width, blank_width(blank)), text_line()};
      layout_.blanks.push_back(rect);
      const std::string numbers = blank.numbers();
      texts_.add(TextRole::kQueryLabel, numbers, text,
                 first_x - px(kSpace) - texts_.width(numbers, text), y);
      const auto fitting = static_cast<std::size_t>(std::max((rect.width - px(kSpace)) / text, 1));
      texts_.add_centred(TextRole::kLegend, style_.fonts->shorten(blank.name, fitting), text,
                         rect.x, rect.width, y);
    }
  }

  void place_large(int x) {
    const int caption = px(kCaptionColumn);
    const int size = px(kSpace);
    layout_.swatch = {x + px(kFrameWidth), y_ + (line_height(caption) - size) / 2, size, size};
    const int text_x = layout_.swatch.right() + px(kFrameWidth) + px(kSpace);
    const int room = std::max(large_size_.width - (text_x - x), caption);
    texts_.add(TextRole::kPanelTitle,
               style_.fonts->shorten(overview_.caption, static_cast<std::size_t>(room / caption)),
               caption, text_x, y_);
    y_ += caption_height();
    for (std::string& line : sentence_) {
      texts_.add(TextRole::kLegend, std::move(line), px(kTextColumn), x, y_);
      y_ += text_line();
    }
    y_ += px(kSpace);
    shift(layout_.large, x - layout_.large.margin, y_ - layout_.large.margin);
    y_ += layout_.large.height - 2 * layout_.large.margin;
  }

  void place_notes(int x, int room) {
    std::string pooled;
    if (grid_.pooled()) {
      pooled =
          "thumbnails: each cell shows " +
          thumbnail_pooling(overview_.thumbnails, grid_.queries.tokens, grid_.keys.tokens, "x");
    }
    y_ = texts_.add_notes(overview_.thumbnails.notes, std::move(pooled), {x, y_, room});
  }

  const Overview& overview_;
  const FigureStyle& style_;
  FigureTexts texts_;
  OverviewGrid places_;
  int left_;
  OverviewPlan plan_;
  FigureGrid grid_;
  SectionSize grid_size_;
  SectionSize large_size_;
  std::vector<std::string> sentence_;  // in lines
  OverviewLayout layout_;
  int y_ = 0;  // below everything placed so far
};

}  // namespace

FigureGrid thumbnail_figure_grid(std::size_t rows, std::size_t columns, const Heatmap& thumbnails,
                                 const FigureStyle& style) {
  const double side =
      std::min(kWantedGrid / std::sqrt(static_cast<double>(rows) * static_cast<double>(columns)),
               kLongestGrid / static_cast<double>(std::max(rows, columns)));
  const int wanted = std::clamp(static_cast<int>(side), kSmallestThumbnail, kLargestThumbnail);
  FigureGrid grid;
  grid.rows = rows;
  grid.columns = columns;
  grid.queries = thumbnail_axis(thumbnails.n_queries(), thumbnails.first_query, wanted, style);
  grid.keys = thumbnail_axis(thumbnails.n_keys(), thumbnails.first_key, wanted, style);
  return grid;
}

OverviewPlan plan_overview(const Overview& overview, const FigureStyle& style) {
  const OverviewGrid places(overview.heads);
  const std::size_t rows = places.layers.size();
  const std::size_t columns = places.heads.size();
  if (!style.width) {
    return {thumbnail_figure_grid(rows, columns, overview.thumbnails, style), style, {}};
  }
  const int left = left_of_thumbnails(overview, places, style);
  const int gutter = style.pixels(kGutter);
  const int margins = 2 * style.pixels(kFigureMargin);
  const auto n = static_cast<int>(columns);
  const auto grid_width = [&](int side) { return left + n * (side + gutter) - gutter; };
  const int large = least_width(overview.large, style);
  const int smallest = style.pixels(kSmallestFittedThumbnail);
  check_fits(std::max(large, grid_width(smallest) + margins), style);
  const int body = style.width_pixels() - margins;
  const int gap = style.pixels(kSectionGap);
  const int share = body * 2 / 5;  // width of the thumbnails beside the large head
  const bool beside = body >= style.pixels(kWideBody) &&
                      grid_width(style.pixels(kSmallestThumbnail)) <= share &&
                      large - margins <= body - share - gap;
  const int room = beside ? share : body;
  const int side = std::clamp((room - left + gutter) / n - gutter, smallest,
                              style.pixels(kLargestFittedThumbnail));
  OverviewPlan plan{{}, style, beside};
  plan.thumbnails.rows = rows;
  plan.thumbnails.columns = columns;
  plan.thumbnails.keys =
      filling_axis(overview.thumbnails.n_keys(), overview.thumbnails.first_key, side, style);
  plan.thumbnails.queries =
      filling_axis(overview.thumbnails.n_queries(), overview.thumbnails.first_query, side, style);
  if (beside) {
    const int taken = grid_width(plan.thumbnails.keys.length());
    plan.large.width = Length{static_cast<double>(body - taken - gap + margins)};
  }
  return plan;
}

OverviewLayout lay_out_overview(const Overview& overview, const FigureStyle& style) {
  return OverviewBuilder(overview, style).build();
}

}  // namespace attnviz
