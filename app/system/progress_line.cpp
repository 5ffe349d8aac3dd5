#include "system/progress_line.h"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>

namespace attnviz::app {

namespace {

// What is shown is padded to these, so that nothing is left of a longer one.
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

// A line that a narrow terminal wraps could not be taken away.
bool has_room() noexcept {
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return !known || size.ws_col > kColumns;
}

// "attention 42 %, 12 s left" for `done` in (0, 1] of the work after `seconds` of it. 7-bit.
std::string progress_text(std::string_view what, double done, double seconds) {
  const double left = seconds * (1.0 - done) / done;
  return fmt::format("{} {:.0f} %, {} left", what, std::floor(100.0 * done), duration(left));
}

}  // namespace

ProgressLine::ProgressLine(std::string_view what, const TalkOptions& talk)
    : what_(what), visible_(!talk.quiet && isatty(STDERR_FILENO) == 1 && has_room()) {
  constexpr std::chrono::milliseconds kPatience{500};
  next_ = begin_ + kPatience;
}

ProgressLine::~ProgressLine() {
  erase_progress_line();
}

ProgressReport ProgressLine::report() {
  return visible_ ? [this](double done) { tell(done); } : ProgressReport();
}

void ProgressLine::tell(double done) {
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
