#include "attnviz/document/words/intervention_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string_view>
#include <utility>

#include "attnviz/attention/head_selection.h"
#include "attnviz/core/message.h"

namespace attnviz {

namespace {

constexpr std::size_t kMostListed = 6;
constexpr std::size_t kMostLines = 12;

// "0, 2, 4 and 9 more".
std::string few_of(const std::vector<std::string>& items) {
  const std::size_t n = std::min(items.size(), kMostListed);
  std::string text = fmt::format(
      "{}", fmt::join(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(n), ", "));
  return n == items.size() ? text : fmt::format("{} and {} more", text, items.size() - n);
}

struct AblationKind {
  std::string_view one, many;
  bool (*has)(const Ablation& ablation);
  std::string (*name)(const Ablation& ablation);
};

std::string layer_name(const Ablation& ablation) {
  return std::to_string(ablation.layer);
}

constexpr AblationKind kKinds[] = {
    {"head ", "heads ", [](const Ablation& one) { return one.head.has_value() && !one.mlp; },
     [](const Ablation& one) {
       return head_name({one.layer, *one.head});
     }},
    {"the attention of layer ", "the attention of layers ",
     [](const Ablation& one) { return !one.head && !one.mlp; }, layer_name},
    {"the MLP of layer ", "the MLPs of layers ", [](const Ablation& one) { return one.mlp; },
     layer_name}};

std::string ablation_note(const std::vector<Ablation>& ablations, const AblationKind& kind,
                          bool by_mean) {
  std::vector<std::string> names;
  for (const Ablation& one : ablations) {
    if (kind.has(one) && one.by_mean == by_mean) {
      names.push_back(kind.name(one));
    }
  }
  if (names.empty()) {
    return {};
  }
  std::string note =
      fmt::format("without {}{}", names.size() == 1 ? kind.one : kind.many, few_of(names));
  if (by_mean) {
    note += names.size() == 1 ? " (its mean in its place)" : " (their means in their place)";
  }
  return note;
}

std::string range_text(const IndexRange& range) {
  if (range.end == IndexRange::kNoEnd) {
    return fmt::format("{} to the last", range.first);
  }
  return range.end <= range.first + 1 ? std::to_string(range.first)
                                      : fmt::format("{}-{}", range.first, range.end - 1);
}

// "token 1", "tokens 0-2, 5", "all tokens".
std::string places(std::string_view noun, const std::vector<IndexRange>& ranges) {
  if (std::ranges::any_of(ranges, &IndexRange::is_all)) {
    return fmt::format("all {}s", noun);
  }
  std::vector<std::string> items;
  items.reserve(ranges.size());
  for (const IndexRange& range : ranges) {
    items.push_back(range_text(range));
  }
  const bool is_one = ranges.size() == 1 && ranges.front().end == ranges.front().first + 1;
  return fmt::format("{}{} {}", noun, is_one ? "" : "s", few_of(items));
}

// Edges between all of some queries and all of some keys.
struct Edges {
  std::vector<IndexRange> queries, keys;
  IndexRange layers, heads;

  bool is_in_heads_of(const Edges& other) const {
    return layers == other.layers && heads == other.heads;
  }
};

// What was asked for at once, brought together again; each edge once.
std::vector<Edges> grouped(const std::vector<KnockOut>& knock_outs) {
  std::vector<Edges> by_query;
  std::set<KnockOut> said;
  for (const KnockOut& one : knock_outs) {
    if (!said.insert(one).second) {
      continue;
    }
    Edges next{{one.queries}, {one.keys}, one.layers, one.heads};
    if (!by_query.empty() && by_query.back().is_in_heads_of(next) &&
        by_query.back().queries == next.queries) {
      by_query.back().keys.push_back(one.keys);
    } else {
      by_query.push_back(std::move(next));
    }
  }
  std::vector<Edges> groups;
  for (Edges& next : by_query) {
    next.keys = merged_ranges(std::move(next.keys));
    if (!groups.empty() && groups.back().is_in_heads_of(next) && groups.back().keys == next.keys) {
      groups.back().queries.push_back(next.queries.front());
    } else {
      groups.push_back(std::move(next));
    }
  }
  for (Edges& group : groups) {
    group.queries = merged_ranges(std::move(group.queries));
  }
  return groups;
}

std::string edges_note(const Edges& edges) {
  std::string note = fmt::format("hidden from {}: {}", places("token", edges.queries),
                                 places("token", edges.keys));
  if (!edges.heads.is_all()) {
    note += fmt::format(", in {} of {}", places("head", {edges.heads}),
                        places("layer", {edges.layers}));
  } else if (!edges.layers.is_all()) {
    note += ", in " + places("layer", {edges.layers});
  }
  return note;
}

}  // namespace

std::vector<std::string> intervention_notes(const Interventions& interventions) {
  std::vector<std::string> lines;
  for (const bool by_mean : {false, true}) {
    for (const AblationKind& kind : kKinds) {
      lines.push_back(ablation_note(interventions.ablations, kind, by_mean));
    }
  }
  std::erase(lines, "");
  const std::vector<Edges> groups = grouped(interventions.knock_outs);
  const std::size_t n = std::min(groups.size(), kMostLines);
  for (std::size_t i = 0; i < n; ++i) {
    lines.push_back(edges_note(groups[i]));
  }
  if (n < groups.size()) {
    lines.push_back(fmt::format("more edges hidden: {}", counted(groups.size() - n, "line")));
  }
  return lines;
}

std::string intervention_title(const Interventions& interventions) {
  if (interventions.ablations.empty()) {
    return "edges hidden";
  }
  const bool is_one = interventions.ablations.size() == 1 && interventions.knock_outs.empty();
  return is_one ? "without " + ablation_name(interventions.ablations.front()) : "changed";
}

std::string ablation_name(const Ablation& ablation) {
  if (ablation.mlp) {
    return fmt::format("L{}.mlp", ablation.layer);
  }
  return ablation.head ? head_name({ablation.layer, *ablation.head})
                       : fmt::format("L{}", ablation.layer);
}

}  // namespace attnviz
