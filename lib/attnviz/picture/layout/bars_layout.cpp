#include "attnviz/picture/layout/layouts.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/analysis/pooled_patterns.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"

namespace attnviz {

namespace {

// Lengths are pixels at 96 dpi.
constexpr int kBarAlone = 420;
constexpr int kBarUsual = 150;
constexpr int kBarNarrowest = 40;
constexpr int kListGap = 26;
constexpr int kWidestLists = 1100;
constexpr int kBarSpace = 8;               // between a label, its bar and its number
constexpr int kBarInset = 3;               // above and below a bar
constexpr std::size_t kLongestToken = 20;  // columns

class BarsLayout : PanelFigure {
 public:
  BarsLayout(const Heatmap& focus, const BarsSubject& subject, const FigureStyle& style)
      : PanelFigure(style),
        focus_(focus),
        subject_(subject),
        bars_(focus, subject),
        panel_(focus.panels.front()),
        row_(line_ + 2 * px(kBarInset)) {}

  Scene make() && {
    measure();
    int y = add_title(focus_.title);
    for (std::size_t first = 0; first < n_heads(); first += columns_) {
      y = add_band(first, std::min(columns_, n_heads() - first), y);
    }
    std::vector<std::string> notes = {joined_legend()};
    notes.insert(notes.end(), focus_.notes.begin(), focus_.notes.end());
    return finish(y - px(kSpace), std::move(notes));
  }

 private:
  std::size_t n_heads() const { return focus_.n_queries(); }
  bool has_others() const { return !bars_.others.empty(); }

  std::string joined_legend() const {
    std::string legend;
    for (const std::string& part : bars_.legend()) {
      legend += (legend.empty() ? "" : "; ") + part;
    }
    return legend;
  }

  std::string label_of(std::size_t token) const {
    const std::string piece = printable(focus_.key_labels[token]);
    return style_.fonts->shorten(piece.empty() ? "∅" : piece, kLongestToken);
  }

  void measure() {
    for (const std::size_t token : bars_.shown) {
      const std::string index = subject_.first_index.name(token);
      labels_.push_back(label_of(token));
      labels_width_ = std::max(labels_width_, text_width(labels_.back()));
      index_width_ = std::max(index_width_, text_width(index));
    }
    if (has_others()) {
      others_label_ = counted(bars_.others.size(), "other");
      labels_width_ = std::max(labels_width_, text_width(others_label_));
    }
    number_width_ = widest_number();
    const int around = gutter() + 2 * margin();
    const int widest = style_.width ? style_.width_pixels() : px(kWidestLists);
    const auto lists_of = [&](int bar) {
      const int list = bar + px(kBarSpace) + number_width_;
      return std::max(1, (widest - around + px(kListGap)) / (list + px(kListGap)));
    };
    columns_ = std::min(n_heads(), static_cast<std::size_t>(lists_of(px(kBarUsual))));
    // Equal bands, with bars as long as the remaining room allows.
    const std::size_t bands = divided_up(n_heads(), columns_);
    columns_ = divided_up(n_heads(), bands);
    bar_ = px(n_heads() == 1 ? kBarAlone : kBarUsual);
    const auto n = static_cast<int>(columns_);
    const int fixed = around + n * (px(kBarSpace) + number_width_) + (n - 1) * px(kListGap);
    if (style_.width) {
      check_fits(fixed + n * px(kBarNarrowest), style_);
      width_ = style_.width_pixels();
      bar_ = (width_ - fixed) / n;
    } else {
      width_ = fixed + n * bar_;
    }
    check_size(width_, row_, style_);
  }

  // Width of the numbers after the bars. Scores may have more digits than weights.
  int widest_number() const {
    int widest = text_width(focus_.masked_name);
    if (!style_.values) {
      return widest;
    }
    widest = std::max(widest, text_width(">99.9%"));
    for (std::size_t head = 0; head < n_heads(); ++head) {
      for (const std::size_t token : bars_.shown) {
        if (panel_.is_visible(head, token)) {
          widest = std::max(widest, text_width(number(head, token)));
        }
      }
    }
    return widest;
  }

  // Width of a band's labels.
  int gutter() const { return index_width_ + px(kBarSpace) + labels_width_ + px(kBarSpace); }

  int add_band(std::size_t first, std::size_t count, int y) {
    const int left = margin();
    const int list = bar_ + px(kBarSpace) + number_width_ + px(kListGap);
    for (std::size_t i = 0; i < count; ++i) {
      const auto room = static_cast<std::size_t>((list - px(kListGap)) / px(kTextColumn));
      texts_.add(TextRole::kPanelTitle,
                 style_.fonts->shorten(printable_message(focus_.query_labels[first + i]), room),
                 px(kTextColumn), left + gutter() + static_cast<int>(i) * list, y);
    }
    y += line_ + px(kBarInset);
    for (std::size_t row = 0; row < bars_.shown.size(); ++row) {
      const std::size_t token = bars_.shown[row];
      const std::string index = subject_.first_index.name(token);
      const std::string& label = labels_[row];
      if (subject_.first_index.of(token) == subject_.token) {
        const int height = row_ - 2 * px(1);
        items_.emplace_back(Rectangle{{left - px(6), y + px(1), px(3), height}, theme().frame});
      }
      texts_.add(TextRole::kIndex, index, px(kTextColumn), left + index_width_ - text_width(index),
                 y + px(kBarInset));
      texts_.add(TextRole::kQueryLabel, label, px(kTextColumn),
                 left + gutter() - px(kBarSpace) - text_width(label), y + px(kBarInset));
      for (std::size_t i = 0; i < count; ++i) {
        add_bar(first + i, token, left + gutter() + static_cast<int>(i) * list, y);
      }
      y += row_;
    }
    if (has_others()) {
      texts_.add(TextRole::kNote, others_label_, px(kTextColumn),
                 left + gutter() - px(kBarSpace) - text_width(others_label_), y + px(kBarInset));
      for (std::size_t i = 0; i < count; ++i) {
        texts_.add(TextRole::kNote, bars_.number_of_others(panel_, first + i, 1), px(kTextColumn),
                   left + gutter() + static_cast<int>(i) * list, y + px(kBarInset));
      }
      y += row_;
    }
    return y + px(kSpace) + line_ / 2;
  }

  void add_bar(std::size_t head, std::size_t token, int x, int y) {
    const PixelRect track = {x, y + px(kBarInset), bar_, row_ - 2 * px(kBarInset)};
    if (!panel_.is_visible(head, token)) {
      items_.emplace_back(Hatch{track, theme().masked, px(6), px(1)});
      texts_.add(TextRole::kNote, focus_.masked_name, px(kTextColumn), x + bar_ + px(kBarSpace),
                 track.y);
      return;
    }
    const float value = panel_.values(head, token);
    const double number_drawn =
        std::isfinite(value) ? std::clamp(static_cast<double>(value), bars_.low, bars_.high) : 0.0;
    items_.emplace_back(Rectangle{track, theme().masked});
    const double unit = bar_ / (bars_.high - bars_.low);
    const int zero = track.x + static_cast<int>(std::lround(bars_.part_below() * bar_));
    const auto length = static_cast<int>(std::lround(std::abs(number_drawn) * unit));
    const bool is_below = number_drawn < 0.0;
    if (length > 0) {
      const double end = is_below ? bars_.low : bars_.high;
      items_.emplace_back(
          Rectangle{{is_below ? zero - length : zero, track.y, length, track.height},
                    bar_color(static_cast<float>(number_drawn / end), is_below)});
    }
    if (bars_.low < 0.0) {
      items_.emplace_back(Rectangle{{zero, y, px(1), row_}, theme().text});
    }
    if (style_.values) {
      texts_.add(TextRole::kCellNumber, number(head, token), px(kTextColumn),
                 x + bar_ + px(kBarSpace), track.y);
    }
  }

  std::string number(std::size_t head, std::size_t token) const {
    return bars_.number(panel_.values(head, token), 1);
  }

  // Colours from the middle of the scale stand out from both backgrounds, those from its ends only
  // from one.
  Rgb bar_color(float share, bool is_below) const {
    const float at = 0.3f + 0.4f * share;
    const Colormap& colors = focus_.scale.colormap;
    return colors(colors.diverging() ? 0.5f + (is_below ? -at : at) / 2.0f : at);
  }

  const Heatmap& focus_;
  const BarsSubject& subject_;
  FocusBars bars_;
  const HeatmapPanel& panel_;
  int row_;
  int labels_width_ = 0;
  int index_width_ = 0;
  int number_width_ = 0;
  int bar_ = 0;
  std::vector<std::string> labels_;  // of the tokens that are shown
  std::string others_label_;
};

}  // namespace

Scene bars_scene(const Heatmap& focus, const BarsSubject& subject, const FigureStyle& style) {
  check(style);
  return BarsLayout(focus, subject, style).make();
}

}  // namespace attnviz
