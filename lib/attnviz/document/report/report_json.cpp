#include "attnviz/document/report/report_json.h"

#include <fmt/core.h>

#include <string>
#include <type_traits>
#include <variant>

#include "attnviz/formats/csv.h"

namespace attnviz {

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

}  // namespace attnviz
