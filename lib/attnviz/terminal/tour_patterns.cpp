// The fourth and fifth screens: the mask, and heads that have one job.
#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/attention/interventions.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/report/words/number_formats.h"
#include "attnviz/terminal/tour_page.h"

namespace attnviz {

namespace {

constexpr const char* kTriangleCorner = "query";

std::size_t n_in_triangle(const TourPage& page) {
  constexpr std::size_t kMost = 11;
  constexpr std::size_t kOfMore = 9;  // longer texts need more words
  constexpr std::size_t kCell = 4;
  const std::size_t n_tokens = page.tour.text.size();
  const std::size_t n = n_tokens <= page.rows(kMost) ? n_tokens : page.rows(kOfMore);
  TextTable table;
  table.corner = {kTriangleCorner, {}};
  for (std::size_t query = 0; query < n; ++query) {
    table.labels.push_back(page.token_label(query));
  }
  const std::size_t labels =
      std::max(page.columns() / 4, label_columns(table, page.columns())) + page.style.indent;
  const std::size_t room = page.columns() - std::min(page.columns(), labels);
  return std::max<std::size_t>(1, std::min(n, room / kCell));
}

TextTable triangle(const TourPage& page, std::size_t n) {
  const ConstMatrix weights = page.tour.inspection.all->weights.view();
  TextTable table;
  table.indent = page.style.indent;
  table.gap = 1;
  table.corner = {kTriangleCorner, {}};
  for (std::size_t query = 0; query < n; ++query) {
    table.labels.push_back(page.token_label(query));
  }
  for (std::size_t key = 0; key < n; ++key) {
    TextColumn column{{fmt::format("{:>3}", key), {}}, {}, true, true};
    for (std::size_t query = 0; query < n; ++query) {
      const float weight = weights(query, key);
      const double percents = 100.0 * static_cast<double>(weight);
      column.cells.push_back(page.tour.inspection.mask.visible(query, key)
                                 ? page.weight_cell(fmt::format("{:>3.0f}", percents), weight)
                                 : Span{".", kDim});
    }
    table.columns.push_back(std::move(column));
  }
  return table;
}

// The role of the first token; only stated if the tokenizer added it. The example is among the
// first `n_shown` queries, whose cells are visible.
std::string first_token_words(const TourPage& page, std::size_t n_shown) {
  const Tour& tour = page.tour;
  const bool has_sink = tour.inspection.sink.has_value();
  std::string words = fmt::format(
      "{} sees only itself, so all of its weight is there{}.", page.names.quoted(0),
      has_sink ? ", except what goes to the head's learned sink, which is not a token" : "");
  if (!tour.text.tokens.front().added || tour.text.size() < 2) {
    return words;
  }
  const ConstMatrix weights = tour.inspection.all->weights.view();
  std::size_t most = 0;  // none
  for (std::size_t query = 1; query < n_shown; ++query) {
    constexpr float kHalf = 0.5f;
    const float weight = weights(query, 0);
    if (weight > kHalf && (most == 0 || weight > weights(most, 0))) {
      most = query;
    }
  }
  const std::string average = percentage(static_cast<float>(tour.first_share));
  words += " It has no meaning, so heads that find nothing can put their weight there: ";
  const std::string over =
      fmt::format("on average over all {} heads and all other tokens that see it", tour.n_heads);
  return words +
         (most == 0 ? fmt::format("it gets {} {}.", average, over)
                    : fmt::format("here {} puts {} on it; {}, it gets {}.", page.names.quoted(most),
                                  percentage(weights(most, 0)), over, average));
}

// The keys of one query with their weights below them, and dots below hidden keys.
TextTable row_of(const TourPage& page, const TourHead& head, const TokenNames& names) {
  TextTable table;
  table.indent = page.style.indent - 1;  // the empty label is followed by a gap
  table.gap = 2;
  table.labels.emplace_back();
  for (std::size_t key = 0; key < head.text.size(); ++key) {
    const bool is_bold = key == head.look.query || key == head.look.key;
    const float weight = head.weights[key];
    table.columns.push_back({{names.label(key), is_bold ? kBold : Style()},
                             {page.tour.is_causal && key > head.look.query
                                  ? Span{".", kDim}
                                  : page.weight_cell(percent_cell(weight, 0), weight)}});
  }
  if (head.sink > 0.0f) {
    table.columns.push_back(
        {{"sink", {}}, {page.weight_cell(percent_cell(head.sink, 0), head.sink)}});
  }
  return table;
}

// Describes the example, whether or not it matches the head's job.
std::string example_words(const TourHead& head, const TokenNames& names, const std::string& whom) {
  const float weight = head.weights[head.look.key];
  const bool is_largest = std::count_if(head.weights.begin(), head.weights.end(),
                                        [weight](float other) { return other >= weight; }) == 1;
  const std::string words = fmt::format("{} puts {} on {}{}", names.quoted(head.look.query),
                                        percentage(weight), names.quoted(head.look.key), whom);
  return is_largest
             ? words + "."
             : fmt::format("{}; {}.", words,
                           largest_share(names, head.weights, head.look.query, 0, head.sink));
}

// The words after the query, which it cannot see.
std::string unseen_words(const TourHead& head, const TokenNames& names) {
  if (head.look.query + 1 >= head.text.size()) {
    return {};
  }
  const std::string_view source = head.text.source;
  std::string_view rest =
      source.substr(std::min(source.size(), head.text.tokens[head.look.query].end));
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  return fmt::format(" {} cannot see the later words \"{}\".", names.quoted(head.look.query), rest);
}

std::vector<const TourHead*> found_heads(const Tour& tour) {
  std::vector<const TourHead*> found = {&tour.previous, &tour.induction, &tour.pronoun};
  std::erase_if(found, [](const TourHead* head) { return !head->found; });
  return found;
}

// Points out a head that is the best at several jobs.
std::string same_head_words(const Tour& tour) {
  const std::vector<const TourHead*> found = found_heads(tour);
  for (const TourHead* head : found) {
    const auto n_jobs = std::count_if(found.begin(), found.end(), [head](const TourHead* other) {
      return other->score.head == head->score.head;
    });
    if (n_jobs > 1) {
      return fmt::format(" {} is the best at {}.", head_title(head->score.head),
                         n_jobs == 3         ? "all three"
                         : found.size() == 2 ? "both"
                                             : "two");
    }
  }
  return {};
}

// The jobs that no head has, and where to find all scores.
std::string missing_words(const TourPage& page) {
  const Tour& tour = page.tour;
  std::vector<std::string> jobs;
  for (const auto& [head, job] :
       {std::pair(&tour.previous, "previous token"), std::pair(&tour.induction, "induction"),
        std::pair(&tour.pronoun, "pronoun")}) {
    if (!head->found) {
      jobs.emplace_back(job);
    }
  }
  if (jobs.empty()) {
    return {};
  }
  const std::string_view command = page.option_names.heads_command;
  return fmt::format("No head of this model has the job {}{}.", joined(jobs, "or"),
                     command.empty() ? "" : fmt::format("; {} shows every head's scores", command));
}

void show_head(TourPage& page, const TourHead& head, const std::string& what,
               const std::string& whom) {
  const TokenNames names(bare_pieces(head.text), page.style.charset.is_ascii());
  page.blank();
  page.paragraph(fmt::format("{}, {}", head_title(head.score.head), what), kBold);
  page.table(row_of(page, head, names));
  page.paragraph(example_words(head, names, whom) +
                 (page.tour.is_causal ? unseen_words(head, names) : std::string()));
}

}  // namespace

void tour_mask(TourPage& page) {
  const Tour& tour = page.tour;
  const std::size_t n = n_in_triangle(page);
  page.paragraph(fmt::format(
      "Each row is a token that looks (a query), each column a token looked at (a key); the cells "
      "are the weights of head {} in percent.{}",
      head_title(tour.inspection.head),
      n < tour.text.size()
          ? fmt::format(" Only the first {1} of {0} tokens are shown.", tour.text.size(), n)
          : ""));
  page.blank();
  page.table(triangle(page, n));
  page.paragraph(
      fmt::format("A dot is a masked cell; 0 is less than half a percent. Later tokens are masked "
                  "(score −∞ before softmax): {}.{}",
                  tour.is_trained ? "the model must predict them without seeing them"
                                  : "no token sees later ones",
                  tour.inspection.mask.kind == MaskKind::kWindow
                      ? fmt::format(" Tokens before the last {} up to the query are masked, too: "
                                    "that is this layer's window.",
                                    tour.inspection.mask.size)
                      : ""));
  page.paragraph(first_token_words(page, n));
}

void tour_heads(TourPage& page) {
  const Tour& tour = page.tour;
  const std::size_t n_jobs = found_heads(tour).size();
  const bool has_list_jobs = tour.previous.found || tour.induction.found;
  const std::string tests = fmt::format(
      "{}{}{}",
      has_list_jobs ? fmt::format("on a list of {} words, repeated once", tour.n_list_words) : "",
      has_list_jobs && tour.pronoun.found ? ", or (pronoun) " : "",
      tour.pronoun.found ? fmt::format("on {} other sentences", tour.pronoun.score.n_looks) : "");
  page.paragraph(fmt::format(
      "{} Here is the best of {} heads for {}, tested {}, with {}.{}",
      tour.is_trained ? "Nothing assigns jobs to heads: the jobs emerge in training."
                      : "Heads get their jobs in training; these weights were made by hand.",
      tour.n_heads,
      n_jobs == 3   ? "each of three jobs"
      : n_jobs == 2 ? "each of two jobs"
                    : "one job",
      tests, n_jobs == 1 ? "an example" : "an example of each", same_head_words(tour)));
  const auto share = [](double weight) { return percentage(static_cast<float>(weight)); };
  if (tour.previous.found) {
    show_head(page, tour.previous,
              fmt::format("previous token: {} of the weight is on it ({} in screen 1's text).",
                          share(tour.previous.score.weight), share(tour.previous_share)),
              ", the token before it");
  }
  if (tour.induction.found) {
    show_head(page, tour.induction,
              fmt::format("induction: {} is on the token after an earlier copy of the query.",
                          share(tour.induction.score.weight)),
              ": what followed once may follow again");
  }
  const LookScore& pronoun = tour.pronoun.score;
  if (tour.pronoun.found) {
    show_head(
        page, tour.pronoun,
        fmt::format("pronoun: {} is on the animal, {} on the place.", share(pronoun.weight),
                    share(pronoun.rival)),
        fmt::format(
            ", which it stands for; in {} of {} sentences the animal gets more than the place",
            pronoun.n_won, pronoun.n_looks));
  }
  if (const std::string missing = missing_words(page); !missing.empty()) {
    page.blank();
    page.paragraph(missing);
  }
}

}  // namespace attnviz
