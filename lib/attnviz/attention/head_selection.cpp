#include "attnviz/attention/head_selection.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/parse_number.h"

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

// Of layers that mix tokens in another way.
std::string no_heads(const Model& model, std::size_t layer) {
  return fmt::format("layer {} is {}: it has no heads", layer,
                     mixer_phrase(model.layers[layer].mixer()));
}

// One item of a head list; an absent index matches every one.
struct HeadPattern {
  std::optional<std::size_t> layer;
  std::optional<std::size_t> head;

  bool matches(HeadId id) const noexcept {
    return layer.value_or(id.layer) == id.layer && head.value_or(id.head) == id.head;
  }
};

// What stands for the layer and for the head in "0.3" or "L0H3".
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
  const auto index = [item](std::string_view text) -> std::optional<std::size_t> {
    if (text == "*") {
      return std::nullopt;
    }
    const auto number = parse_number<std::size_t>(text);
    if (!number) {
      fail(
          fmt::format("head \"{}\": expected LAYER.HEAD as in 0.3 or L0H3, * for every one as in "
                      "0.*, or a head's number alone",
                      item));
    }
    return number;
  };
  if (const auto both = layer_and_head(item)) {
    return {index(both->first), index(both->second)};
  }
  return {std::nullopt, index(item)};
}

void check_head(const Model& model, const HeadPattern& pattern, std::string_view item) {
  if (pattern.layer) {
    check_layer(model, *pattern.layer, item);
  }
  if (pattern.layer && model.layers[*pattern.layer].heads.empty()) {
    fail(fmt::format("\"{}\": {}", item, no_heads(model, *pattern.layer)));
  }
  if (!pattern.head) {
    return;
  }
  const std::size_t n_heads =
      pattern.layer ? model.layers[*pattern.layer].heads.size() : model.n_heads();
  if (*pattern.head >= n_heads) {
    const std::string owner =
        pattern.layer ? fmt::format("layer {}", *pattern.layer) : std::string("the model");
    fail(fmt::format("\"{}\": no head {}: {} has {}", item, *pattern.head, owner,
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

// One item of a layer list: [first, last].
struct LayerRange {
  std::size_t first;
  std::size_t last;
};

// An item that is * is every layer.
LayerRange parse_layer_range(std::string_view item) {
  if (item == "*") {
    return {0, std::numeric_limits<std::size_t>::max()};
  }
  const std::size_t dash = item.find('-');
  const auto first = parse_number<std::size_t>(item.substr(0, dash));
  const auto last =
      dash == std::string_view::npos ? first : parse_number<std::size_t>(item.substr(dash + 1));
  if (!first || !last || *last < *first) {
    fail(fmt::format("layer \"{}\": expected a number, a range as in 0-2, or *", item));
  }
  return {*first, *last};
}

// The layers of a list; an empty list is every layer.
class LayerList {
 public:
  template <class Check>
  LayerList(std::string_view list, const Check& check) {
    if (list.empty()) {
      ranges_.push_back(parse_layer_range("*"));
      return;
    }
    for (const std::string_view item : list_parts(list)) {
      ranges_.push_back(parse_layer_range(item));
      if (item != "*") {
        check(ranges_.back(), item);
      }
    }
  }

  bool has(std::size_t layer) const noexcept {
    return std::any_of(ranges_.begin(), ranges_.end(), [layer](const LayerRange& range) {
      return range.first <= layer && layer <= range.last;
    });
  }

 private:
  std::vector<LayerRange> ranges_;
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

std::vector<HeadId> select_heads(const Model& model, std::string_view heads,
                                 std::string_view layers) {
  const auto patterns =
      parse_heads(heads, [&model](const HeadPattern& pattern, std::string_view item) {
        check_head(model, pattern, item);
      });
  const LayerList layer_list(layers, [&model](const LayerRange& range, std::string_view item) {
    check_layer(model, range.last, item);
    const auto behind = model.layers.begin() + static_cast<std::ptrdiff_t>(range.last) + 1;
    const auto first = model.layers.begin() + static_cast<std::ptrdiff_t>(range.first);
    if (std::all_of(first, behind, [](const LayerWeights& layer) { return layer.heads.empty(); })) {
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
      fail(fmt::format("\"{}\": there is no such head: there are {}{}", item, names,
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
      layers, [&require_one](const LayerRange& range, std::string_view item) {
        require_one(
            item, [range](HeadId id) { return range.first <= id.layer && id.layer <= range.last; });
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
