// The third and last screens: from q·k to weights, and the effect of temperature on them.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "attnviz/attention/interventions.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/report/steps/step_table.h"
#include "attnviz/report/words/number_formats.h"
#include "attnviz/terminal/page/text_table.h"
#include "attnviz/terminal/tour_page.h"
#include "attnviz/text/unicode_classes.h"

namespace attnviz {

namespace {

constexpr std::size_t kNarrowTour = 74;  // narrower tables have no bars, and short headings

// A window may leave out the first tokens.
std::vector<std::size_t> visible_keys(const Inspection& head) {
  std::vector<std::size_t> keys;
  for (std::size_t key = 0; key < head.n_tokens(); ++key) {
    if (head.is_visible(key)) {
      keys.push_back(key);
    }
  }
  return keys;
}

float rest_of(std::span<const float> values, const std::vector<std::size_t>& shown) {
  double rest = 0.0;
  for (std::size_t key = 0; key < values.size(); ++key) {
    const bool is_shown = std::binary_search(shown.begin(), shown.end(), key);
    rest += is_shown ? 0.0 : static_cast<double>(values[key]);
  }
  return static_cast<float>(rest);
}

// A row for each listed key, one for the sum of the others if there are any, and one for a learned
// sink.
class KeyRows {
 public:
  KeyRows(const TourPage& page, std::vector<std::size_t> shown, std::size_t n_keys)
      : page_(page), shown_(std::move(shown)), n_others_(n_keys - shown_.size()) {
    table_.indent = page.columns() < kNarrowTour ? 0 : page.style.indent;
    Column indices{.null = ""};
    Column names{.heading = "key", .with_previous = true};
    const auto add = [&](Datum index, const std::string& name, Emphasis emphasis) {
      indices.cells.push_back(std::move(index));
      names.cells.emplace_back(name);
      table_.emphasis.push_back(emphasis);
    };
    for (const std::size_t key : shown_) {
      add(key, page.names.label(key),
          key == page.tour.query() ? Emphasis::kStrong : Emphasis::kPlain);
    }
    if (n_others_ > 0) {
      add({}, counted(n_others_, "other"), Emphasis::kQuiet);
    }
    if (page.tour.inspection.sink) {
      add({}, "sink", Emphasis::kPlain);
    }
    table_.columns = {std::move(indices), std::move(names)};
  }

  /// `adds_up`: the values of the other keys can be added. `sink`: the value in its row.
  void add(Column column, std::span<const float> values, bool adds_up, std::optional<float> sink) {
    for (const std::size_t key : shown_) {
      column.cells.emplace_back(values[key]);
    }
    if (n_others_ > 0) {
      column.cells.push_back(adds_up ? Datum(rest_of(values, shown_)) : Datum());
    }
    if (page_.tour.inspection.sink) {
      column.cells.emplace_back(sink);
    }
    column.null.clear();
    table_.columns.push_back(std::move(column));
  }
  void add_weights(std::string heading, std::span<const float> weights, float sink,
                   std::size_t bar_columns) {
    Column column{.heading = std::move(heading), .format = percent_number};
    if (page_.columns() >= kNarrowTour) {
      column.bars = ColumnBars{.columns = bar_columns};
    }
    add(std::move(column), weights, /*adds_up=*/true, sink);
  }

  /// Takes the table with an additional last row.
  Table take(Datum::List last_row) {
    table_.extra_rows.push_back({std::move(last_row)});
    return std::move(table_);
  }

 private:
  const TourPage& page_;
  std::vector<std::size_t> shown_;
  std::size_t n_others_;
  Table table_;
};

std::string four_decimals(double number) {
  return fmt::format("{:.4f}", number);
}

// "0.57·v(cat) + 0.17·v(<|bos|>) + …": the three largest terms above 0.00.
std::string mean_of_values(const TourPage& page, const Inspection& head) {
  constexpr float kLeast = 0.005f;
  std::vector<std::size_t> keys = visible_keys(head);
  const std::size_t n_keys = keys.size();
  keys = top_keys(head.weights, std::move(keys), 3);
  std::stable_sort(keys.begin(), keys.end(), [&head](std::size_t a, std::size_t b) {
    return head.weights[a] > head.weights[b];
  });
  std::string sum;
  std::size_t n_terms = 0;
  for (const std::size_t key : keys) {
    if (n_terms > 0 && head.weights[key] < kLeast) {
      break;
    }
    ++n_terms;
    const bool is_repeated = page.names.quoted(key).ends_with(')');  // (3)
    const std::string name = page.style.charset.fitted(page.names.label(key), 16);
    sum += fmt::format("{}{:.2f}·v({})", sum.empty() ? "" : " + ", head.weights[key],
                       is_repeated ? fmt::format("{} {}", key, name) : name);
  }
  return sum + (n_keys > n_terms ? fmt::format(" + {}", page.style.charset.ellipsis()) : "");
}

std::string first_numbers(const TourPage& page, std::span<const float> values) {
  constexpr std::size_t kFew = 3;
  std::string list;
  for (std::size_t i = 0; i < std::min(kFew, values.size()); ++i) {
    list += (i == 0 ? "" : ", ") + two_decimals(static_cast<double>(values[i]));
  }
  return list + (values.size() > kFew ? fmt::format(", {}", page.style.charset.ellipsis()) : "");
}

// Explains that the pronoun head attends from a pronoun to a token that it cannot refer to.
std::string missed_words(const TourPage& page, const Inspection& head) {
  if (!page.tour.follows_pronoun || !page.tour.pronoun.found) {
    return {};
  }
  const auto largest = static_cast<std::size_t>(
      std::max_element(head.weights.begin(), head.weights.end()) - head.weights.begin());
  const Token& token = page.tour.text.tokens[largest];
  if (largest != head.query && can_be_meant(token)) {
    return {};
  }
  const std::string& label = page.names.label(head.query);
  return fmt::format(
      " Here the head does not find {} {} means{}.",
      label == "it" || label == "It" ? "what" : "whom", page.names.quoted(head.query),
      page.tour.learned_simple_english ? "; this small model was trained on simpler sentences"
                                       : "");
}

// `n_keys`: the number of keys that share the weight, including a learned sink.
std::string temperature_words(const Tour& tour, const TokenNames& names, std::size_t n_keys) {
  const TourTemperature& cold = tour.temperatures.front();
  const TourTemperature& warm = tour.temperatures.back();
  const auto largest = [](const TourTemperature& row) {
    return std::max(row.sink, *std::max_element(row.weights.begin(), row.weights.end()));
  };
  std::string words = fmt::format(
      "Before softmax, the scores can be divided by a temperature T. Here is the row of {} in head "
      "{} again; T = 1 gives the weights of screen 3.",
      names.quoted(tour.query()), head_title(tour.inspection.head));
  if (largest(cold) > largest(warm)) {
    words += fmt::format(
        " A small T favours the largest weight: {} at T = {}. A large T evens the weights out: {} "
        "at T = {}.",
        percentage(largest(cold), 1), cold.temperature, percentage(largest(warm), 1),
        warm.temperature);
  } else {
    words += fmt::format(" Here it makes no visible difference: {}.",
                         n_keys > 1 && largest(warm) > 0.5f ? "one score is far above all others"
                                                            : "all scores are nearly equal");
  }
  words +=
      " Chat programs use a temperature in the same way, but on the scores of all possible next "
      "tokens. Entropy measures how spread out a row is: 0 bits when one token has all the weight";
  return words + (n_keys < 2 ? std::string(".")
                             : fmt::format(", {:.2f} bits when {} share it equally",
                                           std::log2(static_cast<double>(n_keys)), n_keys) +
                                   (cold.sink > 0.0f ? ", including the sink." : "."));
}

// The text as a shell assignment, in lines that can be copied together; empty if the text is not
// printable, would be an option, needs both kinds of quotes, or is long. Only the first line is
// indented, since spaces in the others would belong to the text.
std::vector<std::string> assignment(const TourPage& page) {
  constexpr std::size_t kMostNotes = 3;
  const std::string& source = page.tour.text.source;
  const bool is_visible =
      printable_message(source) == source && source.find('\n') == std::string::npos;
  const bool is_plain = is_visible && (is_ascii(source) || !page.style.charset.is_ascii());
  const bool is_option = source.starts_with('-');
  const bool is_special = source.find_first_of("\"$`\\!") != std::string::npos;
  const bool can_be_quoted = !is_special || source.find('\'') == std::string::npos;
  if (!is_plain || is_option || !can_be_quoted) {
    return {};
  }
  const auto quoted_part = [is_special](std::string_view part) {
    return fmt::format("{0}{1}{0}", is_special ? '\'' : '"', part);
  };
  std::vector<std::string> lines = {std::string(page.style.indent, ' ') + "TEXT="};
  std::string part;
  for (std::size_t begin = 0; begin < source.size();) {
    const std::size_t end = std::min(source.find(' ', begin), source.size() - 1) + 1;
    const std::string_view word = std::string_view(source).substr(begin, end - begin);
    const std::size_t width = display_width(lines.back()) + display_width(part) +
                              display_width(word) + display_width("\"\"\\");
    if (!part.empty() && width > page.columns()) {
      lines.back() += quoted_part(part) + '\\';
      lines.emplace_back();
      part.clear();
    }
    part += word;
    begin = end;
  }
  lines.back() += quoted_part(part);
  const bool fits = lines.size() <= kMostNotes &&
                    std::all_of(lines.begin(), lines.end(), [&page](const std::string& line) {
                      return display_width(line) <= page.columns();
                    });
  return fits ? lines : std::vector<std::string>();
}

constexpr std::size_t kCommandGap = 2;

// Writes a command in lines that can be copied together, followed by its effect if there is room.
void command(TourPage& page, const std::string& words, const char* meaning, std::size_t width) {
  const std::size_t room = page.columns() - page.style.indent;
  const std::string beside = fmt::format("{}  {}", pad_right(words, width), meaning);
  const bool fits = display_width(beside) <= room;
  std::vector<std::string> lines = wrap(words, display_width(words) <= room ? room : room - 2);
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
    lines[i] += " \\";
  }
  for (const std::string& text : lines) {
    Line line;
    line.space(page.style.indent);
    line.put_padded(text, fits ? width + kCommandGap : 0);
    line.put(fits ? meaning : "", kDim);
    page.line(std::move(line));
  }
}

void commands(TourPage& page) {
  const Inspection& head = page.tour.inspection;
  const TourOptionNames& option = page.option_names;
  const std::vector<std::string> text = assignment(page);
  for (const std::string& line : text) {
    page.line(Line(line));
  }
  if (text.empty()) {
    page.line(Line(std::string(page.style.indent, ' ') + "TEXT=\"your text\""));
  }
  // A single word could be mistaken for the name of a command.
  const bool is_word = page.tour.text.source.find(' ') == std::string::npos;
  const std::string show = !text.empty() && is_word ? "attnviz show" : "attnviz";
  const std::string query = text.empty() ? "" : fmt::format(" {} {}", option.query, head.query);
  const std::string which = fmt::format("{} {}", option.head, head_name(head.head));
  const bool is_cut = page.tour.n_whole > page.tour.text.size();
  const std::string cut = is_cut ? fmt::format(" {}", option.truncate_right) : "";
  const std::string_view model = option.model;
  const std::pair<std::string, const char*> lines[] = {
      {fmt::format("{}{} \"$TEXT\"{}", show, model, cut), "every head"},
      {fmt::format("{}{} \"$TEXT\" {}{}", show, model, which, cut), "this head, large"},
      {fmt::format("attnviz inspect{} \"$TEXT\" {}{}{}", model, which, query, cut),
       "each step in numbers"},
      {fmt::format("attnviz {}", option.help), "everything else"}};
  std::size_t width = 0;
  for (const auto& [words, meaning] : lines) {
    width = std::max(width, display_width(words));
  }
  for (const auto& [words, meaning] : lines) {
    command(page, words, meaning, width);
  }
}

// The steps between scaling and softmax in some models.
std::string words_after_scaling(const Inspection& head) {
  std::string words;
  if (!head.capped.empty()) {
    words = fmt::format("A soft cap keeps it between -{0:.4g} and {0:.4g}. ", head.soft_cap);
  }
  if (!head.bias.empty()) {
    words += "The farther away a token is, the more is subtracted from s (ALiBi). ";
  }
  return words;
}

}  // namespace

void tour_scores(TourPage& page) {
  constexpr std::size_t kMostRows = 9;
  const Inspection& head = page.tour.inspection;
  const std::vector<std::size_t> keys = visible_keys(head);
  const std::size_t n_keys = keys.size();
  const std::string who = page.names.quoted(head.query);
  page.paragraph(
      fmt::format("Head {}: which tokens does {} look at? q·k (dot product) multiplies the query "
                  "of {} by a token's key, number by number, and adds the products: the better the "
                  "two match, the larger the sum.",
                  head_title(head.head), who, who));
  page.blank();
  const std::size_t n_most = page.rows(kMostRows);
  KeyRows rows(page, top_keys(head.weights, keys, n_keys > n_most ? n_most - 1 : n_most), n_keys);
  const bool is_narrow = page.columns() < kNarrowTour;
  const std::size_t root = scale_root(head);
  const std::string later = words_after_scaling(head);
  const std::string scaled = is_narrow || !later.empty() ? "s"
                             : root == 0 ? fmt::format("s = q·k · {:.4g}", head.own_scale)
                                         : fmt::format("s = q·k / √{}", root);
  const InspectedSink sink = head.sink.value_or(InspectedSink());
  rows.add({.heading = "q·k", .format = two_decimals}, head.scores, /*adds_up=*/false, {});
  rows.add({.heading = scaled, .format = two_decimals}, head.masked, /*adds_up=*/false, sink.score);
  rows.add({.heading = is_narrow ? "exp" : "exp(s − max)", .format = four_decimals},
           head.exponentials, /*adds_up=*/true, sink.exponential);
  rows.add_weights("weight", head.weights, sink.weight, 30);
  const double total =
      std::accumulate(head.weights.begin(), head.weights.end(), static_cast<double>(sink.weight));
  page.table(rows.take({{}, "sum", {}, {}, head.sum, fmt::format("{:.1f}%", 100.0 * total)}));
  page.paragraph(fmt::format(
      "{}{}Then max, the largest s, is subtracted, and softmax divides "
      "each exp(s − max) by the sum of them all. {}{}.{}",
      root == 0   ? fmt::format("This model multiplies q·k by {:.4g}. ", head.own_scale)
      : root == 1 ? std::string()
                  : fmt::format("Dividing by √{} keeps sums of {} small. ", root,
                                counted(head.d_head(), "product")),
      later,
      head.sink ? "The sink is a number that this head learned: its share goes to no token. " : "",
      largest_share(page.names, head.weights, head.query, 1, sink.weight),
      missed_words(page, head)));
  page.paragraph(fmt::format(
      "{} gets the sum of the values times their weights: {} = ({}){}. {}", who,
      mean_of_values(page, head),
      first_numbers(page, head.mixture.empty() ? head.context : head.mixture),
      head.gate.empty()
          ? std::string()
          : fmt::format("; a gate then lets ({}) of it through", first_numbers(page, head.context)),
      page.tour.has_output
          ? fmt::format("A fourth matrix, W_O, maps the sum to {} numbers to add to x.",
                        head.d_model())
          : "These weights have no W_O."));
}

void tour_temperature(TourPage& page) {
  constexpr std::size_t kMostKeys = 4;
  const Tour& tour = page.tour;
  const Inspection& head = tour.inspection;
  const std::vector<std::size_t> keys = visible_keys(head);
  page.paragraph(temperature_words(tour, page.names, keys.size() + (head.sink ? 1 : 0)));
  page.blank();
  KeyRows rows(page, top_keys(head.weights, keys, page.rows(kMostKeys)), keys.size());
  Datum::List entropies = {{}, "entropy (bits)"};
  for (const TourTemperature& row : tour.temperatures) {
    rows.add_weights(fmt::format("T = {}", row.temperature), row.weights, row.sink, 10);
    entropies.emplace_back(fmt::format("{:.2f}", row.entropy));
  }
  page.table(rows.take(std::move(entropies)));
  page.paragraph(
      fmt::format("{} T applies to every head, and so changes the input of later layers.",
                  page.option_names.temperature));
  page.paragraph("To continue in a shell:");
  commands(page);
}

}  // namespace attnviz
