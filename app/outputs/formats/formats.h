// The formats of results: for each one, its content and its writers.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "attnviz/attention/pattern_sink.h"
#include "attnviz/core/choices.h"
#include "attnviz/core/mapped_file.h"
#include "attnviz/picture/layout/figure_style.h"
#include "attnviz/terminal/page/terminal_options.h"

namespace attnviz {

struct AttentionDocument;
struct DrawingRequest;
struct InspectionPage;
struct Model;
struct OverviewCells;
struct Report;
struct ShellCommand;
struct TokenizedText;

}  // namespace attnviz

namespace attnviz::app {

class ShownAttention;

/// The kind of result that a command has.
enum class Result {
  kAttention,
  kInspection,
  kReport,      // tables, with a picture of some of their numbers
  kTextReport,  // only tables
};

/// The content of a format.
enum class Content {
  kFigure,    // a picture in a figure's style
  kScreen,    // a picture as text
  kDocument,  // everything computed; a file may hold many in sequence
  kNumbers,   // the weights only
  kPage,      // everything drawn, to explore with the pointer
};

/// The look of pictures at their destination.
struct Look {
  const FigureStyle& figure;
  TerminalOptions terminal;
  bool answer_alone = false;  // text has only predictions, if any, without a drawing
  std::string heading = {};   // above each of many results in text; may be empty
  std::size_t line = 0;       // line in a file of many texts, from 1; 0: no such file
};

/// An inspection and its sources.
struct ShownInspection {
  const InspectionPage& page;
  const Model& model;
  const TokenizedText& text;
  const ShellCommand& command;  // reproduces it
};

/// Applies the chosen title and, for figures with cells, colour map to the report's figure.
void draw_as_asked(Report& report, const DrawingRequest& drawing);

/// Writes one text's output while its weights arrive.
struct RowFile {
  std::unique_ptr<PatternSink> sink;  // takes the rows of all heads of the document
  std::function<void()> finish;       // call after the last row
};

struct Format {
  std::string_view word;  // "png": the value of --format and the file extension
  Content content;
  bool is_text;  // a terminal can show it

  /// Writers; null if the format cannot hold the result.
  void (*attention)(const ShownAttention& shown, const Look& look, const ByteSink& sink) = nullptr;
  void (*inspection)(const ShownInspection& shown, const Look& look,
                     const ByteSink& sink) = nullptr;
  void (*report)(const Report& report, const Look& look, const ByteSink& sink) = nullptr;

  /// For panels or an overview: how they are divided into cells (panels as thumbnails). Reads no
  /// weights.
  OverviewCells (*cells)(const ShownAttention& shown, const Look& look) = nullptr;

  /// For a format that is written while weights arrive: writes the part before them. The document
  /// must outlive the file, but need not have weights. `line`: as in Look.
  RowFile (*begin_rows)(const AttentionDocument& document, std::size_t line,
                        const ByteSink& sink) = nullptr;
  /// Throws Error{kUsage} if the document's heads do not fit; null if all do.
  void (*check_rows)(const AttentionDocument& document) = nullptr;
  double row_bytes = 0.0;  // estimate for each weight in transit
  // Estimates for each weight if all are written: for visible ones, and for those hidden by the
  // mask.
  double weight_bytes = 0.0;
  double hidden_bytes = 0.0;

  bool takes(Result result) const noexcept {
    return result == Result::kAttention ? attention != nullptr
           : result == Result::kInspection
               ? inspection != nullptr
               : report != nullptr && (result == Result::kReport || content != Content::kFigure);
  }
};

/// The table of formats; each row is defined beside its writers.
std::span<const Format> all_formats();
Format png_format();
Format svg_format();
Format json_format();
Format npy_format();
Format csv_format();
Format text_format();
Format html_format();

/// The formats that can hold a result, by their words.
std::vector<Choice<const Format*>> formats_of(Result result);

/// Null if the word is not a format.
const Format* find_format(std::string_view word);

}  // namespace attnviz::app
