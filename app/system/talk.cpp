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

std::string beginning_of(std::string_view message) {
  constexpr std::size_t kLongest = std::size_t{1} << 12;
  std::size_t end = std::min(message.size(), kLongest);
  while (end > 0 && end < message.size() &&
         (static_cast<unsigned char>(message[end]) & 0xC0U) == 0x80U) {
    --end;  // not within a character
  }
  std::string beginning = printable_line(message.substr(0, end));
  if (end < message.size()) {
    beginning += fmt::format("… ({} bytes)", message.size());
  }
  return beginning;
}

}  // namespace

void say(const Advice& advice) {
  std::string line = "attnviz: " + beginning_of(advice.message);
  for (const std::string& next : advice.lines) {
    // With another sign, such as that of a line feed, it would be another command.
    line += printable_line(next) == next ? "\n  " + beginning_of(next) : "";
  }
  if (const std::size_t columns = stderr_columns(); columns > 0) {
    line = wrapped_message(line, columns);
  }
  line += '\n';
  // When standard error is gone there is nobody left to tell.
  [[maybe_unused]] const int error = write_all(STDERR_FILENO, line);
}

void say(std::string_view message) {
  say(Advice{std::string(message)});
}

void tell(const TalkOptions& talk, std::string_view message) {
  tell(talk, Advice{std::string(message)});
}

void tell(const TalkOptions& talk, const Advice& advice) {
  if (!talk.quiet && !advice.message.empty()) {
    say(advice);
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
