#include "attnviz/report/reports/report.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/report/json/document_json.h"

namespace attnviz {

void Report::say(std::string text, Emphasis emphasis, std::size_t indent) {
  if (!text.empty()) {
    blocks.emplace_back(Paragraph{std::move(text), emphasis, indent});
  }
}

Report begin_report(std::string schema, std::string title, const ModelFacts& model,
                    const RunFacts& run, std::vector<std::string> notes) {
  Report report{.schema = std::move(schema), .title = std::move(title), .notes = std::move(notes)};
  report.members.add("model", model_record(model))
      .add_all(run_record(run))
      .add_if_any("notes", report.notes);
  return report;
}

void show_only(Report& report, Heatmap map) {
  report.title = map.title;
  report.notes.clear();
  report.blocks = {Figure{std::move(map)}};
}

const Figure* picture_of(const Report& report) noexcept {
  for (const Block& block : report.blocks) {
    if (const auto* const figure = std::get_if<Figure>(&block)) {
      return figure;
    }
  }
  return nullptr;
}

const Table* numbers_of(const Report& report) noexcept {
  if (report.numbers) {
    return &*report.numbers;
  }
  for (const Block& block : report.blocks) {
    const auto* const table = std::get_if<Table>(&block);
    if (table != nullptr && std::ranges::any_of(table->columns, [](const Column& column) {
          return !column.key.empty();
        })) {
      return table;
    }
  }
  return nullptr;
}

void show_first(Table& table, std::size_t top, std::string_view more) {
  const std::size_t n_rows = table.n_rows();
  if (top == 0 || top >= n_rows) {
    return;
  }
  table.shown.emplace(top);
  std::iota(table.shown->begin(), table.shown->end(), std::size_t{0});
  table.left_out = counted(n_rows - top, more);
}

std::vector<std::size_t> shown_rows(const Table& table) {
  if (table.shown) {
    return *table.shown;
  }
  std::vector<std::size_t> rows(table.n_rows());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  return rows;
}

double bar_share(const Column& column, const Datum& cell) {
  const double number = cell.number().value_or(0.0);
  const bool is_seen = column.format == nullptr || column.format(number) != column.format(0.0);
  const double share = std::abs(number) / column.bars->whole;
  return is_seen && share > 0.0 ? std::min(share, 1.0) : 0.0;  // no bar for NaN
}

bool has_colored_bar(const Column& column, const Datum& cell) {
  return (cell.number().value_or(0.0) < 0.0) == column.bars->below_zero;
}

std::string shown_text(const Column& column, const Datum& cell) {
  if (cell.is_null()) {
    return column.null;
  }
  if (const auto number = cell.number()) {
    return column.format != nullptr ? column.format(*number) : fmt::format("{}", *number);
  }
  if (const bool* const flag = std::get_if<bool>(&cell.held)) {
    return *flag ? "yes" : "no";
  }
  const std::string* const text = cell.text();
  return text != nullptr ? *text : std::string();
}

Datum records(const Table& table, const std::vector<std::size_t>* rows) {
  Datum::List list;
  const std::size_t count = rows != nullptr ? rows->size() : table.n_rows();
  for (std::size_t i = 0; i < count; ++i) {
    Record record;
    for (const Column& column : table.columns) {
      const Datum& cell = column.cells[rows != nullptr ? (*rows)[i] : i];
      if (!column.key.empty() && !(column.is_optional && cell.is_null())) {
        record.add(column.key, cell);
      }
    }
    list.emplace_back(std::move(record));
  }
  return list;
}

namespace {

std::string csv_cell(const Column& column, const Datum& cell) {
  if (const std::string* const text = cell.text()) {
    return column.are_words ? *text : csv_text(*text);
  }
  return std::visit(
      [](const auto& held) -> std::string {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_arithmetic_v<Held>) {
          return fmt::format("{}", held);
        } else {
          return {};
        }
      },
      cell.held);
}

}  // namespace

void write_report_json(const Report& report, const ByteSink& sink) {
  JsonWriter json(sink, report.json_indent);
  json.begin_object();
  json.member("schema", report.schema);
  write_members(json, report.members);
  json.end_object();
  json.finish();
}

void write_report_csv(const Report& report, const ByteSink& sink) {
  const Table* const table = numbers_of(report);
  if (table == nullptr) {
    return;
  }
  const auto write_row = [&](const auto& cell_of) {
    std::string row;
    for (const Column& column : table->columns) {
      if (!column.key.empty()) {
        row += (row.empty() ? "" : ",") + cell_of(column);
      }
    }
    sink(row + "\n");
  };
  write_row([](const Column& column) { return column.key; });
  for (std::size_t i = 0; i < table->n_rows(); ++i) {
    write_row([i](const Column& column) { return csv_cell(column, column.cells[i]); });
  }
}

std::string csv_text(std::string_view text) {
  std::string cell = "\"";
  for (const char c : printable_message(text)) {
    cell += c;
    if (c == '"') {
      cell += c;
    }
  }
  return cell + '"';
}

std::string csv_number(const std::optional<double>& number) {
  return number ? fmt::format("{}", *number) : "";
}

}  // namespace attnviz
