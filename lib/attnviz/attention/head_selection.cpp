#include "attnviz/attention/head_selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <set>

#include "attnviz/core/error.h"

namespace attnviz {

namespace {

[[noreturn]] void fail(const std::string& message) {
  throw Error(ErrorKind::kUsage, message);
}

std::string_view trimmed(std::string_view text) noexcept {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::vector<std::string_view> split_list(std::string_view list) {
  std::vector<std::string_view> items;
  for (;;) {
    const std::size_t comma = list.find(',');
    items.push_back(trimmed(list.substr(0, comma)));
    if (comma == std::string_view::npos) {
      return items;
    }
    list.remove_prefix(comma + 1);
  }
}

std::optional<std::size_t> parse_number(std::string_view text) noexcept {
  std::size_t number = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  if (result.ec != std::errc() || result.ptr != end) {
    return std::nullopt;
  }
  return number;
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

// One item of a head list; an absent index matches every one.
struct HeadPattern {
  std::optional<std::size_t> layer;
  std::optional<std::size_t> head;

  bool matches(HeadId id) const noexcept {
    return layer.value_or(id.layer) == id.layer && head.value_or(id.head) == id.head;
  }
};

HeadPattern parse_head(std::string_view item) {
  const auto index = [item](std::string_view text) -> std::optional<std::size_t> {
    if (text == "*") {
      return std::nullopt;
    }
    const auto number = parse_number(text);
    if (!number) {
      fail(
          fmt::format("head \"{}\": expected LAYER.HEAD as in 0.3 or L0H3, * for every one as in "
                      "0.*, or a head's number alone",
                      item));
    }
    return number;
  };
  const std::size_t dot = item.find('.');
  if (dot != std::string_view::npos) {
    return {index(item.substr(0, dot)), index(item.substr(dot + 1))};
  }
  const std::size_t h = item.find_first_of("hH");
  if (h != std::string_view::npos && (item.front() == 'l' || item.front() == 'L')) {
    return {index(item.substr(1, h - 1)), index(item.substr(h + 1))};
  }
  return {std::nullopt, index(item)};
}

void check_head(const Model& model, const HeadPattern& pattern, std::string_view item) {
  if (pattern.layer) {
    check_layer(model, *pattern.layer, item);
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

std::vector<HeadPattern> parse_heads(const Model& model, std::string_view list) {
  if (list.empty()) {
    return {HeadPattern{}};
  }
  std::vector<HeadPattern> patterns;
  for (const std::string_view item : split_list(list)) {
    patterns.push_back(parse_head(item));
    check_head(model, patterns.back(), item);
  }
  return patterns;
}

std::vector<bool> parse_layers(const Model& model, std::string_view list) {
  std::vector<bool> chosen(model.n_layers(), list.empty());
  if (list.empty()) {
    return chosen;
  }
  for (const std::string_view item : split_list(list)) {
    if (item == "*") {
      chosen.assign(chosen.size(), true);
      continue;
    }
    const std::size_t dash = item.find('-');
    const auto first = parse_number(item.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_number(item.substr(dash + 1));
    if (!first || !last || *last < *first) {
      fail(fmt::format("layer \"{}\": expected a number, a range as in 0-2, or *", item));
    }
    check_layer(model, *last, item);
    for (std::size_t layer = *first; layer <= *last; ++layer) {
      chosen[layer] = true;
    }
  }
  return chosen;
}

}  // namespace

std::string head_name(HeadId head) {
  return fmt::format("{}.{}", head.layer, head.head);
}

std::string head_title(HeadId head) {
  return fmt::format("L{}H{}", head.layer, head.head);
}

std::vector<HeadId> select_heads(const Model& model, std::string_view heads,
                                 std::string_view layers) {
  const std::vector<HeadPattern> patterns = parse_heads(model, heads);
  const std::vector<bool> chosen_layers = parse_layers(model, layers);
  std::vector<HeadId> selected;
  for (std::size_t layer = 0; layer < model.n_layers(); ++layer) {
    for (std::size_t head = 0; head < model.layers[layer].heads.size(); ++head) {
      const HeadId id{layer, head};
      const auto matches = [id](const HeadPattern& pattern) { return pattern.matches(id); };
      if (chosen_layers[layer] && std::any_of(patterns.begin(), patterns.end(), matches)) {
        selected.push_back(id);
      }
    }
  }
  if (selected.empty()) {
    fail(fmt::format("no head is both in heads \"{}\" and in layers \"{}\"", heads, layers));
  }
  return selected;
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
