#include "progress_line.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>

namespace attnviz::app {

namespace {

constexpr std::size_t kColumns = 48;  // what is shown is padded to these, so that nothing is left
std::atomic<bool> line_is_there{false};

void write_to_terminal(std::string_view text) noexcept {
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text.data(), text.size());
}

// "3 min 20 s", rounded so that it does not flicker.
std::string duration(double seconds) {
  constexpr double kMinute = 60.0;
  constexpr double kHour = 3600.0;
  if (seconds >= kHour) {
    const double minutes = std::ceil(seconds / kMinute);
    return fmt::format("{:.0f} h {:.0f} min", std::floor(minutes / kMinute),
                       std::fmod(minutes, kMinute));
  }
  if (seconds >= kMinute) {
    const double whole = std::ceil(seconds);
    return fmt::format("{:.0f} min {:.0f} s", std::floor(whole / kMinute),
                       std::fmod(whole, kMinute));
  }
  return fmt::format("{:.0f} s", std::ceil(seconds));
}

}  // namespace

std::string progress_text(std::string_view what, double done, double seconds) {
  const double left = seconds * (1.0 - done) / done;
  return fmt::format("{} {:.0f} %, {} left", what, std::floor(100.0 * done), duration(left));
}

ProgressLine::ProgressLine(std::string_view what, const TalkOptions& talk)
    : what_(what), visible_(!talk.quiet && isatty(STDERR_FILENO) == 1) {
  constexpr std::chrono::milliseconds kPatience{500};
  next_ = begin_ + kPatience;
}

ProgressLine::~ProgressLine() {
  erase_progress_line();
}

void ProgressLine::tell(double done) {
  const Clock::time_point now = Clock::now();
  if (!visible_ || now < next_ || !(done > 0.0)) {
    return;
  }
  constexpr std::chrono::milliseconds kPause{100};
  next_ = now + kPause;
  const std::chrono::duration<double> passed = now - begin_;
  const std::string text =
      "\rattnviz: " + progress_text(what_, std::min(done, 1.0), passed.count());
  line_is_there.store(true);
  write_to_terminal(text + std::string(kColumns - std::min(kColumns, text.size()), ' '));
}

void erase_progress_line() noexcept {
  if (line_is_there.exchange(false)) {
    static constexpr char kBlank[] =
        "\r                                                \r";  // kColumns
    write_to_terminal(kBlank);
  }
}

}  // namespace attnviz::app
