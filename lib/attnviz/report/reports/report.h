// The report of a command, independent of a medium. A terminal, JSON, CSV, a page and a picture
// each render its blocks without knowing which report it is. Any report as a JSON document, and its
// numbers as comma-separated rows. Cells of comma-separated tables.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "attnviz/color/colormap.h"
#include "attnviz/core/mapped_file.h"
#include "attnviz/report/heatmap.h"
#include "attnviz/report/json/datum.h"
#include "attnviz/report/lessons/line_chart.h"
#include "attnviz/report/patterns/focus_bars.h"
#include "attnviz/report/run_facts.h"

namespace attnviz {

enum class Emphasis { kPlain, kStrong, kQuiet };

/// Formats the numbers of a column.
using ColumnFormat = std::string (*)(double number);

/// A bar beside each number of a column.
struct ColumnBars {
  double whole = 1.0;        // the value of the longest bar, above 0
  std::size_t columns = 12;  // width of the longest bar, on a terminal
  bool below_zero = false;   // colours numbers below 0 instead of those above; the others are grey
  Colormap colormap = {};    // on a terminal
};

/// One column of a table: its cells for programs, and their format for people.
struct Column {
  std::string key = {};           // in JSON and CSV; empty: only for people
  std::string heading = {};       // for people
  ColumnFormat format = nullptr;  // absent: the shortest digits
  std::optional<ColumnBars> bars = {};
  bool bars_alone = false;  // hides the numbers from people
  Emphasis emphasis = Emphasis::kPlain;
  bool for_programs = false;     // hidden from people
  bool are_words = false;        // our own words, which CSV need not quote
  bool are_tokens = false;       // texts are pieces of a text, with visible blanks
  bool to_right = false;         // aligns texts to the right, like numbers
  bool fits_line = false;        // cuts texts to the rest of a line, else they continue below
  std::size_t most_columns = 0;  // cuts texts to this many of a terminal's 80; 0: no limit
  bool with_previous = false;    // stays beside the column before it if the table is folded
  bool is_optional = false;      // JSON omits null cells
  std::string null = "–";        // for people
  std::vector<Datum> cells = {};
};

/// A row for people alone, below the others, with a cell for each column that they see, or fewer.
struct ExtraRow {
  std::vector<Datum> cells;
  Emphasis emphasis = Emphasis::kPlain;
};

/// A table with a cell in every row and column. The first visible column names the rows.
struct Table {
  std::vector<Column> columns;
  std::optional<std::vector<std::size_t>> shown =
      {};                               // rows for people, in this order; absent: all
  std::string left_out = {};            // the rows not shown: "4 more heads"
  std::vector<Emphasis> emphasis = {};  // of rows; empty: all plain
  std::vector<ExtraRow> extra_rows = {};
  bool has_headings = true;
  bool cuts_names = true;  // cuts long row names to leave room for the other columns
  std::size_t indent = 0;

  std::size_t n_rows() const noexcept { return columns.empty() ? 0 : columns.front().cells.size(); }
};

struct Heading {
  std::string text;
};

/// Sentences. Foreign text need not be escaped: each medium does that.
struct Paragraph {
  std::string text;
  Emphasis emphasis = Emphasis::kPlain;
  std::size_t indent = 0;  // columns of a terminal
  std::string aside = {};  // a quiet remark after the text
};

/// Space between groups of blocks.
struct Gap {};

/// A piece of the text.
struct StripPiece {
  std::string text;
  std::optional<float> share = {};  // shade, 0 to 1; absent: not shaded
  std::string mark = {};            // "[1]", before it
  bool is_close = false;            // no blank before it
  std::size_t lines_before = 0;     // line ends: 2 or more are an empty line
};

/// The text itself, shaded. Without colours, shaded pieces are bold, or the strip is not drawn
/// (needs_color).
struct Strip {
  std::vector<StripPiece> pieces;
  Colormap colormap = Colormap("blues");
  bool needs_color = false;
};

struct BarsFigure {
  Heatmap heatmap;
  BarsSubject subject;
};

/// A picture of some of the numbers.
struct Figure {
  std::variant<Heatmap, BarsFigure, ChartFigure> drawing;
  bool on_screen = true;  // also on a terminal
  std::size_t rows = 8;   // of a chart on a terminal
};

using Block = std::variant<Paragraph, Heading, Gap, Table, Strip, Figure>;

struct Report {
  std::string schema = {};              // "attnviz.why/1"
  std::string title = {};               // may be empty
  std::vector<std::string> notes = {};  // notes on the model and the run
  Record members = {};                  // of the JSON document, after `schema`
  std::vector<Block> blocks = {};       // for people
  std::optional<Table> numbers = {};    // for CSV; absent: the first table with keys
  std::size_t json_indent = 0;

  void add(std::string_view key, Datum value) { members.add(key, std::move(value)); }
  void say(std::string text, Emphasis emphasis = Emphasis::kPlain, std::size_t indent = 0);
  void draw(Block block) { blocks.push_back(std::move(block)); }
};

/// A report whose JSON document begins with the model, the run and the notes.
Report begin_report(std::string schema, std::string title, const ModelFacts& model,
                    const RunFacts& run, std::vector<std::string> notes);

/// Shows people only the map; the output for programs stays the same.
void show_only(Report& report, Heatmap map);

/// The report's picture: its first figure; null if it has none.
const Figure* picture_of(const Report& report) noexcept;

/// The rows of the report's CSV; null if it has none.
const Table* numbers_of(const Report& report) noexcept;

/// Builds a table from rows: `of` extracts each column's value from a row.
template <class Row>
class TableOf {
 public:
  explicit TableOf(const std::vector<Row>& rows) : rows_(rows) {}

  /// `of`: a member of Row, or a function of it.
  TableOf& column(Column column, const auto& of) {
    column.cells.reserve(rows_.size());
    for (const Row& row : rows_) {
      column.cells.emplace_back(std::invoke(of, row));
    }
    table_.columns.push_back(std::move(column));
    return *this;
  }
  /// A column for programs alone.
  TableOf& data(const std::string& key, const auto& of) {
    return column({.key = key, .for_programs = true}, of);
  }
  Table take() { return std::move(table_); }

 private:
  const std::vector<Row>& rows_;
  Table table_;
};

/// Shows people the first `top` rows (0: all), and the number of the others, named by `more`: "more
/// head".
void show_first(Table& table, std::size_t top, std::string_view more);

/// The rows that people see, in order.
std::vector<std::size_t> shown_rows(const Table& table);

/// The length of a cell's bar, 0 to 1: 0 for a cell without a number, and for one that its column
/// rounds to 0, because only the number shows the sign.
double bar_share(const Column& column, const Datum& cell);
/// Whether that bar is coloured instead of grey. Precondition: the column has bars.
bool has_colored_bar(const Column& column, const Datum& cell);

/// The text of a cell for people, not yet escaped.
std::string shown_text(const Column& column, const Datum& cell);

/// Rows for programs, as records of the columns with keys. `rows`: which ones; null: all.
Datum records(const Table& table, const std::vector<std::size_t>* rows = nullptr);

/// The `top` (0: all) indices from 0 to `count` - 1 with the largest `size_of`, in falling order.
std::vector<std::size_t> largest_rows(std::size_t count, std::size_t top, const auto& size_of) {
  std::vector<std::size_t> rows(count);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  std::ranges::stable_sort(rows, std::greater(), size_of);
  rows.resize(top == 0 ? count : std::min(top, count));
  return rows;
}

/// The value of the longest bar: the size of the first of largest_rows(), or 1 if it is 0.
double largest_of(const std::vector<std::size_t>& rows, const auto& size_of) {
  const double largest = rows.empty() ? 0.0 : size_of(rows.front());
  return largest > 0.0 ? largest : 1.0;
}

/// Writes one object: "schema", and the report's members.
void write_report_json(const Report& report, const ByteSink& sink);

/// Writes numbers_of(report) as comma-separated rows (RFC 4180, but with line feeds at the ends of
/// lines) under their keys; writes nothing if the report has none.
void write_report_csv(const Report& report, const ByteSink& sink);

/// A text in double quotes, following RFC 4180. Control characters are made visible as in
/// printable_message(), because a table may go to a terminal, which must not obey them.
std::string csv_text(std::string_view text);

/// The shortest decimals that read back to the same number; empty if absent.
std::string csv_number(const std::optional<double>& number);

}  // namespace attnviz
