// What ends the program from outside, and how it leaves its files and its terminal then.
#pragma once

#include <cstddef>

#include "attnviz/core/parallel_for.h"

namespace attnviz::app {

/// Whatever ends the program removes unfinished files and gives the terminal back as it was first.
/// SIGINT, SIGTERM and SIGHUP end it with 130. A mapped file that has become shorter is told, with
/// exit code 1. A closed pipe and a file that has become too large are errors of the write instead
/// of signals.
void install_signal_handlers();

/// Says that there is no more memory, removes unfinished files and ends the program with 1.
[[noreturn]] void end_out_of_memory() noexcept;

/// From now on where there is no memory for an object, the program ends there. An exception would
/// not come through functions that may not throw, and its message would need memory, too.
void end_without_memory();

/// While it lives, the first of SIGINT, SIGTERM and SIGHUP is noted in its place, so that what has
/// been done can be kept; the second one ends the program. One at a time.
class Interruption {
 public:
  Interruption() noexcept;
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  bool is_requested() const noexcept;
};

/// Waits until something can be read, or its end, or an error of it. False when an Interruption was
/// requested before that.
bool wait_to_read(int fd) noexcept;

/// A place among the files that are removed when the program ends early. Freed with the object.
class UnfinishedFile {
 public:
  static constexpr std::size_t kMost = 16;

  /// Throws Error{kUsage} when all places are taken.
  UnfinishedFile();
  ~UnfinishedFile();
  UnfinishedFile(const UnfinishedFile&) = delete;
  UnfinishedFile& operator=(const UnfinishedFile&) = delete;

  /// The file there is now: `name` stays valid until the next call. nullptr: none.
  void is(const char* name) noexcept;

 private:
  std::size_t place_ = 0;
};

}  // namespace attnviz::app
