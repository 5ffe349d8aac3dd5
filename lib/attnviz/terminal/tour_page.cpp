#include "attnviz/terminal/tour_page.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "attnviz/attention/interventions.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/report/words/number_formats.h"
#include "attnviz/terminal/page/page.h"
#include "attnviz/terminal/page/text_table.h"
#include "attnviz/terminal/views.h"
#include "attnviz/text/tokenizers/prompt_lint.h"

namespace attnviz {

namespace {

constexpr std::size_t kWidestTour = 100;     // longer lines are hard to read
constexpr std::size_t kMostTourLines = 22;   // of a terminal's 24, two are for the prompt
constexpr std::size_t kColumnsOfLines = 80;  // narrower screens have no limit

TerminalOptions readable(TerminalOptions options) {
  options.columns = std::min(options.columns, kWidestTour);
  options.style =
      options.style == TerminalStyle::kAscii ? TerminalStyle::kAscii : TerminalStyle::kBlocks;
  return options;
}

// Keeps a number and its percent sign on one line: wrap() does not break at this space.
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
     "this model has no causal mask: its tokens also see later ones"},
    {"Heads that specialise", tour_heads, has_specialists,
     "in the tour's test sentences, no head of this model looks at the previous token, continues a "
     "repeated sequence (induction) or finds what \"it\" stands for"},
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
      sink > 0.0f ? fmt::format(", and {} on the learned sink", percentage(sink, decimals)) : "";
  if (std::count(weights.begin(), weights.end(), *largest) > 1) {
    return fmt::format("{} puts no more than {} on any token{}", who, share, sunk);
  }
  return sink > *largest
             ? fmt::format(
                   "{} puts the largest share of its attention, {}, on the learned "
                   "sink; among the tokens {} gets the most, {}",
                   who, percentage(sink, decimals), key == query ? who + " itself" : whom, share)
             : fmt::format("{} puts the largest share of its attention, {}, on {}{}", who, share,
                           whom, sunk);
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
  // If long names need more lines of text, tables get fewer.
  for (std::size_t fewer = 0; fewer <= kMostFewer; ++fewer) {
    TourPage page(tour, options, names, fewer);
    page.paragraph(fmt::format("{} of {}: {}{}", screen + 1, lessons.size(), lesson.title,
                               tour.is_random ? " (RANDOM WEIGHTS: the numbers mean nothing)" : ""),
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

// The first two screens: the input of attention, and the three vectors that a head computes from
// it.

namespace {

constexpr std::size_t kMostRows = 11;
constexpr std::size_t kRowsOfMore = 8;  // longer texts need more words
constexpr std::size_t kTokenGap = 2;

// The input of layer 0: "embedding · 8 + position, normed".
std::string vectors_heading(const Tour& tour) {
  return fmt::format(
      "embedding{}{}{}",
      tour.embedding_scale == 1.0f ? std::string() : fmt::format(" · {:.4g}", tour.embedding_scale),
      tour.adds_positions ? " + position" : "", tour.norms_embeddings ? ", normalised" : "");
}

TextTable token_table(const TourPage& page, std::size_t n_shown) {
  const Tour& tour = page.tour;
  TextTable table;
  table.gap = kTokenGap;
  table.corner = {"token", {}};
  TextColumn id{{"id", {}}, {}, true, true};
  TextColumn vector{{vectors_heading(tour), {}}, {}, false, true};
  const std::size_t index_width = std::to_string(n_shown - 1).size();
  for (std::size_t i = 0; i < n_shown; ++i) {
    const Token& token = tour.text.tokens[i];
    table.labels.push_back(
        {fmt::format("{:>{}} {}", i, index_width, page.style.charset.label(token.text)),
         i == tour.query() ? kBold : Style()});
    id.cells.push_back({std::to_string(token.id), {}});
  }
  const std::size_t used = label_columns(table, page.columns()) + id.width() + 2 * kTokenGap;
  const std::size_t room = page.columns() - std::min(page.columns() - 1, used);
  const ConstMatrix embeddings = tour.embeddings.view();
  const NumberGroup numbers(embeddings.row_block(0, n_shown));
  for (std::size_t i = 0; i < n_shown; ++i) {
    vector.cells.push_back({vector_text(page.style, embeddings.row(i), numbers, room), {}});
  }
  table.columns = {std::move(id), std::move(vector)};
  return table;
}

// Two tokens that differ only in capital letters.
std::optional<std::pair<std::size_t, std::size_t>> case_twins(const TokenizedText& text) {
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto [place, is_new] = places.try_emplace(ascii_lower(text.tokens[i].text), i);
    if (!is_new && text.tokens[place->second].id != text.tokens[i].id) {
      return std::pair(place->second, i);
    }
  }
  return std::nullopt;
}

// One sentence on when tokens have the same vector.
std::string sameness(const TourPage& page) {
  constexpr std::size_t kColumns = 24;
  const Tour& tour = page.tour;
  const TokenNames& names = page.names;
  if (tour.is_by_position) {
    return "Here the position counts: the same word may have other numbers elsewhere.";
  }
  std::map<TokenId, std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < tour.text.size(); ++i) {
    places[tour.text.tokens[i].id].push_back(i);
  }
  for (const Token& token : tour.text.tokens) {
    const std::vector<std::size_t>& where = places[token.id];
    if (where.size() > 1) {
      return fmt::format(
          "Tokens {} and {} are both \"{}\": the same id, and so {}.", where[0], where[1],
          page.style.charset.fitted(names.label(where[0]), kColumns),
          tour.adds_positions
              ? std::string("the same embedding; only the position vectors added to them differ")
              : fmt::format("the same {} numbers", tour.embeddings.cols()));
    }
  }
  if (const auto twins = case_twins(tour.text)) {
    return fmt::format("{} and {} are different tokens with different ids: capital letters matter.",
                       names.quoted(twins->first), names.quoted(twins->second));
  }
  return tour.adds_positions
             ? "A vector for the position is added to each embedding."
             : "A token begins with the same numbers at every position and in every text.";
}

// A remark on texts unlike those the model was trained on; empty for others.
std::string strangeness(const Tour& tour) {
  if (!tour.learned_simple_english) {
    return {};
  }
  const VocabularyFit fit = vocabulary_fit(tour.text);
  if (!fit.is_far()) {
    return {};
  }
  return fmt::format(
      "{} of {} tokens are fragments of words that this model has rarely seen, because it was "
      "trained on simple English. Its attention there means little.",
      fit.n_in_pieces, fit.n_tokens);
}

std::string why_this_head(const Tour& tour) {
  if (tour.n_heads == 1) {
    return ", the only one";
  }
  return tour.pronoun.found
             ? fmt::format(", the one of {} heads that best finds the noun that \"it\" stands for",
                           tour.n_heads)
             : fmt::format(", one of {} heads", tour.n_heads);
}

std::string what_is_below(const Tour& tour, std::size_t layer) {
  std::string first = tour.adds_positions ? "embedding and position" : "the embedding";
  switch (layer) {
    case 0:
      return first;
    case 1:
      return first + " plus what layer 0 added";
    case 2:
      return first + " plus what layers 0 and 1 added";
    default:
      return fmt::format("{} plus what layers 0 to {} added", first, layer - 1);
  }
}

}  // namespace

void tour_tokens(TourPage& page) {
  const Tour& tour = page.tour;
  const TokenizedText& text = tour.text;
  const std::string strange = strangeness(tour);
  const bool is_short = text.size() <= page.rows(strange.empty() ? kMostRows : kRowsOfMore);
  const std::size_t n_shown = is_short ? text.size() : page.rows(kRowsOfMore);
  page.paragraph(
      tour.is_by_position
          ? fmt::format(
                "A model does not read letters. A tokenizer splits the text into tokens, and each "
                "token becomes a vector. These weights define one vector for each position: {}.",
                counted(tour.embeddings.cols(), "number"))
          : fmt::format(
                "A model does not read letters. A tokenizer splits the text into tokens, and the "
                "number (id) of each token selects a row of a {}table: {}, its embedding.",
                tour.is_trained ? "learned " : "", counted(tour.embeddings.cols(), "number")));
  page.blank();
  page.table(token_table(page, n_shown));
  if (n_shown < text.size()) {
    page.paragraph(fmt::format("{} {}", page.style.charset.ellipsis(),
                               counted(text.size() - n_shown, "more token")),
                   kDim);
  }
  page.blank();
  std::string words = sameness(page);
  if (text.tokens.front().added) {
    words += fmt::format(" {} is not a word: it begins every text.", page.names.label(0));
  }
  const bool has_space =
      std::any_of(text.tokens.begin(), text.tokens.end(),
                  [](const Token& token) { return token.text.starts_with(' '); });
  if (has_space) {
    words += fmt::format(
        " {} marks the space before a word. The space is part of the token; the next screens do "
        "not show it.",
        page.style.charset.space());
  }
  if (tour.n_whole > text.size()) {
    words += fmt::format(
        " The model reads at most {} tokens: of this text's {} only the first {} are used.",
        text.size(), grouped(tour.n_whole), text.size());
  }
  page.paragraph(words);
  page.paragraph(strange);
}

void tour_vectors(TourPage& page) {
  const Tour& tour = page.tour;
  const Inspection& head = tour.inspection;
  const std::size_t layer = head.head.layer;
  page.paragraph(
      fmt::format("Attention lets tokens look at each other. A model has layers, each with heads. "
                  "A head has three {}matrices that turn a token's vector into three others:",
                  tour.is_trained  ? "learned "
                  : tour.is_random ? "random "
                                   : ""));
  const std::string& name = page.names.label(tour.query());
  TextTable roles;
  roles.indent = page.style.indent;
  roles.has_headings = false;
  roles.labels = {{"query q", page.style.role(InspectionRole::kQuery)},
                  {"key k", page.style.role(InspectionRole::kKey)},
                  {"value v", page.style.role(InspectionRole::kValue)}};
  roles.columns = {{{},
                    {{"what the token looks for", {}},
                     {"what it can be found by", {}},
                     {"what it passes on when it is found", {}}},
                    false}};
  page.table(roles);
  page.paragraph(
      fmt::format("Head {} is layer {}, head {} (counted from 0){}. Token {}, {}, in this head:",
                  head_title(head.head), layer, head.head.head, why_this_head(tour), tour.query(),
                  fmt::format("\"{}\"", page.style.charset.fitted(name, 24))));
  const auto row = [&tour](ConstMatrix vectors) { return vectors.row(tour.query()); };
  page.vectors({{"x", head.x(), InspectionRole::kPlain},
                {"q", row(head.projected_queries()), InspectionRole::kQuery},
                {"k", row(head.projected_keys()), InspectionRole::kKey},
                {"v", row(head.v.view()), InspectionRole::kValue}});
  page.paragraph(fmt::format(
      "x, {} numbers, is the token's vector as it enters layer {}: {}. {} by the matrices W_Q, W_K "
      "and W_V, it becomes {}.",
      head.d_model(), layer, what_is_below(tour, layer),
      head.latents.present()
          ? "Normalised, reduced to fewer numbers that all heads share, and multiplied"
      : head.norm.present() ? "Normalised and multiplied"
                            : "Multiplied",
      head.d_head() == head.d_value()
          ? fmt::format("q, k and v, {} each", counted(head.d_head(), "number"))
          : fmt::format("q and k, {} each, and v, {}", counted(head.d_head(), "number"),
                        head.d_value())));
  if (head.rope) {
    if (page.rows(2) == 2) {  // if there is room
      page.blank();
    }
    page.paragraph(
        "The order of words matters, too. So q and k are rotated, two numbers at a time, by angles "
        "that grow with the position (RoPE): the dot product of a q and a k (next screen) then "
        "depends on how far apart the two tokens are.");
    page.vectors({{"q rotated", row(head.q.view()), InspectionRole::kQuery},
                  {"k rotated", row(head.k.view()), InspectionRole::kKey}});
  }
}

}  // namespace attnviz
