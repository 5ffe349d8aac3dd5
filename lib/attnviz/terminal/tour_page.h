// One screen of the tour while it is written, and the parts that its lessons share. The screens of
// the tour: six short lessons about attention, with the numbers of one text.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attnviz/analysis/tour.h"
#include "attnviz/report/reports/report.h"
#include "attnviz/report/words/words.h"
#include "attnviz/terminal/inspection_text.h"
#include "attnviz/terminal/page/page.h"
#include "attnviz/terminal/page/terminal_options.h"
#include "attnviz/terminal/page/terminal_palette.h"
#include "attnviz/terminal/page/text_table.h"

namespace attnviz {

/// For a model whose heads have all the behaviours that the tour explains.
inline constexpr std::size_t kTourScreens = 6;

/// The number of screens that have something to show.
std::size_t tour_screens(const Tour& tour);

/// The topics that a tour of this model omits, and why, one sentence each without a full stop;
/// empty for a tour with all screens.
std::vector<std::string> tour_left_out(const Tour& tour);

/// The names of the options of the program that shows the tour, for commands to try next.
struct TourOptionNames {
  std::string_view head, query, truncate_right, temperature, help;
  std::string_view model = {};          // " -m gpt2"; empty for the default model
  std::string_view heads_command = {};  // that shows the behaviour of every head
};

/// Screen `screen` of tour_screens(), counted from 0, in lines of at most options.columns (at least
/// 20 are assumed) and at most 100. The first line is the title. At most 22 lines from 80 columns
/// on. A sentence repeats the message of every picture. Style kAscii is 7-bit.
Page tour_screen(const Tour& tour, std::size_t screen, const TerminalOptions& options,
                 const TourOptionNames& names);

inline std::string render_tour_screen(const Tour& tour, std::size_t screen,
                                      const TerminalOptions& options,
                                      const TourOptionNames& names) {
  return to_ansi(tour_screen(tour, screen, options, names), options.color);
}

/// The pieces without the space before a word.
std::vector<std::string_view> bare_pieces(const TokenizedText& text);

class TourPage {
 public:
  /// `fewer_rows`: the number of rows to cut from the preferred size of tables.
  TourPage(const Tour& shown, const TerminalOptions& options, const TourOptionNames& option_names,
           std::size_t fewer_rows);

  const Tour& tour;
  const TourOptionNames& option_names;
  const InspectionStyle style;
  const TokenNames names;  // of the text's tokens, without the space before words

  std::size_t columns() const noexcept { return style.options.columns; }
  /// The rows for a table that prefers `most` rows.
  std::size_t rows(std::size_t most) const noexcept;
  /// Writes a paragraph; in 7 bits if required, including all signs of formulas.
  void paragraph(std::string_view text, const Style& style = {});
  void blank() { page_.blank(); }
  void line(Line line) { page_.add(std::move(line)); }
  void table(const TextTable& table) { page_.add(draw_table(table, columns(), style.charset)); }
  void table(Table table);
  /// Writes vectors of one size, with one number format.
  void vectors(const std::vector<VectorRow>& rows);
  Page take() { return std::move(page_); }

  /// "8 it": a label.
  Span token_label(std::size_t token) const;
  /// A weight as a cell of a picture, filled with its colour.
  Span weight_cell(const std::string& text, float weight) const {
    return {text, {.fill = palette_.color(weight)}};
  }

 private:
  std::size_t fewer_rows_;
  TerminalPalette palette_;
  Page page_;
};

/// The `most` of `keys` (sorted by position) with the largest `weights`, in the same order; among
/// equals the nearer ones.
std::vector<std::size_t> top_keys(std::span<const float> weights, std::vector<std::size_t> keys,
                                  std::size_t most);

/// The largest share of a query: `"it" gives its largest share, 56 %, to "cat"`; names none if
/// several are equal. `decimals`: as in percentage(); `sink`: the weight of a learned sink.
std::string largest_share(const TokenNames& names, std::span<const float> weights,
                          std::size_t query, int decimals, float sink);

// The lessons, in order.
void tour_tokens(TourPage& page);
void tour_vectors(TourPage& page);
void tour_scores(TourPage& page);
void tour_mask(TourPage& page);
void tour_heads(TourPage& page);
void tour_temperature(TourPage& page);

}  // namespace attnviz
