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

void write_members(JsonWriter& json, const Record& record) {
  for (const Member& member : record) {
    if (!member.key.empty()) {
      json.key(member.key);
    }
    write_datum(json, member.value);
  }
}

}  // namespace

void write_datum(JsonWriter& json, const Datum& datum) {
  std::visit(
      [&json](const auto& held) {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, std::monostate>) {
          json.null();
        } else if constexpr (std::is_same_v<Held, WriteValue>) {
          held(json);
        } else if constexpr (std::is_same_v<Held, Datum::List>) {
          json.begin_array();
          for (const Datum& item : held) {
            write_datum(json, item);
          }
          json.end_array();
        } else if constexpr (std::is_same_v<Held, Record>) {
          json.begin_object();
          write_members(json, held);
          json.end_object();
        } else {
          json.value(held);
        }
      },
      datum.held);
}

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
