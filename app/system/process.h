// The program's demands on its process: memory checked before it is allocated, rights that it gives
// up before it reads a file, and the signals that end it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "attnviz/core/threads.h"

namespace attnviz::app {

/// From now on this process takes at most `bytes` of its own memory, including the stacks of
/// threads but not mapped files. Allocations beyond that fail if the system enforces this limit
/// (RLIMIT_DATA, since Linux 4.7); require_memory() refuses them everywhere.
void limit_memory(double bytes);

/// "64 MB", "2.5 GB", "10240 GB".
std::string in_bytes(double bytes);

/// "out of memory", with the limit of --max-memory if given. Allocates nothing.
std::string_view out_of_memory() noexcept;

/// An Error's message; if it is about memory, adds the limit.
std::string with_limit(std::string_view message);

/// Throws Error{kUsage} if `bytes` are not free: "`what` needs about 10240 GB of memory, and 21 GB
/// are free: `hint`". Free memory is what limit_memory() leaves; without a limit, the
/// least that the machine, its control groups and the process's limits leave.
void require_memory(double bytes, std::string_view what, std::string_view hint);

/// An estimate for a number of heads of a text with a number of tokens; grows with both.
using BytesForHeads = std::function<double(std::size_t n_heads, std::size_t n_tokens)>;

/// As above, for data of heads of a text; `what` is a word like "inspecting". The error says how
/// many heads and tokens would fit.
void require_memory_for_heads(const BytesForHeads& bytes, std::string_view what,
                              std::size_t n_heads, std::size_t n_tokens);

// The rights that the program gives up before it reads a model or a text.

/// Permanently removes, as far as the system can, the rights that no command needs: sockets,
/// running other programs, signals to other processes and inspecting them, typing into the
/// terminal, and writing. Writing remains possible to `outputs`, to the folders in which they take
/// their names, and below `folders`. Permissions of other files can still be changed. Reading stays
/// unrestricted: models, fonts and the files they refer to may be anywhere. Call it before there is
/// a second thread.
///
/// Returns what the system could not restrict, as a sentence without its end, or nothing.
std::string enter_sandbox(std::span<const std::filesystem::path> outputs,
                          std::span<const std::filesystem::path> folders);

// Ending on signals and on lack of memory, with files and terminal cleaned up.

/// Signals that end the program first remove unfinished files and erase the progress line. SIGINT,
/// SIGTERM and SIGHUP end it with exit code 130. A mapped file that has become shorter ends it with
/// a message and exit code 1. A closed pipe and a file that is too large become errors of the write
/// instead of signals.
void install_signal_handlers();

/// Reports that memory has run out, removes unfinished files and ends the program with exit code 1.
[[noreturn]] void end_out_of_memory() noexcept;

/// From now on, a failed allocation of an object ends the program. An exception could not pass
/// through noexcept functions, and its message would need memory too.
void end_without_memory();

/// While it exists, the first SIGINT, SIGTERM or SIGHUP is only recorded, so that completed work
/// can be saved; the second one ends the program. Only one instance may exist at a time.
class Interruption {
 public:
  Interruption() noexcept;
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  bool is_requested() const noexcept;
};

/// Waits until the input has data, its end, or an error. Returns false if an Interruption was
/// requested first.
bool wait_to_read(int fd) noexcept;

/// A slot in the list of files that are removed if the program ends early. Freed with the object.
class UnfinishedFile {
 public:
  static constexpr std::size_t kMost = 16;

  /// Throws Error{kUsage} if all slots are taken.
  UnfinishedFile();
  ~UnfinishedFile();
  UnfinishedFile(const UnfinishedFile&) = delete;
  UnfinishedFile& operator=(const UnfinishedFile&) = delete;

  /// Sets the current file: `name` must stay valid until the next call. nullptr: none.
  void is(const char* name) noexcept;

 private:
  std::size_t place_ = 0;
};

}  // namespace attnviz::app
