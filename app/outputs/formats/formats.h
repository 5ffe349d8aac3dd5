// The formats that results are written in: a row for each, of what it holds and who writes it.
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

/// What a command may have to show.
enum class Result {
  kAttention,
  kInspection,
  kReport,      // tables, with a picture of some of their numbers
  kTextReport,  // tables alone
};

/// What of a result a format holds.
enum class Content {
  kFigure,    // a picture in a figure's style
  kScreen,    // a picture as text
  kDocument,  // all that was computed; a file may hold many, one after the other
  kNumbers,   // the weights alone
  kPage,      // what a reader points at: all that is drawn
};

/// How pictures look where they go.
struct Look {
  const FigureStyle& figure;
  TerminalOptions terminal;
  bool answer_alone = false;  // text says what is predicted, if anything is, and draws nothing
  std::string heading = {};   // of text, over each of many results; may be empty
  std::size_t line = 0;       // of the text in a file of many texts, from 1; 0: no such file
};

/// An inspection, and what it was made from.
struct ShownInspection {
  const InspectionPage& page;
  const Model& model;
  const TokenizedText& text;
  const ShellCommand& command;  // that follows it
};

/// Gives the report's figure the title and, where it has cells, the colour map that were asked for.
void draw_as_asked(Report& report, const DrawingRequest& drawing);

/// What is written of one text while its weights come.
struct RowFile {
  std::unique_ptr<PatternSink> sink;  // takes the rows of every head of the document
  std::function<void()> finish;       // once every row has come
};

struct Format {
  std::string_view word;  // "png": of --format, and the ending of names
  Content content;
  bool is_text;  // a terminal can show it

  /// Writers. Null where a format has no place for such a result.
  void (*attention)(const ShownAttention& shown, const Look& look, const ByteSink& sink) = nullptr;
  void (*inspection)(const ShownInspection& shown, const Look& look,
                     const ByteSink& sink) = nullptr;
  void (*report)(const Report& report, const Look& look, const ByteSink& sink) = nullptr;

  /// Of panels or an overview: how they are cut into cells, panels as thumbnails; looks at no
  /// weight.
  OverviewCells (*cells)(const ShownAttention& shown, const Look& look) = nullptr;

  /// Of a format that is written while weights come: writes what stands before them. The document,
  /// which need not have weights, must outlive the file. `line`: as in Look.
  RowFile (*begin_rows)(const AttentionDocument& document, std::size_t line,
                        const ByteSink& sink) = nullptr;
  /// Throws Error{kUsage} when the document's heads do not fit; null where all do.
  void (*check_rows)(const AttentionDocument& document) = nullptr;
  double row_bytes = 0.0;  // an estimate, for each weight on its way
  // Estimates, of each weight where all of them are written, and of each behind the mask.
  double weight_bytes = 0.0;
  double hidden_bytes = 0.0;

  bool takes(Result result) const noexcept {
    return result == Result::kAttention ? attention != nullptr
           : result == Result::kInspection
               ? inspection != nullptr
               : report != nullptr && (result == Result::kReport || content != Content::kFigure);
  }
};

/// The table, whose rows stand beside their writers.
std::span<const Format> all_formats();
Format png_format();
Format svg_format();
Format json_format();
Format npy_format();
Format csv_format();
Format text_format();
Format html_format();

/// Those that a result can be written in, by their words.
std::vector<Choice<const Format*>> formats_of(Result result);

/// Null where no format is called so.
const Format* find_format(std::string_view word);

}  // namespace attnviz::app
