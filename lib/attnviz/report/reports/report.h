// What is said of a run, as a value without a medium. A terminal, JSON, CSV, a page and a picture
// each walk its blocks and know no report. Any report as a JSON document, and its numbers as
// comma-separated rows. Cells of comma-separated tables.
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

/// How numbers of one kind read.
using ColumnFormat = std::string (*)(double number);

/// A bar beside each number of a column.
struct ColumnBars {
  double whole = 1.0;        // what the longest bar stands for, above 0
  std::size_t columns = 12;  // of a terminal
  bool below_zero = false;   // numbers below 0 are the coloured ones, else those above; the
                             // others are grey
  Colormap colormap = {};    // of a terminal
};

/// One column of a table: its cells for programs, and how people read them.
struct Column {
  std::string key = {};           // in JSON and CSV; empty: for people alone
  std::string heading = {};       // for people
  ColumnFormat format = nullptr;  // absent: the shortest digits
  std::optional<ColumnBars> bars = {};
  bool bars_alone = false;  // people see no numbers beside them
  Emphasis emphasis = Emphasis::kPlain;
  bool for_programs = false;     // people do not see it
  bool are_words = false;        // our own, which CSV need not quote
  bool are_tokens = false;       // texts are pieces of a text, whose blanks are seen
  bool to_right = false;         // texts stand on the right, as numbers do
  bool fits_line = false;        // texts are cut to the rest of a line, else go on below
  std::size_t most_columns = 0;  // texts are cut to so many, of 80 of a terminal; 0: to no number
  bool with_previous = false;    // stays beside the column before it where a table is folded
  bool is_optional = false;      // JSON leaves out what is null
  std::string null = "–";        // for people
  std::vector<Datum> cells = {};
};

/// A row for people alone, below the others: a cell for each column that they see, or fewer.
struct ExtraRow {
  std::vector<Datum> cells;
  Emphasis emphasis = Emphasis::kPlain;
};

/// Rows that have a cell in every column. The first column that people see names the rows.
struct Table {
  std::vector<Column> columns;
  std::optional<std::vector<std::size_t>> shown =
      {};                               // rows for people, in this order; absent: all
  std::string left_out = {};            // of rows that are not shown: "4 more heads"
  std::vector<Emphasis> emphasis = {};  // of rows; empty: all plain
  std::vector<ExtraRow> extra_rows = {};
  bool has_headings = true;
  bool cuts_names = true;  // names of rows that are long are cut to leave room for the others
  std::size_t indent = 0;

  std::size_t n_rows() const noexcept { return columns.empty() ? 0 : columns.front().cells.size(); }
};

struct Heading {
  std::string text;
};

/// Sentences. What comes from elsewhere need not be escaped: a medium does that.
struct Paragraph {
  std::string text;
  Emphasis emphasis = Emphasis::kPlain;
  std::size_t indent = 0;  // columns of a terminal
  std::string aside = {};  // a quiet remark that follows on the same lines
};

/// Room between what belongs together.
struct Gap {};

/// A stretch of the text itself.
struct StripPiece {
  std::string text;
  std::optional<float> share = {};  // how dark it is shaded, 0 to 1; absent: not at all
  std::string mark = {};            // "[1]", before it
  bool is_close = false;            // no blank before it
  std::size_t lines_before = 0;     // line ends: 2 or more are an empty line
};

/// The text itself, shaded. Without colours what is shaded is bold, or nothing is drawn.
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
  bool on_screen = true;  // of a terminal, too
  std::size_t rows = 8;   // of a terminal, for a chart
};

using Block = std::variant<Paragraph, Heading, Gap, Table, Strip, Figure>;

struct Report {
  std::string schema = {};              // "attnviz.why/1"
  std::string title = {};               // may be empty
  std::vector<std::string> notes = {};  // what a reader must know of the model and of the run
  Record members = {};                  // of the JSON document, after its schema
  std::vector<Block> blocks = {};       // for people
  std::optional<Table> numbers = {};    // of CSV; absent: those of the first table with keys
  std::size_t json_indent = 0;

  void add(std::string_view key, Datum value) { members.add(key, std::move(value)); }
  void say(std::string text, Emphasis emphasis = Emphasis::kPlain, std::size_t indent = 0);
  void draw(Block block) { blocks.push_back(std::move(block)); }
};

/// A report whose document says what was run, and the notes.
Report begin_report(std::string schema, std::string title, const ModelFacts& model,
                    const RunFacts& run, std::vector<std::string> notes);

/// People see the map alone; programs get what they got before.
void show_only(Report& report, Heatmap map);

/// Its picture: the first figure; null where it has none.
const Figure* picture_of(const Report& report) noexcept;

/// The rows of its CSV; null where it has none.
const Table* numbers_of(const Report& report) noexcept;

/// Makes a table of rows: every column with what `of` takes from a row.
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
  /// For programs alone.
  TableOf& data(const std::string& key, const auto& of) {
    return column({.key = key, .for_programs = true}, of);
  }
  Table take() { return std::move(table_); }

 private:
  const std::vector<Row>& rows_;
  Table table_;
};

/// Shows people the first `top` rows (0: all), and how many `more` there are: "more head".
void show_first(Table& table, std::size_t top, std::string_view more);

/// The rows that people see, in order.
std::vector<std::size_t> shown_rows(const Table& table);

/// How long the bar of a cell is, 0 to 1: 0 where there is no number, and for one that its column
/// rounds to 0, for the sign is in the number.
double bar_share(const Column& column, const Datum& cell);
/// Whether that bar is coloured, else grey. Precondition: the column has bars.
bool has_colored_bar(const Column& column, const Datum& cell);

/// What people read in a cell of a column; texts are not yet escaped.
std::string shown_text(const Column& column, const Datum& cell);

/// Rows for programs: a record of the columns that have keys. `rows`: which ones; absent: all.
Datum records(const Table& table, const std::vector<std::size_t>* rows = nullptr);

/// The `top` rows (0: all) of 0 to `count` with the largest `size_of`, largest first.
std::vector<std::size_t> largest_rows(std::size_t count, std::size_t top, const auto& size_of) {
  std::vector<std::size_t> rows(count);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  std::ranges::stable_sort(rows, std::greater(), size_of);
  rows.resize(top == 0 ? count : std::min(top, count));
  return rows;
}

/// What the longest bar stands for: the size of the first of largest_rows(), or 1 where it is 0.
double largest_of(const std::vector<std::size_t>& rows, const auto& size_of) {
  const double largest = rows.empty() ? 0.0 : size_of(rows.front());
  return largest > 0.0 ? largest : 1.0;
}

/// One object: "schema", and the report's members.
void write_report_json(const Report& report, const ByteSink& sink);

/// Comma-separated rows of numbers_of(report) (RFC 4180 but for line feeds at the ends of lines),
/// under their keys; nothing where it has none.
void write_report_csv(const Report& report, const ByteSink& sink);

/// A text in double quotes, as RFC 4180 has it. A table may go to a terminal, which is to obey
/// nothing in it: control characters are made visible as in printable_message().
std::string csv_text(std::string_view text);

/// The shortest decimals that read back to the same number; empty where there is none.
std::string csv_number(const std::optional<double>& number);

}  // namespace attnviz
