// Everything that a command writes of its result: files by format, and standard output.
#pragma once

#include <array>
#include <deque>
#include <exception>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attnviz/core/byte_sink.h"
#include "attnviz/terminal/page/terminal_options.h"
#include "options/options.h"
#include "outputs/output_file.h"

namespace attnviz::app {

/// How text is written, wherever it goes.
struct TextStyle {
  StyleChoice style = StyleChoice::kAuto;
  ColorChoice color = ColorChoice::kAuto;
};

/// Writes a command's result in a format; `terminal` says how text is drawn where it goes.
using FormatWriter =
    std::function<void(OutputFormat format, const TerminalOptions& terminal, const ByteSink& sink)>;

inline constexpr std::array kEveryFormat = {OutputFormat::kPng, OutputFormat::kJson,
                                            OutputFormat::kNpy, OutputFormat::kText};

/// What a command may write, and where to.
struct OutputPlan {
  const OutputOptions& options;
  const TalkOptions& talk;
  std::span<const OutputFormat> formats;  // that the command writes; outlives the outputs
  TextStyle style;
  std::vector<std::filesystem::path> read_files;  // that must not be written over
  bool many_results = false;                      // one after the other, in formats that allow it
};

class Outputs {
 public:
  /// Opens every file. Throws Error{kUsage} when a format is unknown, or cannot go where it is
  /// sent, and Error{kIo} when a file cannot be opened.
  explicit Outputs(OutputPlan plan);

  /// Whether something is written in this format, the drawing on standard output included.
  bool writes(OutputFormat format) const;

  /// How text is drawn wherever the drawing goes.
  std::vector<TerminalOptions> drawings() const;

  /// Whether documents of this format go to a person's screen.
  bool shows(OutputFormat format) const;

  /// Everything that is written in this format at once: files, and standard output unless nobody
  /// reads it any more. For results that come piece by piece, in place of write_files() and
  /// write_to_standard_output(). Throws as these do, but an error of standard output only once the
  /// files have their names.
  ByteSink all(OutputFormat format);

  /// Throws what `write` throws, and Error{kIo} when a write fails.
  void write_files(const FormatWriter& write);
  /// The files take their names.
  void commit();

  /// The drawing or the document. Throws ClosedPipe, unless there are files still to be finished.
  void write_to_standard_output(const FormatWriter& write);

 private:
  struct File {
    File(OutputFormat how, const std::filesystem::path& where) : format(how), file(where) {}
    OutputFormat format;
    OutputFile file;
  };

  void open(const std::string& name);
  void unless_closed(const std::function<void()>& write);

  OutputPlan plan_;
  std::deque<File> files_;
  std::optional<OutputFormat> stdout_format_;  // empty: the drawing
  bool stdout_is_open_ = true;
  bool committed_ = false;
  bool is_first_ = true;
  TerminalOptions stdout_drawing_;  // asked for once: a window may change its size meanwhile
  TerminalOptions file_drawing_;
  std::exception_ptr stdout_failure_;
};

}  // namespace attnviz::app
