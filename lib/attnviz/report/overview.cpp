#include "attnviz/report/figures.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/analysis/heads/head_scores.h"
#include "attnviz/attention/interventions.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/report/attention_heatmap.h"
#include "attnviz/report/words/number_formats.h"
#include "attnviz/report/words/words.h"

namespace attnviz {

namespace {

std::size_t place_of(const std::vector<std::size_t>& sorted, std::size_t number) noexcept {
  return static_cast<std::size_t>(std::lower_bound(sorted.begin(), sorted.end(), number) -
                                  sorted.begin());
}

// The keys that do not count as a head's own choice.
std::string_view not_counted(const AttentionDocument& document) {
  return document.query_tokens.size() == document.key_tokens.size() &&
                 document.part != AttentionPart::kCross
             ? "the first token, the token itself and its neighbours"
             : "the first key";
}

}  // namespace

OverviewGrid::OverviewGrid(const std::vector<HeadId>& all) {
  std::set<std::size_t> rows;
  std::set<std::size_t> columns;
  for (const HeadId head : all) {
    rows.insert(head.layer);
    columns.insert(head.head);
  }
  layers.assign(rows.begin(), rows.end());
  heads.assign(columns.begin(), columns.end());
}

std::size_t OverviewGrid::row(HeadId head) const noexcept {
  return place_of(layers, head.layer);
}

std::size_t OverviewGrid::column(HeadId head) const noexcept {
  return place_of(heads, head.head);
}

std::string BlankLayers::numbers() const {
  return first == last ? std::to_string(first) : fmt::format("{}-{}", first, last);
}

std::vector<BlankLayers> blank_layers(const AttentionDocument& document,
                                      const std::vector<std::size_t>& layers) {
  std::vector<BlankLayers> blanks;
  std::vector<std::string> names;  // of the last blank
  for (const LayerFacts& facts : document.run.layers) {
    if (facts.mixer == MixerKind::kAttention) {
      continue;
    }
    const std::size_t row = place_of(layers, facts.layer);
    if (blanks.empty() || blanks.back().row != row || blanks.back().last + 1 != facts.layer) {
      blanks.push_back({facts.layer, facts.layer, row, {}});
      names.clear();
    }
    blanks.back().last = facts.layer;
    if (std::string name(mixer_name(facts.mixer)); std::ranges::find(names, name) == names.end()) {
      names.push_back(std::move(name));
    }
    blanks.back().name = joined(names, "and");
  }
  return blanks;
}

AttentionDocument document_of_head(AttentionDocument document, HeadId head) {
  keep_patterns(document, std::span(&head, 1));
  return document;
}

namespace {

std::string_view what_it_is(const InformativeHead& choice) {
  return choice.n_counted == 0 ? "the first head"
         : choice.qualifies()  ? "the most informative head"
                               : "the closest to an informative head";
}

std::string reason(const AttentionDocument& document, const InformativeHead& choice) {
  if (choice.n_counted == 0) {
    return "The text is too short to find the most informative head.";
  }
  const auto percent = [](double share) { return percentage(static_cast<float>(share)); };
  if (!choice.qualifies()) {
    return fmt::format(
        "No head stands out: in none does what a token attends to depend much on the word (not "
        "counted: {}). This one comes closest, with a score of {}.",
        not_counted(document), percent(choice.score));
  }
  const std::string query = named_token(document.query_tokens[choice.query], choice.query);
  const std::string key = named_token(document.key_tokens[choice.key], choice.key);
  // Dropout scales the weights it keeps, so they are not shares.
  const float dropout = document.run.dropout;
  const std::string weight = percent(choice.weight * (1.0f - dropout));
  const std::string before = dropout > 0.0f ? " (before dropout)" : "";
  if (choice.evidence == Evidence::kRepetition) {
    return fmt::format(
        "{} occurred before; it puts {} of its attention{} on {}, which followed it there.", query,
        weight, before, key);
  }
  if (choice.evidence == Evidence::kContinuation) {
    return fmt::format("The text continues after {}, which puts {} of its attention{} on {}.",
                       query, weight, before, key);
  }
  const std::string example =
      fmt::format("{} puts {} of its attention{} on {}", query, weight, before, key);
  if (choice.evidence == Evidence::kPronoun) {
    return fmt::format("The pronoun {}.", example);
  }
  if (choice.n_counted == 1) {
    return example + ". The text is too short to compare this with other tokens.";
  }
  const std::string mean =
      dropout > 0.0f
          ? std::string()
          : fmt::format(
                " On average, a token puts {} of its attention on a single word other than {}.",
                percent(choice.share), not_counted(document));
  return fmt::format(
      "What a token attends to here depends on the words, not only on positions: for example, "
      "{}.{}",
      example, mean);
}

}  // namespace

std::string choice_caption(const InformativeHead& choice) {
  return fmt::format("{}: {}", head_title(choice.head), what_it_is(choice));
}

std::string choice_remark(const AttentionDocument& document, const InformativeHead& choice) {
  const std::string sentence = choice_sentence(document, choice);
  return document.patterns.size() == 1
             ? sentence
             : fmt::format("{} is {}. {}", head_title(choice.head), what_it_is(choice), sentence);
}

std::string choice_sentence(const AttentionDocument& document, const InformativeHead& choice) {
  std::string names = document.model ? names_of(*document.model, choice.head) : std::string();
  if (names.empty()) {
    return reason(document, choice);
  }
  if (const std::size_t comma = names.rfind(", "); comma != std::string::npos) {
    names.replace(comma, 1, " and");
  }
  const bool begins_with_vowel =
      std::string_view("aeiou").find(names.front()) != std::string_view::npos;
  const auto* const only = std::ranges::find(kHeadNames, names, &HeadName::name);
  return fmt::format("{} In a test on repeated random tokens this head behaves as {} {} head{}.",
                     reason(document, choice), begins_with_vowel ? "an" : "a", names,
                     only == kHeadNames.end() ? "" : fmt::format(": it {}", only->does));
}

Overview overview_of(const AttentionDocument& document, const InformativeHead& choice) {
  Overview overview;
  overview.chosen = choice.head;
  overview.heads = heads_of(document);
  overview.blanks = blank_layers(document, OverviewGrid(overview.heads).layers);
  overview.sentence = choice_sentence(document, choice);
  overview.caption = choice_caption(choice);
  overview.thumbnails = attention_heatmap(document);
  overview.thumbnails.are_thumbnails = true;
  overview.large = attention_heatmap(document_of_head(document, choice.head));
  overview.large.title.clear();
  overview.large.panels.front().title.clear();  // repeated by the caption
  overview.large.notes.clear();
  if (choice.qualifies()) {
    mark_cell(overview.large, 0, choice.query, choice.key);
  }
  return overview;
}

InformativeSearch informative_search(const AttentionDocument& document,
                                     const std::vector<HeadId>& heads) {
  return {
      TokenRoles(document.query_tokens, document.key_tokens, document.marks, document.key_marks),
      heads_by_mask(document, heads), document.query_tokens.size(), document.key_tokens.size(),
      document.part == AttentionPart::kCross};
}

std::optional<InformativeHead> most_informative_head(const AttentionDocument& document) {
  constexpr float kRounding = 1.001f;
  const float most = kRounding / (1.0f - document.run.dropout);
  const auto are_weights = [most](std::span<const float> row) {
    return std::ranges::all_of(row,
                               [most](float weight) { return weight >= 0.0f && weight <= most; });
  };
  for (const DocumentPattern& pattern : document.patterns) {
    bool can_tell = are_weights(pattern.sink);
    for (std::size_t query = 0; can_tell && query < pattern.weights.rows; ++query) {
      can_tell = are_weights(pattern.weights.row(query));
    }
    if (!can_tell) {
      return std::nullopt;
    }
  }
  InformativeSearch search = informative_search(document, heads_of(document));
  for (const DocumentPattern& pattern : document.patterns) {
    search.rows(pattern.head, 0, 0, pattern.weights);
  }
  return search.best();
}

Heatmap head_map(std::span<const HeadId> heads, std::span<const std::optional<double>> values,
                 std::string_view value_name) {
  const auto [first_head, last_head] = std::ranges::minmax(heads, {}, &HeadId::head);
  const auto [first, last] = std::ranges::minmax(heads, {}, &HeadId::layer);
  // Head numbers from files can be arbitrarily large.
  constexpr std::size_t kMostCells = std::size_t{1} << 20;
  const std::size_t layer_span = last.layer - first.layer;
  const std::size_t head_span = last_head.head - first_head.head;
  if (layer_span >= kMostCells || head_span >= kMostCells / (layer_span + 1)) {
    throw Error(ErrorKind::kUsage,
                fmt::format("picture: a map of heads from {} to {} would have more than {} cells",
                            head_name({first.layer, first_head.head}),
                            head_name({last.layer, last_head.head}), kMostCells));
  }
  const std::size_t first_layer = first.layer;
  const std::size_t n_layers = layer_span + 1;
  const std::size_t n_heads = head_span + 1;
  struct Cells {
    MatrixBuffer values;
    std::vector<bool> is_there;
  };
  const auto cells = std::make_shared<Cells>();
  cells->values = MatrixBuffer(n_layers, n_heads);
  cells->is_there.resize(n_layers * n_heads);
  double largest = 0.0;
  bool has_negative = false;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    if (values[i]) {
      const std::size_t row = heads[i].layer - first_layer;
      const std::size_t column = heads[i].head - first_head.head;
      cells->values.view()(row, column) = static_cast<float>(*values[i]);
      cells->is_there[row * n_heads + column] = true;
      largest = std::max(largest, std::abs(*values[i]));
      has_negative = has_negative || *values[i] < 0.0;
    }
  }
  Heatmap map;
  map.storage = cells;
  HeatmapPanel panel;
  panel.title = value_name;
  panel.values = std::as_const(cells->values).view();
  panel.visible = [cells, n_heads](std::size_t row, std::size_t column) {
    return cells->is_there[row * n_heads + column];
  };
  map.panels.push_back(std::move(panel));
  map.first_query = first_layer;
  for (std::size_t row = 0; row < n_layers; ++row) {
    map.query_labels.push_back(fmt::format("L{}", first_layer + row));
  }
  map.first_key = first_head.head;
  for (std::size_t column = 0; column < n_heads; ++column) {
    map.key_labels.push_back(fmt::format("H{}", first_head.head + column));
  }
  map.has_numbered_labels = true;
  map.query_axis = "layer";
  map.key_axis = "head";
  map.value_name = value_name;
  map.scale.high = static_cast<float>(largest > 0.0 ? largest : 1.0);
  if (has_negative) {
    set_scale_around_zero(map, largest);
  }
  return map;
}

void set_scale_around_zero(Heatmap& map, double largest) {
  map.scale.high = static_cast<float>(largest > 0.0 ? largest : 1.0);
  map.scale.low = -map.scale.high;
  map.scale.colormap = Colormap("blue-red");
}

}  // namespace attnviz
