#include "attnviz/attention/interventions.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <utility>

#include "attnviz/core/choices.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"

namespace attnviz {

namespace {

[[noreturn]] void fail(const std::string& message) {
  throw Error(ErrorKind::kUsage, message);
}

// "only layer 0" or "layers 0 to 5".
std::string valid_range(std::string_view noun, std::size_t count) {
  return count == 1 ? fmt::format("only {} 0", noun) : fmt::format("{}s 0 to {}", noun, count - 1);
}

void check_layer(const Model& model, std::size_t layer, std::string_view item) {
  if (layer >= model.n_layers()) {
    fail(fmt::format("\"{}\": no layer {}: the model has {}", item, layer,
                     valid_range("layer", model.n_layers())));
  }
}

// The message for layers that mix tokens without attention.
std::string no_heads(const Model& model, std::size_t layer) {
  return fmt::format("layer {} is {}: it has no heads", layer,
                     mixer_phrase(model.layers[layer].mixer()));
}

// One item of a head list.
struct HeadPattern {
  IndexRange layers;
  IndexRange heads;

  bool matches(HeadId id) const noexcept { return layers.has(id.layer) && heads.has(id.head); }
};

// Splits "0.3" or "L0H3" into the parts for the layer and the head.
std::optional<std::pair<std::string_view, std::string_view>> layer_and_head(std::string_view item) {
  const std::size_t dot = item.find('.');
  if (dot != std::string_view::npos) {
    return std::pair(item.substr(0, dot), item.substr(dot + 1));
  }
  const std::size_t h = item.find_first_of("hH");
  if (h != std::string_view::npos && (item.front() == 'l' || item.front() == 'L')) {
    return std::pair(item.substr(1, h - 1), item.substr(h + 1));
  }
  return std::nullopt;
}

HeadPattern parse_head(std::string_view item) {
  const auto places = parse_head_places(item);
  if (!places) {
    fail(fmt::format(
        "head \"{}\": expected LAYER.HEAD as in 0.3 or L0H3, a range as in 0.1-3, * for "
        "every one as in 0.*, or a head's number alone",
        item));
  }
  if (places->heads) {
    return {places->layers, *places->heads};
  }
  if (places->has_letter) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format("head \"{}\": this names a layer: choose by layer {}", item, item.substr(1)),
        "heads");
  }
  return {IndexRange{}, places->layers};
}

// Precondition: `layers` are layers of the model.
std::size_t most_heads(const Model& model, const IndexRange& layers) {
  std::size_t most = 0;
  for (std::size_t layer = layers.first; layer < layers.end; ++layer) {
    most = std::max(most, model.layers[layer].heads.size());
  }
  return most;
}

void check_head(const Model& model, const HeadPattern& pattern, std::string_view item) {
  const IndexRange& layers = pattern.layers;
  if (!layers.is_all()) {
    check_layer(model, layers.end - 1, item);
  }
  const std::size_t n_heads = layers.is_all() ? model.n_heads() : most_heads(model, layers);
  if (!layers.is_all() && n_heads == 0) {
    fail(fmt::format("\"{}\": {}", item, no_heads(model, layers.first)));
  }
  if (!pattern.heads.is_all() && pattern.heads.end > n_heads) {
    const std::string owner =
        layers.is_all() ? std::string("the model has")
        : layers.end == layers.first + 1
            ? fmt::format("layer {} has", layers.first)
            : fmt::format("layers {} to {} have", layers.first, layers.end - 1);
    fail(fmt::format("\"{}\": no head {}: {} {}", item, pattern.heads.end - 1, owner,
                     valid_range("head", n_heads)));
  }
}

template <class Check>
std::vector<HeadPattern> parse_heads(std::string_view list, const Check& check) {
  if (list.empty()) {
    return {HeadPattern{}};
  }
  std::vector<HeadPattern> patterns;
  for (const std::string_view item : list_parts(list)) {
    patterns.push_back(parse_head(item));
    check(patterns.back(), item);
  }
  return patterns;
}

IndexRange parse_layers(std::string_view item) {
  const auto range = parse_index_range(item);
  if (!range) {
    fail(fmt::format("layer \"{}\": expected a number, a range as in 0-2, or *", item));
  }
  return *range;
}

// The layers of a list; an empty list is every layer.
class LayerList {
 public:
  template <class Check>
  LayerList(std::string_view list, const Check& check) {
    if (list.empty()) {
      ranges_.emplace_back();
      return;
    }
    for (const std::string_view item : list_parts(list)) {
      ranges_.push_back(parse_layers(item));
      if (item != "*") {
        check(ranges_.back(), item);
      }
    }
  }

  bool has(std::size_t layer) const noexcept {
    return std::any_of(ranges_.begin(), ranges_.end(),
                       [layer](const IndexRange& range) { return range.has(layer); });
  }

 private:
  std::vector<IndexRange> ranges_;
};

std::vector<HeadId> selected_of(std::span<const HeadId> available,
                                std::span<const HeadPattern> patterns, const LayerList& layer_list,
                                std::string_view heads, std::string_view layers) {
  std::vector<HeadId> selected;
  for (const HeadId id : available) {
    const auto matches = [id](const HeadPattern& pattern) { return pattern.matches(id); };
    if (layer_list.has(id.layer) && std::any_of(patterns.begin(), patterns.end(), matches)) {
      selected.push_back(id);
    }
  }
  if (selected.empty()) {
    fail(fmt::format("no head is both in heads \"{}\" and in layers \"{}\"", heads, layers));
  }
  return selected;
}

}  // namespace

std::string head_name(HeadId head) {
  return fmt::format("{}.{}", head.layer, head.head);
}

std::string head_title(HeadId head) {
  return fmt::format("L{}H{}", head.layer, head.head);
}

std::optional<HeadId> head_named(std::string_view name) {
  const auto both = layer_and_head(name);
  const auto layer = both ? parse_number<std::size_t>(both->first) : std::nullopt;
  const auto head = both ? parse_number<std::size_t>(both->second) : std::nullopt;
  return layer && head ? std::optional(HeadId{*layer, *head}) : std::nullopt;
}

std::optional<IndexRange> parse_index_range(std::string_view word) {
  if (word == "*") {
    return IndexRange{};
  }
  const std::size_t dash = word.find('-');
  const auto first = parse_number<std::size_t>(word.substr(0, dash));
  const auto last =
      dash == std::string_view::npos ? first : parse_number<std::size_t>(word.substr(dash + 1));
  if (!first || !last || *last < *first || *last >= IndexRange::kNoEnd - 1) {
    return std::nullopt;
  }
  return IndexRange{*first, *last + 1};
}

std::optional<HeadPlaces> parse_head_places(std::string_view word) {
  HeadPlaces places;
  places.has_letter = word.starts_with('L') || word.starts_with('l');
  word.remove_prefix(places.has_letter ? 1 : 0);
  const std::size_t split = word.find_first_of(places.has_letter ? ".hH" : ".");
  const auto layers = parse_index_range(word.substr(0, split));
  if (!layers) {
    return std::nullopt;
  }
  places.layers = *layers;
  if (split != std::string_view::npos) {
    places.heads = parse_index_range(word.substr(split + 1));
    return places.heads ? std::optional(places) : std::nullopt;
  }
  return places;
}

std::vector<HeadId> select_heads(const Model& model, std::string_view heads,
                                 std::string_view layers) {
  const auto patterns =
      parse_heads(heads, [&model](const HeadPattern& pattern, std::string_view item) {
        check_head(model, pattern, item);
      });
  const LayerList layer_list(layers, [&model](const IndexRange& range, std::string_view item) {
    check_layer(model, range.end - 1, item);
    if (most_heads(model, range) == 0) {
      fail(fmt::format("\"{}\": {}", item, no_heads(model, range.first)));
    }
  });
  std::vector<HeadId> available;
  for (std::size_t layer = 0; layer < model.n_layers(); ++layer) {
    for (std::size_t head = 0; head < model.layers[layer].heads.size(); ++head) {
      available.push_back({layer, head});
    }
  }
  return selected_of(available, patterns, layer_list, heads, layers);
}

std::vector<HeadId> select_heads(std::span<const HeadId> available, std::string_view heads,
                                 std::string_view layers) {
  const auto require_one = [available](std::string_view item, const auto& matches) {
    if (std::none_of(available.begin(), available.end(), matches)) {
      std::string names;
      constexpr std::size_t kMostNamed = 8;
      for (std::size_t i = 0; i < std::min(available.size(), kMostNamed); ++i) {
        names += (i == 0 ? "" : ", ") + head_name(available[i]);
      }
      fail(fmt::format("\"{}\": unknown head: the model has {}{}", item, names,
                       available.size() > kMostNamed
                           ? fmt::format(" and others to {}", head_name(available.back()))
                           : ""));
    }
  };
  const auto patterns =
      parse_heads(heads, [&require_one](const HeadPattern& pattern, std::string_view item) {
        require_one(item, [&pattern](HeadId id) { return pattern.matches(id); });
      });
  const LayerList layer_list(
      layers, [&require_one](const IndexRange& range, std::string_view item) {
        require_one(item, [range](HeadId id) { return range.has(id.layer); });
      });
  return selected_of(available, patterns, layer_list, heads, layers);
}

bool is_rectangle(std::span<const HeadId> heads) {
  std::set<std::size_t> layers;
  std::set<std::size_t> indices;
  for (const HeadId head : heads) {
    layers.insert(head.layer);
    indices.insert(head.head);
  }
  return heads.size() == layers.size() * indices.size();
}

}  // namespace attnviz
