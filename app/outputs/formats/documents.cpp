// Formats that hold numbers: JSON documents and NumPy arrays.
#include <array>
#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/attention/head_selection.h"
#include "attnviz/attention/row_stream.h"
#include "attnviz/core/error.h"
#include "attnviz/document/json/attention_json.h"
#include "attnviz/document/json/inspection_json.h"
#include "attnviz/document/report/report_json.h"
#include "attnviz/formats/json_numbers.h"
#include "attnviz/formats/npy.h"
#include "outputs/formats/formats.h"

namespace attnviz::app {

namespace {

constexpr double kNumberAsText = 14.0;
constexpr double kZeroAsText = 5.0;

// What stands before the weights in a NumPy array of the document's patterns, which must be a
// rectangle of layers and heads.
std::string npy_header_of(const AttentionDocument& document) {
  const std::vector<HeadId> heads = heads_of(document);
  if (!is_rectangle(heads)) {
    throw Error(ErrorKind::kUsage,
                "--head: an .npy array needs the same heads of every layer; choose a rectangle, or "
                "write .json");
  }
  std::set<std::size_t> layers;
  for (const HeadId head : heads) {
    layers.insert(head.layer);
  }
  const std::array shape = {layers.size(), heads.size() / layers.size(),
                            document.query_tokens.size(), document.key_tokens.size()};
  return npy_header(shape);
}

std::unique_ptr<RowStream> row_stream(const AttentionDocument& document, RowStream::Append append,
                                      RowStream::Take take) {
  return std::make_unique<RowStream>(heads_of(document), document.key_tokens.size(),
                                     std::move(append), std::move(take));
}

// A line for each document.
void write_attention_json(const ShownAttention& shown, const Look& look, const ByteSink& sink) {
  shown.check_drawing();
  for (const AttentionDocument& document : shown.documents()) {
    attnviz::write_attention_json(document, sink, look.line);
  }
}

void write_inspection_json(const ShownInspection& shown, const Look& /*look*/,
                           const ByteSink& sink) {
  attnviz::write_inspection_json(shown.model, shown.text, shown.page.heads, sink);
}

void write_report_json(const Report& report, const Look& /*look*/, const ByteSink& sink) {
  attnviz::write_report_json(report, sink);
}

void write_report_csv(const Report& report, const Look& /*look*/, const ByteSink& sink) {
  attnviz::write_report_csv(report, sink);
}

RowFile begin_json_rows(const AttentionDocument& document, std::size_t line, const ByteSink& sink) {
  const auto json = std::make_shared<AttentionJsonStream>(document, sink, line);
  return {row_stream(document, append_json_row,
                     [json](std::size_t n, std::string_view rows) { json->rows(n, rows); }),
          [json] { json->finish(); }};
}

// Of the first document.
void write_attention_npy(const ShownAttention& shown, const Look& /*look*/, const ByteSink& sink) {
  shown.check_drawing();
  sink(npy_header_of(shown.first()));
  for (const DocumentPattern& pattern : shown.first().patterns) {
    write_npy_values(pattern.weights, sink);
  }
}

void check_npy_rows(const AttentionDocument& document) {
  npy_header_of(document);
}

RowFile begin_npy_rows(const AttentionDocument& document, std::size_t /*line*/,
                       const ByteSink& sink) {
  sink(npy_header_of(document));
  return {row_stream(document, append_npy_row,
                     [sink](std::size_t /*n*/, std::string_view rows) { sink(rows); }),
          [] {}};
}

}  // namespace

Format json_format() {
  return {.word = "json",
          .content = Content::kDocument,
          .is_text = true,
          .attention = write_attention_json,
          .inspection = write_inspection_json,
          .report = write_report_json,
          .begin_rows = begin_json_rows,
          .row_bytes = 2.0 * kNumberAsText,  // made ready, and on the way
          .weight_bytes = kNumberAsText,
          .hidden_bytes = kZeroAsText};
}

Format npy_format() {
  return {.word = "npy",
          .content = Content::kNumbers,
          .is_text = false,
          .attention = write_attention_npy,
          .begin_rows = begin_npy_rows,
          .check_rows = check_npy_rows,
          .row_bytes = sizeof(float),
          .weight_bytes = sizeof(float),
          .hidden_bytes = sizeof(float)};
}

Format csv_format() {
  return {.word = "csv", .content = Content::kNumbers, .is_text = true, .report = write_report_csv};
}

}  // namespace attnviz::app
