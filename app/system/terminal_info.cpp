#include "system/terminal_info.h"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <string>
#include <string_view>

#include "attnviz/core/choices.h"
#include "attnviz/core/utf8.h"

namespace attnviz::app {

namespace {

constexpr std::size_t kWidestTerminal = 10'000;

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): never changed
  return value == nullptr ? std::string_view() : value;
}

// COLUMNS, else the width of the terminal on `stream`; 0 if neither is known.
std::size_t columns_of(int stream) {
  const auto said = parse_number<std::size_t>(environment("COLUMNS")).value_or(0);
  if (said > 0 && said <= kWidestTerminal) {
    return said;
  }
  winsize size{};
  return ioctl(stream, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

std::size_t columns() {
  constexpr std::size_t kUnknownWidth = 80;
  const std::size_t width = columns_of(STDOUT_FILENO);
  return width > 0 ? width : kUnknownWidth;
}

ColorDepth color_depth() {
  const std::string_view color_term = environment("COLORTERM");
  const std::string_view term = environment("TERM");
  if (color_term == "truecolor" || color_term == "24bit" || term.ends_with("-direct")) {
    return ColorDepth::kTrueColor;
  }
  if (term.find("256color") != std::string_view::npos) {
    return ColorDepth::k256;
  }
  return ColorDepth::k16;
}

bool can_do_colors() {
  const std::string_view term = environment("TERM");
  return stdout_is_terminal() && !term.empty() && term != "dumb";
}

// Decides what readers of a pipe expect: the first of LC_ALL, LC_CTYPE and LANG that is set counts.
bool is_utf8_locale() {
  for (const char* const name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (const std::string_view locale = environment(name); !locale.empty()) {
      const std::string lower = ascii_lower(locale);
      return lower.find("utf-8") != std::string::npos || lower.find("utf8") != std::string::npos;
    }
  }
  return false;
}

bool wants_color(ColorChoice choice) {
  if (choice != ColorChoice::kAuto) {
    return choice == ColorChoice::kAlways;
  }
  if (!environment("NO_COLOR").empty()) {
    return false;
  }
  const std::string_view force = environment("CLICOLOR_FORCE");
  return (!force.empty() && force != "0") || can_do_colors();
}

}  // namespace

bool stdin_is_terminal() {
  return isatty(STDIN_FILENO) == 1;
}

bool stdin_is_pipe_or_file() {
  struct stat status {};
  return fstat(STDIN_FILENO, &status) == 0 &&
         (S_ISFIFO(status.st_mode) || S_ISREG(status.st_mode) || S_ISSOCK(status.st_mode));
}

bool stdin_has_unread() {
  int n_bytes = 0;
  return stdin_is_pipe_or_file() && ioctl(STDIN_FILENO, FIONREAD, &n_bytes) == 0 && n_bytes != 0;
}

bool stdout_is_terminal() {
  return isatty(STDOUT_FILENO) == 1;
}

std::size_t stderr_columns() {
  return isatty(STDERR_FILENO) == 1 ? columns_of(STDERR_FILENO) : 0;
}

TerminalOptions stdout_drawing(StyleChoice style, ColorChoice color) {
  const bool has_blocks = stdout_is_terminal() ? can_do_colors() : is_utf8_locale();
  const auto automatic = has_blocks ? TerminalStyle::kBlocks : TerminalStyle::kAscii;
  return {style.value_or(automatic), wants_color(color) ? color_depth() : ColorDepth::kNone,
          columns()};
}

TerminalOptions file_drawing(StyleChoice style, ColorChoice color) {
  constexpr std::size_t kFileColumns = 120;
  const bool colored = color == ColorChoice::kAlways;
  return {style.value_or(TerminalStyle::kAscii), colored ? color_depth() : ColorDepth::kNone,
          kFileColumns};
}

namespace {

// Texts are padded to this width, so that nothing of a longer one remains.
constexpr std::size_t kColumns = 46;
std::atomic<bool> line_is_there{false};
static_assert(std::atomic<bool>::is_always_lock_free);  // for the signal handler

void write_to_terminal(std::string_view text) noexcept {
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text.data(), text.size());
}

// "3 min 20 s", rounded up.
std::string duration(double seconds) {
  constexpr double kMinute = 60.0;
  constexpr double kHour = 3600.0;
  const double whole = std::ceil(seconds);
  if (whole < kMinute) {
    return fmt::format("{:.0f} s", whole);
  }
  if (whole < kHour) {
    return fmt::format("{:.0f} min {:.0f} s", std::floor(whole / kMinute),
                       std::fmod(whole, kMinute));
  }
  const double minutes = std::ceil(whole / kMinute);
  return fmt::format("{:.0f} h {:.0f} min", std::floor(minutes / kMinute),
                     std::fmod(minutes, kMinute));
}

// A line that wraps on a narrow terminal could not be erased.
bool has_room() noexcept {
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return !known || size.ws_col > kColumns;
}

// "attention 42 %, 12 s left" for a share `done` in (0, 1] after `seconds`. 7-bit.
std::string progress_text(std::string_view what, double done, double seconds) {
  const double left = seconds * (1.0 - done) / done;
  return fmt::format("{} {:.0f} %, {} left", what, std::floor(100.0 * done), duration(left));
}

}  // namespace

ProgressLine::ProgressLine(std::string_view what, const Verbosity& verbosity)
    : what_(what), visible_(!verbosity.quiet && isatty(STDERR_FILENO) == 1 && has_room()) {
  constexpr std::chrono::milliseconds kPatience{500};
  next_ = begin_ + kPatience;
}

ProgressLine::~ProgressLine() {
  erase_progress_line();
}

ProgressReport ProgressLine::report() {
  return visible_ ? [this](double done) { inform(done); } : ProgressReport();
}

void ProgressLine::inform(double done) {
  const Clock::time_point now = Clock::now();
  if (now < next_ || !(done > 0.0)) {
    return;
  }
  constexpr std::chrono::milliseconds kPause{100};
  next_ = now + kPause;
  const std::chrono::duration<double> passed = now - begin_;
  std::string text = "attnviz: " + progress_text(what_, std::min(done, 1.0), passed.count());
  text.resize(kColumns, ' ');
  line_is_there.store(true);
  write_to_terminal('\r' + text);
}

void erase_progress_line() noexcept {
  if (line_is_there.exchange(false)) {
    std::array<char, kColumns + 2> blank;
    blank.fill(' ');
    blank.front() = blank.back() = '\r';
    write_to_terminal({blank.data(), blank.size()});
  }
}

}  // namespace attnviz::app
