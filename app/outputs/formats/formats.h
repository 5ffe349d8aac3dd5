// The formats that results are written in: a row for each, of what it holds and who writes it.
// Attention as it is shown: what every format is written from.
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

#include "attnviz/analysis/pooled_patterns.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/core/choices.h"
#include "attnviz/core/mapped_file.h"
#include "attnviz/model/model.h"
#include "attnviz/page/explorer.h"
#include "attnviz/picture/layout/figure_style.h"
#include "attnviz/report/attention_document.h"
#include "attnviz/report/attention_heatmap.h"
#include "attnviz/report/figures.h"
#include "attnviz/report/heatmap.h"
#include "attnviz/report/lessons/line_chart.h"
#include "attnviz/report/patterns/focus_bars.h"
#include "attnviz/report/reports/report.h"
#include "attnviz/report/steps/inspection_document.h"
#include "attnviz/terminal/page/page.h"
#include "attnviz/terminal/page/terminal_options.h"
#include "attnviz/text/tokenized_text.h"

namespace attnviz::app {

/// What is drawn of attention: a panel for each head, one token's bars, every head small and one
/// large, lines between tokens.
using AttentionFigure = std::variant<Heatmap, BarsFigure, Overview, ArcsFigure>;

/// Its panels, those of an overview the small ones; null where it has none.
const Heatmap* panels_of(const AttentionFigure& figure) noexcept;

/// Documents, and the figure of them.
class ShownAttention {
 public:
  /// Of panels, or of bars where one token is in focus, which are made when they are first asked
  /// for. `documents`, at least one, must outlive it; several stand side by side.
  explicit ShownAttention(std::span<const AttentionDocument> documents) : documents_(documents) {}
  ShownAttention(std::span<const AttentionDocument> documents, AttentionFigure figure)
      : documents_(documents), figure_(std::move(figure)) {}

  std::span<const AttentionDocument> documents() const noexcept { return documents_; }
  const AttentionDocument& first() const { return documents_.front(); }

  /// A line that the panels' legend begins with, and the head whose cell it speaks of, if any.
  void set_remark(std::string remark, std::optional<InformativeHead> of = {}) {
    remark_ = std::move(remark);
    remarked_ = of;
  }

  /// What a page has beside them; its views must outlive this.
  const ExplorerExtras& extras() const noexcept { return extras_; }
  void set_extras(ExplorerExtras extras) { extras_ = std::move(extras); }

  /// Throws as attention_heatmap().
  const AttentionFigure& figure() const;
  /// Throws what figure() throws where it may throw, for formats that hold no picture: nothing is
  /// written of what cannot be drawn as it was asked for.
  void check_drawing() const;

 private:
  std::span<const AttentionDocument> documents_;
  ExplorerExtras extras_;
  std::string remark_;
  std::optional<InformativeHead> remarked_;
  mutable std::optional<AttentionFigure> figure_;
};

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
  OverviewCells (*cells)(const AttentionFigure& figure, const Look& look) = nullptr;

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
