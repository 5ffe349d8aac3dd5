#include "attnviz/terminal/tour_page.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "attnviz/core/utf8.h"
#include "attnviz/document/words/number_formats.h"
#include "attnviz/terminal/page/page.h"
#include "attnviz/terminal/page/paragraph.h"
#include "attnviz/terminal/views.h"

namespace attnviz {

namespace {

constexpr std::size_t kWidestTour = 100;     // longer lines are hard to read
constexpr std::size_t kMostTourLines = 22;   // of the 24 of a terminal, two are the prompt's
constexpr std::size_t kColumnsOfLines = 80;  // narrower screens are as long as they get

TerminalOptions readable(TerminalOptions options) {
  options.columns = std::min(options.columns, kWidestTour);
  options.style =
      options.style == TerminalStyle::kAscii ? TerminalStyle::kAscii : TerminalStyle::kBlocks;
  return options;
}

// No line ends between a number and its percent sign: a space that is none to wrap().
constexpr std::string_view kSpaced = " %";
constexpr std::string_view kGlued = "\u00A0%";

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

bool always(const Tour& /*tour*/) {
  return true;
}
bool is_causal(const Tour& tour) {
  return tour.is_causal;
}
bool has_specialists(const Tour& tour) {
  return tour.previous.found || tour.induction.found || tour.pronoun.found;
}

struct Lesson {
  const char* title;
  void (*write)(TourPage& page);
  bool (*is_there)(const Tour& tour);
  const char* why_not = "";
};

constexpr Lesson kLessons[kTourScreens] = {
    {"Tokens and embeddings", tour_tokens, always},
    {"Query, key and value", tour_vectors, always},
    {"q·k, scaling and softmax", tour_scores, always},
    {"The causal mask", tour_mask, is_causal,
     "in this model tokens see those behind them, too: it has no such mask"},
    {"Heads that specialise", tour_heads, has_specialists,
     "this model has no head that looks at the token before, none that continues what came once "
     "(induction), and none that finds what \"it\" stands for, as far as the tour's own sentences "
     "tell"},
    {"Temperature, and where to go next", tour_temperature, always},
};

std::vector<const Lesson*> lessons_of(const Tour& tour) {
  std::vector<const Lesson*> there;
  for (const Lesson& lesson : kLessons) {
    if (lesson.is_there(tour)) {
      there.push_back(&lesson);
    }
  }
  return there;
}

}  // namespace

std::vector<std::string_view> bare_pieces(const TokenizedText& text) {
  std::vector<std::string_view> pieces = text.pieces();
  for (std::string_view& piece : pieces) {
    if (piece.size() > 1 && piece.front() == ' ' && piece[1] != ' ') {
      piece.remove_prefix(1);
    }
  }
  return pieces;
}

TourPage::TourPage(const Tour& shown, const TerminalOptions& options,
                   const TourOptionNames& spelling, std::size_t fewer_rows)
    : tour(shown),
      option_names(spelling),
      style(readable(options)),
      names(bare_pieces(shown.text), style.charset.is_ascii()),
      fewer_rows_(fewer_rows),
      palette_(Colormap(), options.color) {}

std::size_t TourPage::rows(std::size_t most) const noexcept {
  return most > fewer_rows_ ? most - fewer_rows_ : 1;
}

void TourPage::paragraph(std::string_view text, const Style& text_style) {
  const std::string words = replaced(style.charset.formula(text), kSpaced, kGlued);
  for (const std::string& text_line : wrap(words, columns())) {
    page_.add(replaced(text_line, kGlued, kSpaced), text_style);
  }
}

void TourPage::table(Table shown) {
  Report report;
  report.draw(std::move(shown));
  page_.add(report_page(report, style.options));
}

void TourPage::vectors(const std::vector<VectorRow>& rows) {
  NumberGroup numbers;
  for (const VectorRow& row : rows) {
    numbers.add(row.values);
  }
  table(vector_table(style, rows, numbers, /*full=*/false));
}

Span TourPage::token_label(std::size_t token) const {
  return {names.indexed(token), token == tour.query() ? kBold : Style()};
}

std::vector<std::size_t> top_keys(std::span<const float> weights, std::vector<std::size_t> keys,
                                  std::size_t most) {
  if (keys.size() > most) {
    std::stable_sort(keys.begin(), keys.end(), [weights](std::size_t a, std::size_t b) {
      return weights[a] != weights[b] ? weights[a] > weights[b] : a > b;
    });
    keys.resize(most);
    std::sort(keys.begin(), keys.end());
  }
  return keys;
}

std::string largest_share(const TokenNames& names, std::span<const float> weights,
                          std::size_t query, int decimals, float sink) {
  const auto largest = std::max_element(weights.begin(), weights.end());
  const auto key = static_cast<std::size_t>(largest - weights.begin());
  const std::string who = names.quoted(query);
  const std::string whom = key == query ? std::string("itself") : names.quoted(key);
  const std::string share = percentage(*largest, decimals);
  const std::string sunk =
      sink > 0.0f ? fmt::format(", and {} to the learned sink", percentage(sink, decimals)) : "";
  if (std::count(weights.begin(), weights.end(), *largest) > 1) {
    return fmt::format("{} gives no token more than {}{}", who, share, sunk);
  }
  return sink > *largest
             ? fmt::format(
                   "{} leaves its largest share, {}, to the learned sink; of "
                   "the tokens {} gets most, {}",
                   who, percentage(sink, decimals), whom, share)
             : fmt::format("{} gives its largest share, {}, to {}{}", who, share, whom, sunk);
}

std::size_t tour_screens(const Tour& tour) {
  return lessons_of(tour).size();
}

std::vector<std::string> tour_left_out(const Tour& tour) {
  std::vector<std::string> left_out;
  for (const Lesson& lesson : kLessons) {
    if (!lesson.is_there(tour)) {
      left_out.push_back(
          fmt::format("without the screen \"{}\": {}", lesson.title, lesson.why_not));
    }
  }
  return left_out;
}

Page tour_screen(const Tour& tour, std::size_t screen, const TerminalOptions& options,
                 const TourOptionNames& names) {
  constexpr std::size_t kMostFewer = 4;
  const std::vector<const Lesson*> lessons = lessons_of(tour);
  const Lesson& lesson = *lessons[screen];
  Page shown;
  // Where long names take more lines of words, fewer are left to the tables.
  for (std::size_t fewer = 0; fewer <= kMostFewer; ++fewer) {
    TourPage page(tour, options, names, fewer);
    page.paragraph(fmt::format("{} of {}: {}{}", screen + 1, lessons.size(), lesson.title,
                               tour.is_random ? " (RANDOM WEIGHTS: they mean nothing)" : ""),
                   kBold);
    page.blank();
    lesson.write(page);
    shown = page.take();
    if (options.columns < kColumnsOfLines || shown.lines.size() <= kMostTourLines) {
      break;
    }
  }
  return shown;
}

}  // namespace attnviz
