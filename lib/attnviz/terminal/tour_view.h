// The screens of the tour: six short lessons about attention, with the numbers of one text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/analysis/tour.h"
#include "attnviz/terminal/page/page.h"
#include "attnviz/terminal/page/terminal_options.h"

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

}  // namespace attnviz
