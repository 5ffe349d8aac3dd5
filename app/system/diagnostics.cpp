#include "system/diagnostics.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "attnviz/core/mapped_file.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "system/terminal_info.h"

namespace attnviz::app {

namespace {

std::string beginning_of(std::string_view message) {
  constexpr std::size_t kLongest = std::size_t{1} << 12;
  std::size_t end = std::min(message.size(), kLongest);
  while (end > 0 && end < message.size() &&
         (static_cast<unsigned char>(message[end]) & 0xC0U) == 0x80U) {
    --end;  // do not cut a character
  }
  std::string beginning = printable_line(message.substr(0, end));
  if (end < message.size()) {
    beginning += fmt::format("… ({} bytes)", message.size());
  }
  return beginning;
}

}  // namespace

void warn(const Advice& advice) {
  std::string line = "attnviz: " + beginning_of(advice.message);
  for (const std::string& next : advice.lines) {
    // A command shown with visible line feeds and the like would be a different command.
    line += printable_line(next) == next ? "\n  " + beginning_of(next) : "";
  }
  if (const std::size_t columns = stderr_columns(); columns > 0) {
    line = wrapped_message(line, columns);
  }
  line += '\n';
  // If standard error is gone, the failure cannot be reported anywhere.
  [[maybe_unused]] const int error = write_all(STDERR_FILENO, line);
}

void warn(std::string_view message) {
  warn(Advice{std::string(message)});
}

void inform(const Verbosity& verbosity, std::string_view message) {
  inform(verbosity, Advice{std::string(message)});
}

void inform(const Verbosity& verbosity, const Advice& advice) {
  if (!verbosity.quiet && !advice.message.empty()) {
    warn(advice);
  }
}

namespace {

template <class IsMeant>
std::string note_of(const Verbosity& verbosity, const IsMeant& is_meant, std::string_view why,
                    std::string_view where) {
  std::string unused;
  for (const GivenOption& option : verbosity.given) {
    if (is_meant(option)) {
      unused += (unused.empty() ? "" : ", ") + option.name;
    }
  }
  return unused.empty() ? unused : fmt::format("{} changed nothing{}: {}", unused, where, why);
}

}  // namespace

std::string unused_note(const Verbosity& verbosity, std::initializer_list<std::string_view> options,
                        std::string_view why, std::string_view where) {
  return note_of(
      verbosity,
      [&](const GivenOption& given) {
        return std::ranges::find(options, given.name) != options.end();
      },
      why, where);
}

void warn_unused(const Verbosity& verbosity, std::initializer_list<std::string_view> options,
                 std::string_view why, std::string_view where) {
  inform(verbosity, unused_note(verbosity, options, why, where));
}

void warn_unused(const Verbosity& verbosity, Effect effect, std::string_view why) {
  inform(verbosity,
         note_of(
             verbosity, [effect](const GivenOption& given) { return given.effect == effect; }, why,
             ""));
}

void Diagnostics::inform(Note note, std::string_view message) {
  if (is_due(note) && !message.empty()) {
    warn(message);
    noted_.insert(note);
  }
}

void Phases::done(std::string_view phase) {
  const auto now = Clock::now();
  if (verbose_) {
    const std::chrono::duration<double, std::milli> took = now - begin_;
    warn(fmt::format("{} took {:.3f} ms", phase, took.count()));
  }
  begin_ = now;
}

namespace {

constexpr std::string_view kProgram = "attnviz ";

// The end of the word that begins at `begin`; quoted text is one word.
std::size_t word_end(std::string_view line, std::size_t begin) {
  bool is_quoted = false;
  for (std::size_t i = begin; i < line.size(); ++i) {
    is_quoted = is_quoted != (line[i] == '"');
    if (line[i] == ' ' && (!is_quoted || line.find('"', i) == std::string_view::npos)) {
      return i;
    }
  }
  return line.size();
}

// The end of a command that begins at `begin`, including the rest of its clause.
std::size_t command_end(std::string_view line, std::size_t begin) {
  std::size_t end = word_end(line, begin);
  while (end < line.size() && line[end - 1] != ';' && line[end - 1] != ',' &&
         line[end - 1] != ')' && line[end - 1] != ':') {
    end = word_end(line, end + 1);
  }
  return end;
}

std::vector<std::string_view> units_of(std::string_view line) {
  std::vector<std::string_view> units;
  for (std::size_t begin = 0; begin < line.size();) {
    const bool is_command = begin > 0 && line.substr(begin).starts_with(kProgram);
    const std::size_t end = is_command ? command_end(line, begin) : word_end(line, begin);
    units.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return units;
}

// The position of `what` outside shell quotes.
std::size_t find_unquoted(std::string_view line, std::string_view what, std::size_t begin) {
  char quote = ' ';
  bool has_escapes = false;
  for (std::size_t i = begin; i < line.size(); ++i) {
    if (quote == ' ' && line.substr(i).starts_with(what)) {
      return i;
    }
    if (quote == ' ' && (line[i] == '"' || line[i] == '\'')) {
      quote = line[i];
      has_escapes = i > 0 && line[i - 1] == '$';
    } else if (line[i] == quote) {
      quote = ' ';
    } else if (line[i] == '\\' && (quote == ' ' || has_escapes)) {
      ++i;
    }
  }
  return std::string_view::npos;
}

// A line to copy, with its remark moved to a line of its own.
std::string indented_line(std::string_view line) {
  constexpr std::string_view kColumnGap = "   ";
  const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t gap = find_unquoted(line, kColumnGap, begin);
  if (gap == std::string_view::npos) {
    return std::string(line);
  }
  const std::string_view words =
      line.substr(std::min(line.find_first_not_of(' ', gap), line.size()));
  return std::string(line.substr(0, gap)) + '\n' + std::string(2 * begin, ' ') + std::string(words);
}

std::string wrapped_line(std::string_view line, std::size_t columns) {
  if (display_width(line) <= columns) {
    return std::string(line);
  }
  if (line.starts_with(' ')) {
    return indented_line(line);
  }
  std::string lines;
  std::size_t used = 0;
  for (const std::string_view unit : units_of(line)) {
    const std::size_t width = display_width(unit);
    const bool fits = used == 0 || used + 1 + width <= columns;
    if (!lines.empty()) {
      lines += fits ? ' ' : '\n';
    }
    lines += unit;
    used = fits && used > 0 ? used + 1 + width : width;
  }
  return lines;
}

}  // namespace

std::string wrapped_message(std::string_view message, std::size_t columns) {
  std::string wrapped;
  for (std::size_t begin = 0; begin <= message.size();) {
    const std::size_t end = std::min(message.find('\n', begin), message.size());
    wrapped += (begin == 0 ? "" : "\n") + wrapped_line(message.substr(begin, end - begin), columns);
    begin = end + 1;
  }
  return wrapped;
}

}  // namespace attnviz::app
