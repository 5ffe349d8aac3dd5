// Pages for a browser: attention to explore, and any report. One file that needs nothing else.
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
  std::size_t token = 0;    // that is picked: what it looks at
  std::string reason = {};  // in words; may be empty
  bool as_key = false;      // of the token: who looks at it
};

/// What a page has beside the documents.
struct ExplorerExtras {
  ShellCommand command = {};                  // that computes the same
  const TokenizedText* text = nullptr;        // the documents' tokens with their places in it
  std::optional<FirstShown> first = {};       // absent: the first head, the last token
  std::span<const Inspection> followed = {};  // heads whose queries, keys and values are known
  bool live = false;  // with the embedded model, which then runs in the page
};

/// More weights than these do not fit a page.
constexpr std::size_t kMostPageWeights = 48'000'000;

/// Writes one HTML document, which asks for nothing from elsewhere and runs no script but its own.
/// All tokens are data, never markup. Weights of some hundred thousand numbers are exact floats;
/// more are codes of 16 or 8 bits, beside the exact floats of the chosen head where these are few.
/// The page says which.
///
/// `documents`: at least one, of one shape and the same heads, with their weights. Throws
/// Error{kUsage} for more than kMostPageWeights, and for scores.
void write_explorer(std::span<const AttentionDocument> documents, const ExplorerExtras& extras,
                    const ByteSink& sink);

// Any report as a page for a browser.

/// Writes one HTML document, as write_explorer() does: prose that wraps, tables whose columns sort
/// them, shaded text and figures.
/// Figures are SVG documents in `style`, one for light pages and one for dark ones, shown as
/// images, which run nothing.
void write_report_html(const Report& report, const FigureStyle& style, const ByteSink& sink);

}  // namespace attnviz
