// What the standard streams are: a terminal or not, how wide, with which colours. One line on a
// terminal that tells how far slow work is.
#pragma once

#include <chrono>
#include <cstddef>
#include <string_view>

#include "attnviz/attention/engine.h"
#include "attnviz/terminal/page/terminal_options.h"
#include "options/options.h"

namespace attnviz::app {

bool stdin_is_terminal();
/// Whether somebody may have a text there: no terminal, nor /dev/null.
bool stdin_is_pipe_or_file();
/// Whether a text lies there and waits. Reads nothing, and does not wait for it.
bool stdin_has_unread();
bool stdout_is_terminal();

/// How wide standard error is where it is a terminal; 0 elsewhere.
std::size_t stderr_columns();

/// How to draw on standard output. Colour: `color`, else NO_COLOR, else CLICOLOR_FORCE, else
/// whether it is a terminal. Style auto: blocks on a terminal that can do more than TERM=dumb and
/// into pipes of a UTF-8 locale, else ascii. Width: COLUMNS, else the terminal's, else 80.
TerminalOptions stdout_drawing(StyleChoice style, ColorChoice color);

/// How to draw into a text file: 120 columns, ascii and no colour unless chosen otherwise.
TerminalOptions file_drawing(StyleChoice style, ColorChoice color);

/// The line on standard error, when that is a terminal wide enough and the program is not to be
/// quiet. Comes when the work has taken a while, and goes when it ends. For one thread at a time.
class ProgressLine {
 public:
  /// `what` must outlive it.
  ProgressLine(std::string_view what, const Verbosity& verbosity);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// What is to be told the share of the work that is done, while the line lives; empty where the
  /// line is not to be seen.
  ProgressReport report();

 private:
  void inform(double done);

  using Clock = std::chrono::steady_clock;

  std::string_view what_;
  bool visible_;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point next_;
};

/// Takes the line away, if there is one. Safe in a signal handler.
void erase_progress_line() noexcept;

}  // namespace attnviz::app
