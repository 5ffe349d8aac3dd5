// One screen of the tour while it is written, and what its lessons have in common. The screens of
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

/// Of a model whose heads do all that the tour tells of.
inline constexpr std::size_t kTourScreens = 6;

/// Those that there is something to show on.
std::size_t tour_screens(const Tour& tour);

/// What a tour of this model leaves out, and why, a sentence each without a full stop; of no words
/// for a tour with all screens.
std::vector<std::string> tour_left_out(const Tour& tour);

/// How the program that shows the tour spells its options, for the commands to go on with.
struct TourOptionNames {
  std::string_view head, query, truncate_right, temperature, help;
  std::string_view model = {};          // " -m gpt2"; empty for the usual one
  std::string_view heads_command = {};  // that tells what every head does
};

/// One of tour_screens(), from 0, in lines, none wider than options.columns (at least 20 are
/// assumed) or than 100: the first line is its title. At most 22 lines from 80 columns on. What a
/// picture says is said in a sentence, too. Style kAscii is 7-bit.
Page tour_screen(const Tour& tour, std::size_t screen, const TerminalOptions& options,
                 const TourOptionNames& names);

inline std::string render_tour_screen(const Tour& tour, std::size_t screen,
                                      const TerminalOptions& options,
                                      const TourOptionNames& names) {
  return to_ansi(tour_screen(tour, screen, options, names), options.color);
}

/// The pieces without the space that stands before a word.
std::vector<std::string_view> bare_pieces(const TokenizedText& text);

class TourPage {
 public:
  /// `fewer_rows`: how many rows its tables have less than they would like to.
  TourPage(const Tour& shown, const TerminalOptions& options, const TourOptionNames& option_names,
           std::size_t fewer_rows);

  const Tour& tour;
  const TourOptionNames& option_names;
  const InspectionStyle style;
  const TokenNames names;  // of the text's tokens, without the space before words

  std::size_t columns() const noexcept { return style.options.columns; }
  /// The rows of a table that would like to have so many.
  std::size_t rows(std::size_t most) const noexcept;
  /// Everything that may stand in a formula is made 7-bit where it must be.
  void paragraph(std::string_view text, const Style& style = {});
  void blank() { page_.blank(); }
  void line(Line line) { page_.add(std::move(line)); }
  void table(const TextTable& table) { page_.add(draw_table(table, columns(), style.charset)); }
  void table(Table table);
  /// Vectors of one size, their numbers written alike.
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

/// The `most` of `keys`, by position, that have the largest of `weights`, in the same order; the
/// nearer ones of equals.
std::vector<std::size_t> top_keys(std::span<const float> weights, std::vector<std::size_t> keys,
                                  std::size_t most);

/// What a query does: `"it" gives its largest share, 56 %, to "cat"`; of several that are alike
/// none is named. `decimals` as percentage() takes them; `sink`: what goes to a learned sink.
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
