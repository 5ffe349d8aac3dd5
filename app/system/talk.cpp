#include "system/talk.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "attnviz/core/descriptor.h"
#include "attnviz/core/printable_line.h"
#include "system/terminal_info.h"
#include "system/wrapped_message.h"

namespace attnviz::app {

namespace {

std::string printable_lines(std::string_view message) {
  constexpr std::string_view kNextLine = "\n  ";
  std::string lines;
  for (std::size_t end = 0; (end = message.find(kNextLine)) != std::string_view::npos;) {
    lines += printable_line(message.substr(0, end));
    lines += kNextLine;
    message.remove_prefix(end + kNextLine.size());
  }
  return lines + printable_line(message);
}

}  // namespace

void say(std::string_view message) {
  constexpr std::size_t kLongest = std::size_t{1} << 12;
  std::size_t end = std::min(message.size(), kLongest);
  while (end > 0 && end < message.size() &&
         (static_cast<unsigned char>(message[end]) & 0xC0U) == 0x80U) {
    --end;  // not within a character
  }
  std::string line = "attnviz: " + printable_lines(message.substr(0, end));
  if (end < message.size()) {
    line += fmt::format("… ({} bytes)", message.size());
  }
  if (const std::size_t columns = stderr_columns(); columns > 0) {
    line = wrapped_message(line, columns);
  }
  line += '\n';
  // When standard error is gone there is nobody left to tell.
  [[maybe_unused]] const int error = write_all(STDERR_FILENO, line);
}

void tell(const TalkOptions& talk, std::string_view message) {
  if (!talk.quiet && !message.empty()) {
    say(message);
  }
}

std::string unused_note(std::span<const std::pair<bool, const char*>> options, std::string_view why,
                        std::string_view where) {
  std::string unused;
  for (const auto& [given, option] : options) {
    if (given) {
      unused += (unused.empty() ? "" : ", ") + std::string(option);
    }
  }
  return unused.empty() ? unused : fmt::format("{} changed nothing{}: {}", unused, where, why);
}

void tell_unused(const TalkOptions& talk, std::span<const std::pair<bool, const char*>> options,
                 std::string_view why, std::string_view where) {
  tell(talk, unused_note(options, why, where));
}

void Teller::tell(Note note, std::string_view message) {
  if (is_due(note) && !message.empty()) {
    say(message);
    told_.insert(note);
  }
}

void Phases::done(std::string_view phase) {
  const auto now = Clock::now();
  if (verbose_) {
    const std::chrono::duration<double, std::milli> took = now - begin_;
    say(fmt::format("{} took {:.3f} ms", phase, took.count()));
  }
  begin_ = now;
}

}  // namespace attnviz::app
