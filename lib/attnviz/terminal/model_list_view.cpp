#include "attnviz/terminal/model_list_view.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "attnviz/core/utf8.h"
#include "attnviz/document/words/large_numbers.h"
#include "attnviz/terminal/page/charset.h"
#include "attnviz/terminal/page/paragraph.h"

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
      : list_(list), charset_(options.style), columns_(std::max(options.columns, kNarrowest)) {}

  Page draw() {
    if (list_.models.empty()) {
      page_.add("no models found");
    } else {
      table();
      problems();
    }
    places();
    return std::move(page_);
  }

 private:
  // All lines but the first are indented.
  void item(std::string_view text) {
    constexpr std::size_t kIndent = 2;
    std::size_t indent = 0;
    for (const std::string& piece : wrap(charset_.sentence(text), columns_ - kIndent)) {
      page_.add(std::string(indent, ' ') + piece);
      indent = kIndent;
    }
  }

  Row row_of(const ListedModel& model) const {
    Row row;
    row[0] = charset_.sentence(model.name);
    row[1] = charset_.sentence(model.problem.empty() ? model.family : "(unreadable)");
    row[2] = model.parameters ? rounded_count(*model.parameters) : "";
    row[3] = model.bytes ? rounded_bytes(*model.bytes) : "";
    row[4] = charset_.sentence(model.quantisation);
    if (model.n_layers && model.n_heads) {
      row[5] = fmt::format("{} x {}", *model.n_layers, *model.n_heads);
    }
    row[6] = charset_.sentence(model.store);
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
    const auto put = [&](const Row& row, const Style& style = {}) {
      std::string text = pad_right(row[0], widths[0]);
      if (display_width(row[0]) > widths[0]) {
        page_.add(row[0], style);
        text = std::string(widths[0], ' ');
      }
      for (std::size_t i = 1; i < row.size(); ++i) {
        text += std::string(kGap, ' ') +
                (kToRight[i] ? pad_left(row[i], widths[i]) : pad_right(row[i], widths[i]));
      }
      text.erase(text.find_last_not_of(' ') + 1);
      page_.add(text, style);
    };
    Row headings;
    std::ranges::copy(kHeadings, headings.begin());
    put(headings, kBold);
    for (const Row& row : rows) {
      put(row);
    }
  }

  void problems() {
    for (const ListedModel& model : list_.models) {
      if (!model.problem.empty()) {
        page_.blank();
        item(fmt::format("{} cannot be read: {}", model.name, model.problem));
      }
    }
  }

  void places() {
    page_.blank();
    page_.add("looked in", kBold);
    for (const ModelList::Place& place : list_.places) {
      item(fmt::format("{}: {}{}", place.store, place.path,
                       place.barred   ? " (you may not look there)"
                       : place.exists ? ""
                                      : " (not there)"));
    }
  }

  const ModelList& list_;
  Charset charset_;
  std::size_t columns_;
  Page page_;
};

}  // namespace

Page model_list_page(const ModelList& list, const TerminalOptions& options) {
  return Screen(list, options).draw();
}

}  // namespace attnviz
