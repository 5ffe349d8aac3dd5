// Everything that `show` writes: files by format, and standard output.
#pragma once

#include <deque>
#include <filesystem>
#include <memory>
#include <optional>

#include "attnviz/render/attention_document.h"
#include "attnviz/render/font_set.h"
#include "attnviz/render/heatmap.h"
#include "options.h"
#include "output_file.h"

namespace attnviz::app {

/// One text's attention, ready to be written.
struct Result {
  const AttentionDocument& document;
  Heatmap picture;
};

class ShowOutputs {
 public:
  /// Opens every file. Throws Error{kUsage} when a format is unknown, or cannot go where it is
  /// sent, Error{kIo} when a file cannot be opened, and what open_fonts throws.
  explicit ShowOutputs(const ShowOptions& options);

  /// Throws Error{kUsage} when a head selection does not fit a format, Error{kIo} when a write
  /// fails.
  void write_files(const Result& result);
  /// The files take their names.
  void commit();

  /// The drawing or the document. Throws ClosedPipe, unless there are files still to be finished.
  void write_to_standard_output(const Result& result);

 private:
  struct File {
    File(OutputFormat how, const std::filesystem::path& where) : format(how), file(where) {}
    OutputFormat format;
    OutputFile file;
  };

  void open(const std::string& name);
  FigureStyle figure_style() const;

  const ShowOptions& options_;
  std::unique_ptr<FontSet> fonts_;
  std::deque<File> files_;
  std::optional<OutputFormat> stdout_format_;  // empty: the drawing
  bool stdout_is_open_ = true;
  bool committed_ = false;
  bool is_first_ = true;
};

}  // namespace attnviz::app
