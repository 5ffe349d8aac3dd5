// Pages for a browser, to explore attention or show any report. One file that needs nothing else.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "attnviz/analysis/inspection.h"
#include "attnviz/core/mapped_file.h"
#include "attnviz/picture/layout/figure_style.h"
#include "attnviz/report/attention_document.h"
#include "attnviz/report/report_requests.h"
#include "attnviz/report/reports/report.h"
#include "attnviz/text/tokenized_text.h"

namespace attnviz {

/// What a page shows first.
struct FirstShown {
  HeadId head;
  std::size_t token = 0;    // the selected token, as a query
  std::string reason = {};  // in words; may be empty
  bool as_key = false;      // the token as a key instead: queries that attend to it
};

/// The contents of a page beside the documents.
struct ExplorerExtras {
  ShellCommand command = {};                  // that computes the same
  const TokenizedText* text = nullptr;        // the documents' tokens with their positions in it
  std::optional<FirstShown> first = {};       // absent: the first head, the last token
  std::span<const Inspection> followed = {};  // heads whose queries, keys and values are known
  bool live = false;  // with the embedded model, which then runs in the page
};

/// The largest number of weights in a page.
constexpr std::size_t kMostPageWeights = 48'000'000;

/// Writes one HTML document, which loads nothing from elsewhere and runs only its own script. All
/// tokens are data, never markup. Up to some hundred thousand weights are stored as exact floats;
/// more become codes of 16 or 8 bits, beside the exact floats of the chosen head if these are few.
/// The page says which.
///
/// `documents`: at least one, of one shape and the same heads, with their weights. Throws
/// Error{kUsage} for more than kMostPageWeights, and for scores.
void write_explorer(std::span<const AttentionDocument> documents, const ExplorerExtras& extras,
                    const ByteSink& sink);

// Any report as a page for a browser.

/// Writes one HTML document, as write_explorer() does: prose that wraps, tables that can be sorted
/// by column, shaded text and figures. Figures are SVG documents in `style`, one for light pages
/// and one for dark ones, shown as images, which cannot run scripts.
void write_report_html(const Report& report, const FigureStyle& style, const ByteSink& sink);

}  // namespace attnviz
