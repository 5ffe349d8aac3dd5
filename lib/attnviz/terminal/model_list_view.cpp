#include "attnviz/terminal/model_list_view.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/document/words/large_numbers.h"
#include "attnviz/terminal/page/ansi.h"
#include "attnviz/terminal/page/paragraph.h"
#include "attnviz/terminal/page/terminal_options.h"

namespace attnviz {

namespace {

constexpr std::size_t kNarrowest = 40;
constexpr std::size_t kGap = 2;

constexpr std::array<std::string_view, 7> kHeadings = {"name", "family",         "params", "size",
                                                       "type", "layers x heads", "where"};
constexpr std::array<bool, 7> kToRight = {false, false, true, true, false, true, false};
using Row = std::array<std::string, kHeadings.size()>;

class Screen {
 public:
  Screen(const ModelList& list, const TerminalOptions& options)
      : list_(list),
        ascii_(options.style == TerminalStyle::kAscii),
        columns_(std::max(options.columns, kNarrowest)),
        bold_(options.color == ColorDepth::kNone ? "" : "1") {}

  std::string draw() {
    if (list_.models.empty()) {
      paragraph("no models found", {});
    } else {
      table();
      problems();
    }
    places();
    return std::move(out_);
  }

 private:
  std::string safe(std::string_view text) const { return safe_message(text, ascii_); }

  void line(std::string_view text, const std::string& style) {
    AnsiLine styled;
    styled.put(text, style);
    out_ += styled.finish() + '\n';
  }

  void paragraph(std::string_view text, std::string_view indent) {
    const std::vector<std::string> lines = wrap(safe(text), columns_ - indent.size());
    for (const std::string& piece : lines) {
      out_ += std::string(&piece == &lines.front() ? "" : indent) + piece + '\n';
    }
  }

  Row row_of(const ListedModel& model) const {
    Row row;
    row[0] = safe(model.name);
    row[1] = safe(model.problem.empty() ? model.family : "(unreadable)");
    row[2] = model.parameters ? rounded_count(*model.parameters) : "";
    row[3] = model.bytes ? rounded_bytes(*model.bytes) : "";
    row[4] = safe(model.quantisation);
    if (model.n_layers && model.n_heads) {
      row[5] = fmt::format("{} x {}", *model.n_layers, *model.n_heads);
    }
    row[6] = safe(model.store);
    return row;
  }

  // Where names are too long for all columns to fit, the long ones have a line of their own.
  void table() {
    std::vector<Row> rows;
    rows.reserve(list_.models.size());
    for (const ListedModel& model : list_.models) {
      rows.push_back(row_of(model));
    }
    std::array<std::size_t, kHeadings.size()> widths{};
    std::size_t rest = 0;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      widths[i] = kHeadings[i].size();
      for (const Row& row : rows) {
        widths[i] = std::max(widths[i], display_width(row[i]));
      }
      rest += i == 0 ? 0 : kGap + widths[i];
    }
    widths[0] =
        std::min(widths[0], std::max(columns_ - std::min(columns_, rest), kHeadings[0].size()));
    const auto put = [&](const Row& row, const std::string& style) {
      std::string text = pad_right(row[0], widths[0]);
      if (display_width(row[0]) > widths[0]) {
        line(row[0], style);
        text = std::string(widths[0], ' ');
      }
      for (std::size_t i = 1; i < row.size(); ++i) {
        text += std::string(kGap, ' ') +
                (kToRight[i] ? pad_left(row[i], widths[i]) : pad_right(row[i], widths[i]));
      }
      text.erase(text.find_last_not_of(' ') + 1);
      line(text, style);
    };
    Row headings;
    std::ranges::copy(kHeadings, headings.begin());
    put(headings, bold_);
    for (const Row& row : rows) {
      put(row, {});
    }
  }

  void problems() {
    for (const ListedModel& model : list_.models) {
      if (!model.problem.empty()) {
        out_ += '\n';
        paragraph(fmt::format("{} cannot be read: {}", model.name, model.problem), "  ");
      }
    }
  }

  void places() {
    out_ += '\n';
    line("looked in", bold_);
    for (const ModelList::Place& place : list_.places) {
      paragraph(fmt::format("{}: {}{}", place.store, place.path,
                            place.barred   ? " (you may not look there)"
                            : place.exists ? ""
                                           : " (not there)"),
                "  ");
    }
  }

  const ModelList& list_;
  bool ascii_;
  std::size_t columns_;
  std::string bold_;
  std::string out_;
};

}  // namespace

std::string render_model_list(const ModelList& list, const TerminalOptions& options) {
  return Screen(list, options).draw();
}

}  // namespace attnviz
