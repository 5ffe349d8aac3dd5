#include "attnviz/terminal/views.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "attnviz/color/colormap.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/terminal/page/page.h"
#include "attnviz/terminal/page/terminal_palette.h"
#include "attnviz/terminal/page/text_table.h"

namespace attnviz {

namespace {

constexpr std::size_t kHeadGap = 2;  // between heads
constexpr std::size_t kLeastBar = 4;
constexpr std::size_t kMostBar = 24;
constexpr std::size_t kMostBarAlone = 50;

class Bars {
 public:
  Bars(const Heatmap& focus, const BarsSubject& subject, const TerminalOptions& options)
      : focus_(focus),
        subject_(subject),
        options_(options),
        panel_(focus.panels.front()),
        palette_(focus.scale.colormap, options.color),
        charset_(options.style),
        bars_(focus, subject) {}

  Page draw() {
    lay_out();
    heading();
    for (std::size_t first = 0; first < n_heads(); first += per_band_) {
      band(first, std::min(per_band_, n_heads() - first));
    }
    legend();
    return std::move(page_);
  }

 private:
  std::size_t n_heads() const { return focus_.n_queries(); }
  std::size_t n_tokens() const { return focus_.n_keys(); }

  void lay_out() {
    const std::size_t index_width = subject_.first_index.name(n_tokens() - 1).size();
    std::size_t widest = 0;
    for (const std::size_t token : bars_.shown) {
      const std::string index = subject_.first_index.name(token);
      labels_.push_back(pad_left(index, index_width) + " " +
                        charset_.label(focus_.key_labels[token]));
      widest = std::max(widest, display_width(labels_.back()));
    }
    if (!bars_.others.empty()) {
      others_label_ = counted(bars_.others.size(), "other");
      widest = std::max(widest, others_label_.size());
    }
    const std::size_t most_gutter = std::max<std::size_t>(options_.columns * 3 / 10, 7);
    gutter_ = std::min(widest, std::max(most_gutter, others_label_.size())) + 1;
    for (std::string& label : labels_) {
      label = charset_.fitted(label, gutter_ - 1);
    }
    const std::size_t room = options_.columns - gutter_;
    const auto fit = [this, room](int decimals) {
      decimals_ = decimals;
      number_ = decimals == 0 ? 4 : 5;
      for (std::size_t head = 0; head < n_heads(); ++head) {
        for (const std::size_t token : bars_.shown) {
          number_ = std::max(number_, written(head, token, decimals).size());
        }
        if (!bars_.others.empty()) {
          number_ = std::max(number_, others(head, decimals).size());
        }
      }
      const std::size_t least = number_ + 1 + kLeastBar;
      const std::size_t fitting =
          std::clamp<std::size_t>((room + kHeadGap) / (least + kHeadGap), 1, n_heads());
      const std::size_t bands = divided_up(n_heads(), fitting);
      per_band_ = divided_up(n_heads(), bands);
      const std::size_t block = (room + kHeadGap) / per_band_ - kHeadGap;
      const std::size_t most = n_heads() == 1 ? kMostBarAlone : kMostBar;
      bar_ = block > number_ + 1 ? std::min(block - number_ - 1, most) : 0;
    };
    constexpr std::size_t kBarForDecimals = 12;
    constexpr double kSmall = 0.1;  // below this, whole percents are too coarse
    fit(0);
    if (bar_ >= kBarForDecimals || bars_.high <= kSmall) {
      fit(1);
    }
  }

  void heading() {
    page_.add(paragraph(charset_.sentence(focus_.title), options_.columns, kBold));
    if (!focus_.title.empty()) {
      page_.blank();
    }
  }

  void number(Line& line, std::string_view text, const Style& style = {}) const {
    const std::size_t width = display_width(text);
    line.space(number_ - std::min(number_, width));
    line.put(width <= number_ ? std::string(text) : std::string(number_, '#'), style);
  }

  void bar(Line& line, float value) const {
    constexpr std::size_t kLeastBothSides = 3;
    const double number = std::isfinite(value) ? static_cast<double>(value) : 0.0;
    const double end = number < 0.0 ? bars_.low : bars_.high;
    const auto share = static_cast<float>(end != 0.0 ? std::clamp(number / end, 0.0, 1.0) : 0.0);
    const PaletteColor ink =
        number < 0.0 ? palette_.share_below_ink(share) : palette_.share_ink(share);
    if (bars_.low == 0.0 || bar_ < kLeastBothSides) {
      const double drawn = number < 0.0 ? 0.0 : static_cast<double>(share);
      return line.put_padded(charset_.bar(drawn, bar_), bar_, {.ink = ink});
    }
    const auto [below, above] = sides();
    // Sides have whole columns, but equal numbers need equal lengths on both.
    const double unit = std::min(below > 0.0 ? below / -bars_.low : HUGE_VAL,
                                 above > 0.0 ? above / bars_.high : HUGE_VAL);
    const auto n_below = static_cast<std::size_t>(below);
    const auto n_above = static_cast<std::size_t>(above);
    line.put(charset_.bar_to_left(-number * unit / below, n_below), {.ink = ink});
    line.put(charset_.zero_line(), kDim);
    line.put_padded(n_above > 0 ? charset_.bar(number * unit / above, n_above) : "", n_above,
                    {.ink = ink});
  }

  // The columns of a bar before the line of 0, and after it.
  std::pair<double, double> sides() const {
    const auto room = static_cast<double>(bar_ - 1);
    const double below = bars_.high > 0.0
                             ? std::clamp(std::round(bars_.part_below() * room), 1.0, room - 1.0)
                             : room;
    return {below, room - below};
  }

  std::string written(std::size_t head, std::size_t token, int decimals) const {
    return panel_.is_visible(head, token) ? bars_.number(panel_.values(head, token), decimals)
                                          : std::string();
  }

  std::string others(std::size_t head, int decimals) const {
    return bars_.number_of_others(panel_, head, decimals);
  }

  void band(std::size_t first, std::size_t count) {
    const std::size_t block = number_ + 1 + bar_;
    const auto across = [&](std::string_view label, const Style& style, auto&& draw_head) {
      Line line;
      line.put_padded(label, gutter_, style);
      for (std::size_t head = first; head < first + count; ++head) {
        line.space(head > first ? kHeadGap : 0);
        draw_head(line, head);
      }
      page_.add(std::move(line));
    };
    across("", {}, [&](Line& line, std::size_t head) {
      line.put_padded(charset_.fitted(charset_.sentence(focus_.query_labels[head]), block), block,
                      kBold);
    });
    for (std::size_t i = 0; i < bars_.shown.size(); ++i) {
      const std::size_t token = bars_.shown[i];
      const bool in_focus = subject_.first_index.of(token) == subject_.token;
      across(labels_[i], in_focus ? kBold : Style(), [&](Line& line, std::size_t head) {
        if (!panel_.is_visible(head, token)) {
          has_masked_ = true;
          number(line, charset_.masked(), kDim);
          line.space(1 + bar_);
          return;
        }
        const float value = panel_.values(head, token);
        number(line, bars_.number(value, decimals_));
        line.put(" ");
        bar(line, value);
      });
    }
    if (!bars_.others.empty()) {
      across(pad_right(others_label_, gutter_), kDim, [&](Line& line, std::size_t head) {
        number(line, others(head, decimals_), kDim);
        line.space(1 + bar_);
      });
    }
    page_.blank();
  }

  void legend() {
    std::vector<std::string> texts = bars_.legend();
    if (has_masked_) {
      texts.insert(texts.begin() + 1, charset_.masked() + std::string(" = masked"));
    }
    std::vector<Line> items;
    items.reserve(texts.size());
    for (const std::string& text : texts) {
      items.emplace_back(fit_width(text, options_.columns, ""));
    }
    page_.add(flow(items, 3, options_.columns));
    for (const std::string& note : focus_.notes) {
      page_.add(paragraph(charset_.sentence(note), options_.columns));
    }
  }

  const Heatmap& focus_;
  const BarsSubject& subject_;
  TerminalOptions options_;
  const HeatmapPanel& panel_;
  TerminalPalette palette_;
  Charset charset_;
  FocusBars bars_;
  bool has_masked_ = false;  // among the shown tokens
  std::size_t gutter_ = 0;
  std::size_t number_ = 4;
  std::size_t bar_ = kLeastBar;
  std::size_t per_band_ = 1;
  int decimals_ = 0;
  std::vector<std::string> labels_;  // of the shown tokens
  std::string others_label_;
  Page page_;
};

}  // namespace

Page bars_page(const Heatmap& focus, const BarsSubject& subject, const TerminalOptions& options) {
  return Bars(focus, subject, wide_enough(options)).draw();
}

}  // namespace attnviz
