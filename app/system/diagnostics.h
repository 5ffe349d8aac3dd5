// Messages to the user on standard error, wrapped so that a terminal does not cut words.
#pragma once

#include <chrono>
#include <cstddef>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>

#include "options/advice.h"
#include "options/options.h"

namespace attnviz::app {

/// Prints "attnviz: message". Characters that a terminal could interpret are made visible,
/// including line feeds: they may come from file names and file contents, and a line must not look
/// like a message of its own. A message over 4 KiB, which a file could cause, is shortened to its
/// beginning.
void warn(std::string_view message);
/// As above, with each of its lines indented by two spaces on a line of its own.
void warn(const Advice& advice);

/// As warn(), unless quiet or the message is empty.
void inform(const Verbosity& verbosity, std::string_view message);
void inform(const Verbosity& verbosity, const Advice& advice);

/// "--cell, --dpi changed nothing: no picture was asked for", for those options that were given;
/// empty if none were. `where`: " in the array", if they had an effect elsewhere.
std::string unused_note(const Verbosity& verbosity, std::initializer_list<std::string_view> options,
                        std::string_view why, std::string_view where = "");

/// Reports the given options that changed nothing, and why; this is not an error, because they may
/// come from an alias. The second overload covers the options with only this effect.
void warn_unused(const Verbosity& verbosity, std::initializer_list<std::string_view> options,
                 std::string_view why, std::string_view where = "");
void warn_unused(const Verbosity& verbosity, Effect effect, std::string_view why);

/// Notes that are printed only once, for any number of texts.
enum class Note { kRandomWeights, kFarWords, kFlatPicture, kNothingSpecial, kUnusedOfBars };

/// Prints each note once per command, with the first text that it applies to.
class Diagnostics {
 public:
  explicit Diagnostics(const Verbosity& verbosity) : verbosity_(verbosity) {}

  /// Whether a note would be printed: neither quiet nor printed before.
  bool is_due(Note note) const { return !verbosity_.quiet && !noted_.contains(note); }
  /// Prints the note if it is due and the message is not empty.
  void inform(Note note, std::string_view message);
  const Verbosity& verbosity() const noexcept { return verbosity_; }

 private:
  Verbosity verbosity_;
  std::set<Note> noted_;
};

/// With --verbose, prints how long each phase took.
class Phases {
 public:
  explicit Phases(const Verbosity& verbosity) : verbose_(verbosity.verbose) {}

  /// Ends the phase that began at the last call, or at construction.
  void done(std::string_view phase);

 private:
  using Clock = std::chrono::steady_clock;
  bool verbose_;
  Clock::time_point begin_ = Clock::now();
};

/// Wraps `message`, which has no final line end, between words so that lines fit in `columns` if
/// possible. Text to be copied stays whole, if need be on its own line: indented lines, commands
/// that begin with "attnviz", and quoted text.
std::string wrapped_message(std::string_view message, std::size_t columns);

}  // namespace attnviz::app
