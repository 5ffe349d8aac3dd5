// What the program asks of its process: memory before it is taken, rights that it gives up before
// it reads a file, and the signals that end it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "attnviz/core/threads.h"

namespace attnviz::app {

/// From now on this process takes at most `bytes` of memory of its own, stacks of threads among
/// them; mapped files do not count. What would take more gets std::bad_alloc where the system keeps
/// such a limit (RLIMIT_DATA, since Linux 4.7), and is refused by require_memory() everywhere.
void limit_memory(double bytes);

/// "64 MB", "2.5 GB", "10240 GB".
std::string in_bytes(double bytes);

/// "out of memory", and what --max-memory allows where it is given. Takes no memory.
std::string_view out_of_memory() noexcept;

/// An Error's message; one about memory also names the limit.
std::string with_limit(std::string_view message);

/// Throws Error{kUsage}: "`what` needs about 10240 GB of memory, and 21 GB are free: `hint`". Free
/// is what limit_memory() leaves; without it what the machine has, its control group or the
/// address space's limit, whichever is least.
void require_memory(double bytes, std::string_view what, std::string_view hint);

/// An estimate for so many heads of a text of so many tokens; grows with both.
using BytesForHeads = std::function<double(std::size_t n_heads, std::size_t n_tokens)>;

/// The same of something made for heads of a text, as `what` "inspecting"; names how many heads
/// and tokens would fit.
void require_memory_for_heads(const BytesForHeads& bytes, std::string_view what,
                              std::size_t n_heads, std::size_t n_tokens);

// What the program gives up before it reads a model or a text.

/// Takes from this process, for good and as far as the system can, what no command needs: sockets,
/// other programs, signals to other processes and a look into them, typing into the terminal, and
/// writing anywhere but into the folders of `outputs`, where files take their names, and into
/// `outputs` themselves, and below `folders`. Permissions of other files it may still change.
/// Reading stays: models, fonts and what they refer to may lie anywhere. Call it before a second
/// thread is there.
///
/// Returns what the system could not do, as a sentence without its end, or nothing.
std::string enter_sandbox(std::span<const std::filesystem::path> outputs,
                          std::span<const std::filesystem::path> folders);

// What ends the program from outside, and how it leaves its files and its terminal then.

/// Whatever ends the program removes unfinished files and gives the terminal back as it was first.
/// SIGINT, SIGTERM and SIGHUP end it with 130. A mapped file that has become shorter ends it with
/// a message and exit code 1. A closed pipe and a file that has become too large are errors of the
/// write instead of signals.
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
