// What the program says to a person, on standard error. What is said to a person, in lines that a
// terminal does not cut in the middle of words.
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

/// "attnviz: message", with everything a terminal could obey made visible, line feeds too: they are
/// from names in files and of files, and no line may look as if it were said by itself. Of a
/// message of more than 4 KiB, as files could make it, the beginning.
void warn(std::string_view message);
/// The same, with each of its lines on a line of its own behind two spaces.
void warn(const Advice& advice);

/// The same unless the person wants quiet, and of something at all: an empty message is none.
void inform(const Verbosity& verbosity, std::string_view message);
void inform(const Verbosity& verbosity, const Advice& advice);

/// "--cell, --dpi changed nothing: no picture was asked for", of those that were given; empty where
/// none was. `where`: " in the array", where they did something elsewhere.
std::string unused_note(const Verbosity& verbosity, std::initializer_list<std::string_view> options,
                        std::string_view why, std::string_view where = "");

/// Says which options were given and changed nothing, and why: that is not an error, for they may
/// stand in an alias. The second: options that have an effect there alone.
void warn_unused(const Verbosity& verbosity, std::initializer_list<std::string_view> options,
                 std::string_view why, std::string_view where = "");
void warn_unused(const Verbosity& verbosity, Effect effect, std::string_view why);

/// Notes that are said once, however many texts they are true of.
enum class Note { kRandomWeights, kFarWords, kFlatPicture, kNothingSpecial, kUnusedOfBars };

/// Says notes once a command, with the first text that they are true of.
class Diagnostics {
 public:
  explicit Diagnostics(const Verbosity& verbosity) : verbosity_(verbosity) {}

  /// Whether a note is worth making: neither said before nor, where quiet is wanted, in vain.
  bool is_due(Note note) const { return !verbosity_.quiet && !noted_.contains(note); }
  /// Says it when it is due and there is something to say.
  void inform(Note note, std::string_view message);
  const Verbosity& verbosity() const noexcept { return verbosity_; }

 private:
  Verbosity verbosity_;
  std::set<Note> noted_;
};

/// Says how long each phase took, when asked to be verbose.
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

/// `message`, without a line end behind it, broken between words so that no line is wider than
/// `columns` where that can be. What is to be copied stays whole, on a line of its own if need be:
/// lines that are indented, commands that begin with "attnviz", and what is quoted.
std::string wrapped_message(std::string_view message, std::size_t columns);

}  // namespace attnviz::app
