// Numbers that are told in tables, as a page for a browser.
#pragma once

#include <string>

#include "attnviz/core/byte_sink.h"
#include "attnviz/terminal/page/page.h"

namespace attnviz {

/// What a page of a report has. SVG documents are shown as images, which run nothing.
struct ReportPage {
  std::string title;         // may be empty
  Page screen;               // as a terminal of full colour has it
  std::string csv;           // all numbers (RFC 4180, a heading first): a table that can be sorted
  std::string picture = {};  // SVG for light pages, and for dark ones; may be empty
  std::string dark_picture = {};
  std::string picture_text = {};  // for readers who do not see it
};

/// Writes one HTML document, as write_explorer() does.
void write_report(const ReportPage& report, const ByteSink& sink);

}  // namespace attnviz
