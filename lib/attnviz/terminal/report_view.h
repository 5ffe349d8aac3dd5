// Any report on a terminal.
#pragma once

#include "attnviz/core/byte_sink.h"
#include "attnviz/document/report/report.h"
#include "attnviz/terminal/page/page.h"
#include "attnviz/terminal/page/terminal_options.h"

namespace attnviz {

/// The report in lines of at most options.columns (at least those of wide_enough()).
Page report_page(const Report& report, const TerminalOptions& options);

/// The report as JSON, or as that page.
void write_report(const Report& report, bool as_json, const TerminalOptions& options,
                  const ByteSink& sink);

}  // namespace attnviz
