// The fourth and the fifth screen: who may look at whom, and heads that have one job.
#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>

#include "attnviz/attention/head_selection.h"
#include "attnviz/core/utf8.h"
#include "attnviz/render/percent.h"
#include "attnviz/render/tour_page.h"

namespace attnviz {

namespace {

// Whole percents: "56", "0" for less than a half.
std::string percents(float weight) {
  return fmt::format("{:.0f}", 100.0 * static_cast<double>(weight));
}

std::size_t n_in_triangle(const TourPage& page) {
  constexpr std::size_t kMost = 11;
  constexpr std::size_t kOfMore = 9;  // longer texts need more words
  constexpr std::size_t kCell = 4;
  const std::size_t n_tokens = page.tour.text.size();
  const std::size_t n = n_tokens <= kMost ? n_tokens : kOfMore;
  const std::size_t labels = page.columns() / 4 + page.style.indent;
  const std::size_t room = page.columns() - std::min(page.columns(), labels);
  return std::max<std::size_t>(1, std::min(n, room / kCell));
}

TextTable triangle(const TourPage& page, std::size_t n) {
  const ConstMatrix weights = page.tour.inspection.all->weights.view();
  TextTable table;
  table.indent = page.style.indent;
  table.gap = 1;
  table.corner = {"query", {}};
  for (std::size_t query = 0; query < n; ++query) {
    table.labels.push_back(page.token_label(query));
  }
  for (std::size_t key = 0; key < n; ++key) {
    TextColumn column{{fmt::format("{:>3}", key), {}}, {}, true, true};
    for (std::size_t query = 0; query < n; ++query) {
      const bool is_visible = page.tour.inspection.mask.visible(query, key);
      column.cells.push_back(
          is_visible ? page.weight_cell(fmt::format("{:>3}", percents(weights(query, key))),
                                        weights(query, key))
                     : StyledText{".", page.style.dim()});
    }
    table.columns.push_back(std::move(column));
  }
  return table;
}

// What the first token is good for; only said where it is the tokenizer's own.
std::string first_token_words(const TourPage& page) {
  const Tour& tour = page.tour;
  std::string words =
      fmt::format("{} sees only itself, so all of its weight is there.", page.names.quoted(0));
  if (!tour.text.tokens.front().added || tour.text.size() < 2) {
    return words;
  }
  const ConstMatrix weights = tour.inspection.all->weights.view();
  std::size_t most = 1;
  for (std::size_t query = 2; query < tour.text.size(); ++query) {
    most = weights(query, 0) > weights(most, 0) ? query : most;
  }
  return words +
         fmt::format(
             " It means nothing, and a head with nothing to look for can leave its weight on it: "
             "here {} leaves {}; over all {} heads and the other tokens the average is {}.",
             page.names.quoted(most), percentage(weights(most, 0)), tour.n_heads,
             percentage(static_cast<float>(tour.first_share)));
}

// The keys of one query with their weights below them.
TextTable row_of(const TourPage& page, const TourHead& head, const TokenNames& names) {
  TextTable table;
  table.indent = page.style.indent - 1;  // the empty label is followed by a gap
  table.gap = 2;
  table.labels.emplace_back();
  for (std::size_t key = 0; key <= head.look.query; ++key) {
    const bool is_bold = key == head.look.query || key == head.look.key;
    const float weight = head.weights[key];
    table.columns.push_back({{names.label(key), is_bold ? page.style.bold() : std::string()},
                             {page.weight_cell(percent_cell(weight, 0), weight)}});
  }
  return table;
}

// What the example shows, whatever it shows.
std::string example_words(const TourHead& head, const TokenNames& names, const std::string& whom) {
  const float weight = head.weights[head.look.key];
  const bool is_largest = std::count_if(head.weights.begin(), head.weights.end(),
                                        [weight](float other) { return other >= weight; }) == 1;
  const std::string words = fmt::format("{} gives {} to {}{}", names.quoted(head.look.query),
                                        percentage(weight), names.quoted(head.look.key), whom);
  return is_largest ? words + "."
                    : fmt::format("{}; {}.", words,
                                  largest_share(names, head.weights, head.look.query, percentage));
}

void show_head(TourPage& page, const TourHead& head, const std::string& what,
               const std::string& whom) {
  const TokenNames names(bare_pieces(head.text), page.style.ascii);
  page.blank();
  page.paragraph(fmt::format("{}, {}", head_title(head.score.head), what), 0, page.style.bold());
  page.table(row_of(page, head, names));
  page.paragraph(example_words(head, names, whom));
}

}  // namespace

void tour_mask(TourPage& page) {
  const Tour& tour = page.tour;
  const std::size_t n = n_in_triangle(page);
  page.paragraph(fmt::format(
      "Each row is a token that looks (a query), each column one that it looks at (a key), by "
      "index; the cells are the weights of head {} in percent.{}",
      head_title(tour.inspection.head),
      n < tour.text.size()
          ? fmt::format(" Of {} tokens the first {} are shown.", tour.text.size(), n)
          : ""));
  page.blank();
  page.table(triangle(page, n));
  page.paragraph(
      "A dot is masked: a later token. The model learned to guess each next token, and must not "
      "see "
      "it: its score becomes −∞ before softmax, its weight 0.");
  page.paragraph(first_token_words(page));
}

void tour_heads(TourPage& page) {
  const Tour& tour = page.tour;
  page.paragraph(fmt::format(
      "Nobody tells a head what to do; training does. Of this model's {} heads these three do best "
      "at three jobs, as measured on {} words and {} sentences.",
      tour.n_heads, tour.n_list_words, tour.n_pronoun_sentences));
  const auto share = [](double weight) { return percentage(static_cast<float>(weight)); };
  show_head(page, tour.previous,
            fmt::format("previous token: {} of the weight is one token back (this text: {}).",
                        share(tour.previous.score.weight), share(tour.previous_share)),
            ", the token before it");
  show_head(page, tour.induction,
            fmt::format("induction: {} is on the token that came after the same one earlier.",
                        share(tour.induction.score.weight)),
            ": what came next may come next again");
  const LookScore& pronoun = tour.pronoun.score;
  show_head(page, tour.pronoun,
            fmt::format("pronoun: {} is on the animal that \"it\" means, {} on the place.",
                        share(pronoun.weight), share(pronoun.rival)),
            fmt::format(", which it stands for; in {} of {} sentences the animal gets more than "
                        "the place",
                        pronoun.n_won, pronoun.n_looks));
}

}  // namespace attnviz
