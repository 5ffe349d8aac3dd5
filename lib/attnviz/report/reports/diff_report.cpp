#include "attnviz/report/reports/reports.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/analysis/informative_heads.h"
#include "attnviz/attention/interventions.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/report/diff_document.h"
#include "attnviz/report/json/document_json.h"
#include "attnviz/report/words/number_formats.h"

namespace attnviz {

namespace {

const ColumnBars kBars{.columns = 6};

// "0.12 → 0.56", or for a change too small for two decimals: "by +1.2e-06".
std::string change(const HeadDifference& head) {
  const std::string before = fmt::format("{:.2f}", head.weights[0]);
  const std::string after = fmt::format("{:.2f}", head.weights[1]);
  return !(head.largest_change > 0.0f) ? "none"
         : before != after             ? fmt::format("{} → {}", before, after)
                           : fmt::format("by {:+.1e}", head.weights[1] - head.weights[0]);
}

class DiffReport {
 public:
  DiffReport(const DiffDocument& document, std::size_t top) : document_(document), top_(top) {
    report_.schema = "attnviz.diff/1";
    report_.title = "diff: " + diff_title(document_);
  }

  Report make() {
    add_run();
    sides();
    report_.say(alignment_note(document_), Emphasis::kQuiet);
    for (const std::string& note : document_.notes) {
      report_.say(note, Emphasis::kQuiet);
    }
    names_of_heads();
    report_.draw(Gap{});
    heads();
    if (document_.of_models) {
      const ModelsDiff& models = *document_.of_models;
      report_.draw(Gap{});
      predictions(models);
      departures(models);
      report_.draw(Gap{});
      if (!models.settings.empty()) {
        report_.say("settings that differ: " + joined(models.settings, "and"));
      }
      report_.add("settings", models.settings);
      tensors(models);
    }
    report_.numbers = numbers();
    return std::move(report_);
  }

 private:
  void quiet(std::string text) { report_.say(std::move(text), Emphasis::kQuiet); }

  void add_run() {
    report_.add("of", document_.of_models ? "models" : "texts");
    const auto model = [this](std::size_t side) { return model_record(document_.models[side]); };
    report_.members.add_all(document_.of_models ? text_record(document_.texts[0])
                                                : Record{{"model", model(0)}});
    for (std::size_t side = 0; side < 2; ++side) {
      report_.add(side == 0 ? "a" : "b",
                  document_.of_models
                      ? Record{{"given", document_.names[side]}, {"model", model(side)}}
                      : text_record(document_.texts[side]));
    }
    report_.members.add_all(run_record(document_.run))
        .add_if_any("notes", document_.notes)
        .add("alignment", Record{{"by_position", document_.alignment.by_position},
                                 {"a", document_.alignment.first},
                                 {"b", document_.alignment.second}});
  }

  // "3 sat".
  std::string token(std::size_t index, bool is_same = true) const {
    constexpr std::size_t kWidestToken = 12;
    const std::string label = fit_width(
        printable(without_spaces_before(document_.texts[0].tokens[index].text)), kWidestToken, "…");
    return fmt::format(fmt::runtime(is_same ? "{} {}" : "{} [{}]"), index, label);
  }
  std::string aligned(std::size_t row) const {
    return token(document_.alignment.first[row], document_.alignment.is_same[row]);
  }

  // A and B: for models their names, for texts their tokens, with differing ones shaded and in
  // brackets.
  void sides() {
    if (document_.of_models) {
      report_.say("A: " + document_.names[0]);
      report_.say("B: " + document_.names[1]);
    }
    Strip strip{.pieces = {}};
    for (std::size_t side = 0; side < (document_.of_models ? 1U : 2U); ++side) {
      add_tokens(strip, side, document_.of_models ? "on" : side == 0 ? "A " : "B ");
    }
    report_.draw(std::move(strip));
  }

  void add_tokens(Strip& strip, std::size_t side, const char* name) const {
    constexpr std::size_t kMostTokens = 200;
    const TokenAlignment& alignment = document_.alignment;
    const std::vector<std::size_t>& shared = side == 0 ? alignment.first : alignment.second;
    const std::vector<Token>& tokens = document_.texts[side].tokens;
    std::vector<bool> is_marked(tokens.size(), !document_.of_models);
    for (std::size_t row = 0; row < shared.size(); ++row) {
      is_marked[shared[row]] = !alignment.is_same[row];
    }
    for (std::size_t i = 0; i < std::min(tokens.size(), kMostTokens); ++i) {
      const std::string label = printable(without_spaces_before(tokens[i].text));
      StripPiece& piece =
          strip.pieces.emplace_back(StripPiece{is_marked[i] ? "[" + label + "]" : label});
      if (i == 0) {
        piece.mark = name;
        piece.lines_before = side;
      }
      if (is_marked[i]) {
        piece.share = 0.3f;
      }
    }
    if (tokens.size() > kMostTokens) {
      strip.pieces.push_back({fmt::format("… {} more", tokens.size() - kMostTokens)});
    }
  }

  // The names of heads from a test on random tokens; for two models the common names, or those of
  // each.
  void names_of_heads() {
    std::vector<HeadId> heads;
    for (const HeadDifference& head : document_.heads) {
      heads.push_back(head.head);
    }
    const std::string of_a = names_note(document_.models[0], heads);
    const std::string of_b = names_note(document_.models[1], heads);
    if (of_a == of_b) {
      return quiet(of_a);
    }
    quiet(of_a.empty() ? "" : "A: " + of_a);
    quiet(of_b.empty() ? "" : "B: " + of_b);
  }

  std::optional<std::size_t> max_query(const HeadDifference& head) const {
    return head.js_bits_max ? std::optional(document_.alignment.first[head.js_max_query])
                            : std::nullopt;
  }
  std::array<std::size_t, 2> place_of(const HeadDifference& head) const {
    return {document_.alignment.first[head.query], document_.alignment.first[head.key]};
  }

  // The table for people has columns of words; the one for CSV has a cell for each number.
  Table numbers() const {
    return TableOf(document_.heads)
        .data("layer", [](const HeadDifference& one) { return one.head.layer; })
        .data("head", [](const HeadDifference& one) { return one.head.head; })
        .data("js_bits", &HeadDifference::js_bits)
        .data("js_bits_max", &HeadDifference::js_bits_max)
        .data("js_max_query", [this](const HeadDifference& one) { return max_query(one); })
        .data("largest_change", &HeadDifference::largest_change)
        .data("query", [this](const HeadDifference& one) { return place_of(one)[0]; })
        .data("key", [this](const HeadDifference& one) { return place_of(one)[1]; })
        .data("weight_a", [](const HeadDifference& one) { return one.weights[0]; })
        .data("weight_b", [](const HeadDifference& one) { return one.weights[1]; })
        .take();
  }

  Table heads_table() const {
    double largest = 0.0;
    for (const HeadDifference& head : document_.heads) {
      largest = std::max(largest, head.js_bits.value_or(0.0));
    }
    ColumnBars bars = kBars;
    bars.whole = largest > 0.0 ? largest : 1.0;
    return TableOf(document_.heads)
        .data("layer", [](const HeadDifference& one) { return one.head.layer; })
        .data("head", [](const HeadDifference& one) { return one.head.head; })
        .column({.heading = "head"}, [](const HeadDifference& one) { return head_name(one.head); })
        .column({.key = "js_bits", .heading = "mean JS", .format = small_decimals, .bars = bars},
                &HeadDifference::js_bits)
        .column({.key = "js_bits_max", .heading = "max JS", .format = small_decimals},
                &HeadDifference::js_bits_max)
        .data("js_max_query", [this](const HeadDifference& one) { return max_query(one); })
        .column({.heading = "of query", .to_right = true, .with_previous = true},
                [this](const HeadDifference& one) {
                  return one.js_bits_max.value_or(0.0) > 0.0 ? aligned(one.js_max_query) : "";
                })
        .data("largest_change", &HeadDifference::largest_change)
        .data("at",
              [this](const HeadDifference& one) { return list_of(place_of(one), std::identity()); })
        .data("weights", [](const HeadDifference& one) { return one.weights; })
        .column({.heading = "largest change"},
                [this](const HeadDifference& one) {
                  return one.largest_change > 0.0f
                             ? fmt::format("{} > {}", aligned(one.query), aligned(one.key))
                             : std::string();
                })
        .column({.heading = "A → B", .to_right = true, .with_previous = true}, change)
        .take();
  }

  void heads() {
    Table table = heads_table();
    report_.add("heads", records(table));
    if (document_.is_same_attention()) {
      return report_.say(same_attention_sentence(document_) + ".");
    }
    std::vector<std::size_t> rows = ranked_differences(document_);
    if (top_ > 0 && top_ < rows.size()) {
      table.left_out = counted(rows.size() - top_, "more head");
      rows.resize(top_);
    }
    table.shown = std::move(rows);
    quiet(
        "JS: Jensen-Shannon divergence between the attention of a query in A and in B, in bits: 0 "
        "means the same, 1 means no overlap; mean: average over the queries that see at least two "
        "keys; max: the largest value for one query; largest change: the weight that changes most, "
        "query > key, from A to B. 2.1, also written L2H1, is head 1 of layer 2, both counted from "
        "0");
    report_.draw(std::move(table));
  }

  void predictions(const ModelsDiff& models) {
    const bool predicts = !models.kl_bits.empty();
    report_.add("kl_bits", predicts ? std::optional(models.kl_bits.back()) : std::nullopt);
    report_.add("kl_bits_mean", predicts ? std::optional(models.kl_bits_mean()) : std::nullopt);
    report_.add("kl_bits_by_token", models.kl_bits);
    if (!predicts) {
      return report_.say(
          "next token: the predictions are not over one vocabulary, so they are not "
          "compared");
    }
    report_.say(
        fmt::format("next token: KL(A || B) is {} bits after the last token and {} on average "
                    "over {} (0: the same probabilities)",
                    small_decimals(models.kl_bits.back()), small_decimals(models.kl_bits_mean()),
                    counted(models.kl_bits.size(), "token")));
  }

  static Record departure_record(const Departure& one) {
    return {
        {"layer", one.layer}, {"relative", one.largest}, {"token", one.token}, {"mean", one.mean}};
  }

  void departures(const ModelsDiff& models) {
    const Departure* const first = models.first_departure();
    report_.add("threshold", models.threshold);
    report_.add("first_departure", first != nullptr ? Datum(departure_record(*first)) : Datum());
    report_.add("departures", list_of(models.departures, departure_record));
    if (models.departures.empty()) {
      return report_.say("residual streams: of different widths, not compared");
    }
    const std::string measure = "residual streams, |x_A - x_B| / |x_A| of a token: ";
    const Departure& last = models.departures.back();
    if (std::ranges::all_of(models.departures,
                            [](const Departure& one) { return one.largest == 0.0; })) {
      return report_.say(measure + "0 after every layer");
    }
    const std::string begin =
        first == nullptr ? fmt::format("never more than {:.3g}", models.threshold)
                         : fmt::format("first more than {:.3g} {} ({} at token {})",
                                       models.threshold, departure_name(*first),
                                       small_decimals(first->largest), token(first->token));
    report_.say(fmt::format("{}{}; {} at most {} (at token {})", measure, begin,
                            departure_name(last), small_decimals(last.largest), token(last.token)));
  }

  static std::string tensor_name(const TensorDifference& tensor) {
    return tensor.layer ? fmt::format("layer {} {}", *tensor.layer, tensor.name) : tensor.name;
  }

  // "3 tensors only in A: layer 0 b_Q, layer 0 b_K, layer 0 b_V".
  void some_of(const std::vector<TensorDifference>& tensors, const char* what, const auto& is_one) {
    constexpr std::size_t kMost = 6;
    std::vector<std::string> names;
    for (const TensorDifference& tensor : tensors) {
      if (is_one(tensor)) {
        names.push_back(tensor_name(tensor));
      }
    }
    if (names.empty()) {
      return;
    }
    std::string line = fmt::format("{} {}:", counted(names.size(), "tensor"), what);
    for (std::size_t i = 0; i < std::min(names.size(), kMost); ++i) {
      line += (i == 0 ? " " : ", ") + names[i];
    }
    quiet(line + (names.size() > kMost ? ", …" : ""));
  }

  void tensors(const ModelsDiff& models) {
    const std::vector<TensorDifference>& all = models.tensors;
    const auto size = [&all](std::size_t i) { return all[i].relative.value_or(-1.0); };
    std::vector<std::size_t> rows = largest_rows(all.size(), 0, size);
    const auto n_same = static_cast<std::size_t>(std::ranges::count_if(
        all, [](const TensorDifference& one) { return !one.only_in && one.relative == 0.0; }));
    std::erase_if(rows, [&](std::size_t i) { return all[i].only_in || size(i) <= 0.0; });
    Table table = tensor_table(all, rows.empty() ? 1.0 : size(rows.front()));
    report_.add("tensors", records(table));
    if (rows.empty()) {
      report_.say(fmt::format("weights: {} in both, all the same", counted(n_same, "tensor")));
    } else {
      constexpr std::size_t kMost = 6;
      report_.say("weights that differ most: |A - B| / |A|, Frobenius norms of whole tensors");
      const std::size_t n_more = rows.size() - std::min(rows.size(), kMost);
      table.left_out = n_more > 0 ? fmt::format("{} more that differ, {} the same", n_more, n_same)
                                  : fmt::format("{} the same", n_same);
      rows.resize(rows.size() - n_more);
      table.shown = std::move(rows);
      report_.draw(std::move(table));
    }
    some_of(all, "with other shapes, or 0 only in A",
            [](const TensorDifference& one) { return !one.only_in && !one.relative; });
    some_of(all, "only in A", [](const TensorDifference& one) { return one.only_in == 0U; });
    some_of(all, "only in B", [](const TensorDifference& one) { return one.only_in == 1U; });
  }

  static Table tensor_table(const std::vector<TensorDifference>& all, double largest) {
    ColumnBars bars = kBars;
    bars.whole = largest;
    Table table =
        TableOf(all)
            .data("layer", &TensorDifference::layer)
            .data("name", &TensorDifference::name)
            .column({},
                    [](const TensorDifference& one) {
                      return one.layer ? fmt::format("layer {}", *one.layer) : std::string();
                    })
            .column({}, &TensorDifference::name)
            .column({.key = "relative_error", .format = small_decimals, .bars = bars},
                    &TensorDifference::relative)
            .column({.key = "only_in", .for_programs = true, .is_optional = true},
                    [](const TensorDifference& one) {
                      return one.only_in ? Datum(*one.only_in == 0 ? "a" : "b") : Datum();
                    })
            .take();
    table.has_headings = false;
    table.indent = 2;
    return table;
  }

  const DiffDocument& document_;
  std::size_t top_;
  Report report_;
};

}  // namespace

Report diff_report(const DiffDocument& document, std::size_t top) {
  return DiffReport(document, top).make();
}

}  // namespace attnviz
