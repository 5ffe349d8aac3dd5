// Everything that a command writes of its result: files by format, and standard output.
#pragma once

#include <cstddef>
#include <deque>
#include <exception>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/mapped_file.h"
#include "attnviz/picture/fonts/font_face.h"
#include "attnviz/picture/layout/figure_style.h"
#include "options/options.h"
#include "outputs/formats/formats.h"
#include "system/diagnostics.h"
#include "system/output_file.h"

namespace attnviz {
struct FirstShown;
}  // namespace attnviz

namespace attnviz::app {

/// What a command may write, where to, and how it looks there.
struct OutputPlan {
  Result result;
  const OutputOptions& options;
  const LookOptions& look;
  const Verbosity& verbosity;
  const FontSet& fonts;                           // as open_fonts() gives them
  std::vector<std::filesystem::path> read_files;  // that must not be written over
  bool many_results = false;                      // one after the other
  bool side_by_side = false;                      // several patterns of each head
};

/// How many weights a result has.
struct ExpectedOutput {
  std::size_t n_patterns = 0;
  std::size_t n_tokens = 0;
  double n_visible = 0.0;  // weights of all patterns that no mask hides
};

/// Writes a command's result in a format.
using Export = std::function<void(const Format& format, const Look& look, const ByteSink& sink)>;

class Outputs {
 public:
  /// Opens every file, and says which options of figures were given although none is written,
  /// unless quiet: that is no error, for they may stand in an alias. Throws Error{kUsage} when a
  /// format is unknown, has no place for the results or cannot go where it is sent, and Error{kIo}
  /// when a file cannot be opened.
  explicit Outputs(OutputPlan plan);
  Outputs(const Outputs&) = delete;
  Outputs& operator=(const Outputs&) = delete;

  /// Whether something is written in this format, the drawing on standard output included.
  bool writes(const Format& format) const;
  /// The same of formats with such content.
  bool writes(Content content) const;

  /// Before each of many results: what names it, as a heading and in the names of files with
  /// {line}, which are opened now. Throws as the constructor does.
  void begin_result(std::size_t line, std::string_view text);

  /// Before each result. Throws Error{kUsage} when its weights would take more than 10 GB on
  /// standard output and, with those of all results before it, in files, unless that is forced.
  void check_output_size(const ExpectedOutput& weights);

  /// How what is written in this format looks, wherever it goes.
  std::vector<Look> looks(const Format& format) const;
  /// The text's line in a file of many texts, counted from 1; 0: not from such a file.
  std::size_t line() const noexcept { return file_look_.line; }

  /// Whether rows are written to a person's screen while they come.
  bool streams_to_screen() const;

  /// Everything that is written in this format at once: files, and standard output unless nobody
  /// reads it any more. For results that come piece by piece, in place of write(). Throws as this
  /// does, but an error of standard output only once the files have their names.
  ByteSink all(const Format& format);

  /// A result: into the files, which take their names unless more results are to come, and to
  /// standard output. Throws what `write` throws, Error{kIo} when a write fails, and ClosedPipe: of
  /// standard output neither as long as there are files to be finished, which finish() makes good.
  void write(const Export& write);
  void write(const ShownAttention& shown);
  void write(const Report& report);

  /// After many results: the files take their names.
  void finish();

 private:
  struct File {
    File(const Format& how, const std::filesystem::path& where, bool alone)
        : format(&how), file(where), is_of_one_result(alone) {}
    const Format* format;
    OutputFile file;
    bool is_of_one_result;
  };
  // A file for each result.
  struct NamePattern {
    const Format* format;
    std::string name;
  };

  void open(const std::string& name);
  void open_file(const Format& format, const std::string& name, bool is_of_one_result);
  void refuse_standard_output(const std::filesystem::path& file) const;
  bool has_colored_screen() const;
  bool has_file(const Format& format) const;
  bool goes_to_stdout(const Format& format) const;
  bool has_files_to_finish() const noexcept;
  void to_standard_output(std::string_view bytes);
  void unless_closed(const std::function<void()>& write);
  void commit();
  void commit(OutputFile& file);
  void write_to_standard_output(const Export& write);

  OutputPlan plan_;
  FigureStyle figure_;
  std::deque<File> files_;
  std::vector<NamePattern> patterns_;
  const Format* stdout_format_ = nullptr;  // the drawing, unless another is asked for
  double file_bytes_ = 0.0;                // an estimate, of the weights of all results until now
  bool stdout_is_open_ = true;
  bool committed_ = false;
  bool is_first_ = true;
  Look stdout_look_;  // asked for once: a window may change its size meanwhile
  Look file_look_;
  std::exception_ptr stdout_failure_;
};

// When a deep model is drawn as an overview: all of its heads small, the most informative one
// large. When attention is drawn as lines between tokens, and of which heads.

/// More heads than these, of several layers, are drawn as an overview: as panels with labels they
/// would be too small to read, or too many to look at.
constexpr std::size_t kMostHeadsAsPanels = 12;

/// Whether the heads are drawn as an overview: several layers and more than kMostHeadsAsPanels
/// heads, when nothing was said of which heads, of means or of one token, and a picture or a
/// drawing is written. The masks of --style mask are drawn once each anyway.
bool draws_overview(const std::vector<HeadId>& heads, const HeadOptions& asked,
                    const PatternOptions& pattern, StyleChoice style, const Outputs& outputs);

/// Patterns that are kept, as they are shown: as an overview one document that draws_overview() and
/// that was not drawn otherwise before, unless it has no attention weights; as lines, of more heads
/// than one picture tells apart those of the most informative one, where none were chosen; all else
/// as panels. Throws as arcs_figure(), and Error{kUsage} for the lines of too many heads or of
/// scores.
ShownAttention shown_attention(std::span<const AttentionDocument> documents,
                               const HeadOptions& asked, const PatternOptions& pattern,
                               StyleChoice style, const Outputs& outputs);

/// The head that a page shows first, and why: the most informative one, where there are weights of
/// heads to judge.
std::optional<FirstShown> first_shown(const ShownAttention& shown);

/// Says which options of the drawing change nothing where it goes.
void warn_unused_drawing(const Outputs& outputs, const DrawingOptions& drawing,
                         const Verbosity& verbosity);

/// The same where one token's attention is drawn as bars, which have a scale of their own.
void warn_unused_of_bars(const ShownAttention& shown, const Outputs& outputs,
                         Diagnostics& diagnostics);

/// The same of --no-special where no document has such tokens.
void note_nothing_special(std::span<const AttentionDocument> documents, Diagnostics& diagnostics);

/// Whether the style asks for lines, and a picture or a drawing is written.
bool writes_arcs(StyleChoice style, const Outputs& outputs);

}  // namespace attnviz::app
