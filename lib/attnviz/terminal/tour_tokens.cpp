// The first two screens: what goes into attention, and the three vectors that a head makes of it.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "attnviz/attention/head_selection.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/document/words/number_formats.h"
#include "attnviz/terminal/tour_page.h"
#include "attnviz/text/tokenizers/prompt_lint.h"

namespace attnviz {

namespace {

constexpr std::size_t kMostRows = 11;
constexpr std::size_t kRowsOfMore = 8;  // longer texts need more words
constexpr std::size_t kTokenGap = 2;

// What enters layer 0: "embedding · 8 + position, normed".
std::string vectors_heading(const Tour& tour) {
  return fmt::format(
      "embedding{}{}{}",
      tour.embedding_scale == 1.0f ? std::string() : fmt::format(" · {:.4g}", tour.embedding_scale),
      tour.adds_positions ? " + position" : "", tour.norms_embeddings ? ", normed" : "");
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

// Two tokens that differ in nothing but capital letters.
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

// One sentence about what makes tokens the same.
std::string sameness(const TourPage& page) {
  constexpr std::size_t kColumns = 24;
  const Tour& tour = page.tour;
  const TokenNames& names = page.names;
  if (tour.is_by_position) {
    return "Here the place counts: the same word may have other numbers elsewhere.";
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
              ? std::string("the same embedding; what is added for their places tells them apart")
              : fmt::format("the same {} numbers", tour.embeddings.cols()));
    }
  }
  if (const auto twins = case_twins(tour.text)) {
    return fmt::format("{} and {} are two tokens with two ids: capital letters count.",
                       names.quoted(twins->first), names.quoted(twins->second));
  }
  return tour.adds_positions
             ? "What is added to an embedding says where in the text its token stands."
             : "Wherever a token stands, in this text or in another, it begins with the same "
               "numbers.";
}

// What is told of texts that the model has hardly seen the like of; empty for others.
std::string strangeness(const Tour& tour) {
  if (!tour.learned_simple_english) {
    return {};
  }
  const VocabularyFit fit = vocabulary_fit(tour.text);
  if (!fit.is_far()) {
    return {};
  }
  return fmt::format(
      "{} of {} tokens are pieces of words that this model has hardly met: it learned simple "
      "English. What it looks at there means little.",
      fit.n_in_pieces, fit.n_tokens);
}

std::string why_this_head(const Tour& tour) {
  if (tour.n_heads == 1) {
    return ", the only one";
  }
  return tour.pronoun.found ? fmt::format(
                                  ": of {} heads the one that best tells what \"it\" stands "
                                  "for from another noun",
                                  tour.n_heads)
                            : fmt::format(": one of {} heads", tour.n_heads);
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
          ? fmt::format("A model reads no letters. A tokenizer cuts the text into tokens, and each "
                        "gets a vector. These weights say it for each place of the text: {}.",
                        counted(tour.embeddings.cols(), "number"))
          : fmt::format("A model reads no letters. A tokenizer cuts the text into tokens, and the "
                        "number (id) of each picks a row of a {}table: {}, its embedding.",
                        tour.is_trained ? "learned " : "",
                        counted(tour.embeddings.cols(), "number")));
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
    words += fmt::format(" {} is no word: it begins every text.", page.names.label(0));
  }
  const bool has_space =
      std::any_of(text.tokens.begin(), text.tokens.end(),
                  [](const Token& token) { return token.text.starts_with(' '); });
  if (has_space) {
    words += fmt::format(
        " {} is the space before a word, a part of its token; the next screens leave it out.",
        page.style.charset.space());
  }
  if (tour.n_whole > text.size()) {
    words +=
        fmt::format(" The model reads {} tokens at most: of this text's {} the first {} are taken.",
                    text.size(), grouped(tour.n_whole), text.size());
  }
  page.paragraph(words);
  page.paragraph(strange);
}

void tour_vectors(TourPage& page) {
  const Tour& tour = page.tour;
  const Inspection& head = tour.inspection;
  const std::size_t layer = head.head.layer;
  page.paragraph(fmt::format(
      "Attention lets tokens look at each other. For that each head has three {}matrices, "
      "and makes three short vectors of every token's vector:",
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
                     {"what it tells who looks", {}}},
                    false}};
  page.table(roles);
  page.paragraph(
      fmt::format("Head {} is layer {}, head {} (counted from 0){}. Token {}, {}, at this head:",
                  head_title(head.head), layer, head.head.head, why_this_head(tour), tour.query(),
                  fmt::format("\"{}\"", page.style.charset.fitted(name, 24))));
  const auto row = [&tour](ConstMatrix vectors) { return vectors.row(tour.query()); };
  page.vectors({{"x", head.x(), InspectionRole::kPlain},
                {"q", row(head.projected_queries()), InspectionRole::kQuery},
                {"k", row(head.projected_keys()), InspectionRole::kKey},
                {"v", row(head.v.view()), InspectionRole::kValue}});
  page.paragraph(fmt::format(
      "x is the token's vector as it enters layer {}: {}, {} numbers. {} by the matrices W_Q, W_K "
      "and W_V it "
      "becomes {}.",
      layer, what_is_below(tour, layer), head.d_model(),
      head.latents.present()
          ? "Rescaled (normed), narrowed to fewer numbers that all heads share, and multiplied"
      : head.norm.present() ? "Rescaled (normed) and multiplied"
                            : "Multiplied",
      head.d_head() == head.d_value()
          ? fmt::format("q, k and v, {} each", counted(head.d_head(), "number"))
          : fmt::format("q and k, {} each, and v, {}", counted(head.d_head(), "number"),
                        head.d_value())));
  if (head.rope) {
    if (page.rows(2) == 2) {  // where there is room
      page.blank();
    }
    page.paragraph(
        "The order of words counts, too. So q and k are turned, two numbers at a time, by angles "
        "that grow with the position (RoPE): when they are compared, the distance between the two "
        "tokens makes a difference.");
    page.vectors({{"q turned", row(head.q.view()), InspectionRole::kQuery},
                  {"k turned", row(head.k.view()), InspectionRole::kKey}});
  }
}

}  // namespace attnviz
