// All output of a command's result: files by format, and standard output.
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

/// The possible outputs of a command, their destinations and their looks.
struct OutputPlan {
  Result result;
  const OutputOptions& options;
  const LookOptions& look;
  const Verbosity& verbosity;
  const FontSet& fonts;                           // as open_fonts() gives them
  std::vector<std::filesystem::path> read_files;  // must not be overwritten
  bool many_results = false;                      // one after another
  bool side_by_side = false;                      // several patterns for each head
};

/// The size of a result in weights.
struct ExpectedOutput {
  std::size_t n_patterns = 0;
  std::size_t n_tokens = 0;
  double n_visible = 0.0;  // weights that no mask hides, in all patterns
};

/// Writes a command's result in a format.
using Export = std::function<void(const Format& format, const Look& look, const ByteSink& sink)>;

class Outputs {
 public:
  /// Opens every file. Warns, unless quiet, about figure options when no figure is written; this is
  /// not an error, because the options may come from an alias. Throws Error{kUsage} if a format is
  /// unknown, cannot hold the results or cannot go to its destination, and Error{kIo} if a file
  /// cannot be opened.
  explicit Outputs(OutputPlan plan);
  Outputs(const Outputs&) = delete;
  Outputs& operator=(const Outputs&) = delete;

  /// Whether anything is written in this format, including the drawing on standard output.
  bool writes(const Format& format) const;
  /// As above, for any format with this content.
  bool writes(Content content) const;

  /// Call before each of many results: `line` and `text` make its heading and the names of files
  /// with {line}, which are opened now. Throws as the constructor does.
  void begin_result(std::size_t line, std::string_view text);

  /// Call before each result. Throws Error{kUsage} if a page would hold too many weights; and,
  /// without --force, if the weights would take more than 10 GB on standard output and, with those
  /// of all earlier results, in files.
  void check_output_size(const ExpectedOutput& weights);

  /// The look of this format for each destination that it is written to.
  std::vector<Look> looks(const Format& format) const;
  /// The text's line in a file of many texts, counted from 1; 0: no such file.
  std::size_t line() const noexcept { return file_look_.line; }

  /// Whether rows are written to a terminal while they are computed.
  bool streams_to_screen() const;

  /// A sink for everything that is written in this format: files, and standard output unless its
  /// reader is gone. Replaces write() for results that come piece by piece. Throws as write() does,
  /// but errors of standard output only after the files have their names.
  ByteSink all(const Format& format);

  /// Writes a result to the files, which take their names unless more results follow, and to
  /// standard output. Throws what `write` throws, Error{kIo} if a write fails, and ClosedPipe.
  /// While files are still to be finished, neither is thrown for standard output: finish() then
  /// throws its Error.
  void write(const Export& write);
  void write(const ShownAttention& shown);
  void write(const Report& report);

  /// Call after many results: the files take their names.
  void finish();

 private:
  struct File {
    File(const Format& how, const std::filesystem::path& where, bool alone)
        : format(&how), file(where), is_of_one_result(alone) {}
    const Format* format;
    OutputFile file;
    bool is_of_one_result;
  };
  // A name with {line}, for a file for each result.
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
  const Format* stdout_format_ = nullptr;  // the drawing by default
  double file_bytes_ = 0.0;                // estimate for the weights of all results so far
  bool stdout_is_open_ = true;
  bool committed_ = false;
  bool is_first_ = true;
  Look stdout_look_;  // determined once: a window may be resized
  Look file_look_;
  std::exception_ptr stdout_failure_;
};

// Decides when a deep model is drawn as an overview, with all heads small and the most informative
// one large; and when attention is drawn as lines between tokens, and for which heads.

/// Beyond this number, heads of several layers are drawn as an overview: as labelled panels they
/// would be too small to read, or too many to look at.
constexpr std::size_t kMostHeadsAsPanels = 12;

/// Whether the heads are drawn as an overview: more than kMostHeadsAsPanels heads of several
/// layers, if neither heads, means nor one token were chosen, and a picture or a drawing is
/// written. Never with --style mask, which draws each mask only once.
bool draws_overview(const std::vector<HeadId>& heads, const HeadOptions& asked,
                    const PatternOptions& pattern, StyleChoice style, const Outputs& outputs);

/// Chooses the figure of kept patterns: an overview for one document if draws_overview() and it has
/// weights to judge; lines if the style asks for them, of the most informative head if there are
/// too many for one picture and none were chosen; maps of the heads for one token in many heads of
/// several layers; panels in all other cases. Throws as arcs_figure(), and Error{kUsage} for lines
/// of too many heads or of scores.
ShownAttention shown_attention(std::span<const AttentionDocument> documents,
                               const HeadOptions& asked, const PatternOptions& pattern,
                               StyleChoice style, const Outputs& outputs);

/// The head that a page shows first, and why: for attention weights the most informative one, for a
/// comparison the one that changes most, else nothing.
std::optional<FirstShown> first_shown(const ShownAttention& shown);

/// Warns about drawing options that change nothing in the outputs.
void warn_unused_drawing(const Outputs& outputs, const DrawingOptions& drawing,
                         const Verbosity& verbosity);

/// Warns about options without effect on bars of one token's attention, which have their own scale.
void warn_unused_of_bars(const ShownAttention& shown, const Outputs& outputs,
                         Diagnostics& diagnostics);

/// Warns about --no-special if no document has tokens that the tokenizer added.
void note_nothing_special(std::span<const AttentionDocument> documents, Diagnostics& diagnostics);

/// Whether lines are drawn: the style asks for them, and a picture or a drawing is written.
bool writes_arcs(StyleChoice style, const Outputs& outputs);

}  // namespace attnviz::app
