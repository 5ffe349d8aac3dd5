// Properties of the standard streams: terminal or not, width, colours. A progress line for slow
// work on a terminal.
#pragma once

#include <chrono>
#include <cstddef>
#include <string_view>

#include "attnviz/attention/engine.h"
#include "attnviz/terminal/page/terminal_options.h"
#include "options/options.h"

namespace attnviz::app {

bool stdin_is_terminal();
/// Whether standard input may contain a text: neither a terminal nor /dev/null.
bool stdin_is_pipe_or_file();
/// Whether standard input has bytes waiting. Neither reads nor waits.
bool stdin_has_unread();
bool stdout_is_terminal();

/// The width for standard error (COLUMNS, else the terminal's) if it is a terminal; else 0.
std::size_t stderr_columns();

/// How to draw on standard output. Colour: `color`, else NO_COLOR, else CLICOLOR_FORCE, else
/// whether it is a terminal. Default style: blocks on a terminal better than TERM=dumb and into
/// pipes of a UTF-8 locale, else ascii. Width: COLUMNS, else the terminal's, else 80.
TerminalOptions stdout_drawing(StyleChoice style, ColorChoice color);

/// How to draw into a text file: 120 columns; ascii and no colour by default.
TerminalOptions file_drawing(StyleChoice style, ColorChoice color);

/// A line on standard error, if that is a terminal wide enough and the program is not quiet.
/// Appears after a short delay, and disappears when the work ends. For one thread at a time.
class ProgressLine {
 public:
  /// `what` must outlive it.
  ProgressLine(std::string_view what, const Verbosity& verbosity);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// The function to call with the share of completed work while the line exists; empty if the line
  /// is not visible.
  ProgressReport report();

 private:
  void inform(double done);

  using Clock = std::chrono::steady_clock;

  std::string_view what_;
  bool visible_;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point next_;
};

/// Erases the line, if there is one. Safe in a signal handler.
void erase_progress_line() noexcept;

}  // namespace attnviz::app
