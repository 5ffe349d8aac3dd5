// Any report as a JSON document, and its numbers as comma-separated rows.
#pragma once

#include "attnviz/core/byte_sink.h"
#include "attnviz/document/report/report.h"

namespace attnviz {

/// One object: "schema", and the report's members.
void write_report_json(const Report& report, const ByteSink& sink);

/// Comma-separated rows of numbers_of(report) (RFC 4180 but for line feeds at the ends of lines),
/// under their keys; nothing where it has none.
void write_report_csv(const Report& report, const ByteSink& sink);

}  // namespace attnviz
