#include "fuzz/odd_attention.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

namespace attnviz::test {

namespace {

using Json = nlohmann::ordered_json;

class Maker {
 public:
  explicit Maker(Choices& choices) : choices_(choices) {}

  Json document() {
    const std::size_t n_queries = choices_.of<std::size_t>({3, 1, 2, 5, 9, 45});
    const std::size_t n_keys =
        choices_.once_in(3) ? choices_.of<std::size_t>({1, 2, 3, 50}) : n_queries;
    Json document;
    add_facts(document);
    if (choices_.once_in(8)) {
      document["encoder"] = part(n_keys, n_keys);
      document["decoder"] = part(n_queries, n_queries);
      document["cross"] = part(n_queries, n_keys);
      document["target"] = "x";
      document["shown"] = part_name();
    } else {
      document.update(part(n_queries, n_keys));
    }
    if (choices_.once_in(8)) {
      document["part"] = part_name();
    }
    return document;
  }

 private:
  struct Head {
    std::uint64_t layer, head;
    auto operator<=>(const Head&) const = default;
  };

  const char* part_name() { return choices_.of({"encoder", "decoder", "cross"}); }
  double number() { return choices_.of({0.0, 0.5, 1.0, 0.25, -1.0, 3.4e38, 1e-45, 1e-30, 2.0}); }
  std::string mask() {
    const std::string kind =
        choices_.of({"causal", "none", "window:", "around:", "strided:", "block:"});
    return kind.ends_with(':') ? kind + std::to_string(std::max<std::uint64_t>(choices_.index(), 1))
                               : kind;
  }
  std::vector<std::uint64_t> indices() {
    std::vector<std::uint64_t> list(choices_.below(4));
    std::generate(list.begin(), list.end(),
                  [this] { return std::min(choices_.index(), std::uint64_t{1} << 53); });
    if (!choices_.once_in(4)) {
      std::sort(list.begin(), list.end());
      list.erase(std::unique(list.begin(), list.end()), list.end());
    }
    return list;
  }
  std::vector<Head> heads() {
    std::vector<Head> list(1 + choices_.below(15));
    std::generate(list.begin(), list.end(), [this] {
      return Head{choices_.index(), choices_.index()};
    });
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    return list;
  }

  // Few choices determine many numbers.
  Json weights(std::size_t n_rows, std::size_t n_columns) {
    constexpr std::array kWeights = {0.0, 0.5, 1.0, 0.25, 0.1};
    std::uint32_t state = static_cast<std::uint32_t>(choices_.below(256));
    const double odd = number();
    Json rows = Json::array();
    for (std::size_t row = 0; row < n_rows; ++row) {
      Json& columns = rows.emplace_back(Json::array());
      for (std::size_t column = 0; column < n_columns; ++column) {
        state = state * 1664525 + 1013904223;
        columns.push_back(state >> 28 == 0 ? odd : kWeights[(state >> 16) % kWeights.size()]);
      }
    }
    return rows;
  }
  Json sink(std::size_t n_rows) {
    return choices_.once_in(3) ? Json::array() : Json(std::vector<double>(n_rows, number()));
  }

  Json tokens(std::size_t count) {
    constexpr std::array kTokens = {"a",      "it", " cat", "",    "##x",     "<s>",
                                    "\u202e", "é",  "猫",   "She", "\x1b[2J", "  "};
    Json list = Json::array();
    while (list.size() < count) {
      list.push_back(choices_.of(kTokens));
    }
    return list;
  }
  Json some_of(std::size_t count) {
    Json list = Json::array();
    for (std::size_t i = 0; i < count; ++i) {
      if (choices_.once_in(2)) {
        list.push_back(i);
      }
    }
    return list;
  }

  void add_tokens(std::size_t n_queries, std::size_t n_keys, Json& part) {
    if (!choices_.once_in(12)) {
      part["tokens"] = tokens(choices_.once_in(8) ? n_queries + 50 : n_queries);
    }
    if (n_queries != n_keys || choices_.once_in(3)) {
      part["key_tokens"] = tokens(n_keys);
    }
    const std::size_t count = part.contains("tokens") ? part["tokens"].size() : 0;
    if (choices_.once_in(4)) {
      part["token_ids"] =
          std::vector<std::uint64_t>(n_queries, std::min(choices_.index(), std::uint64_t{1} << 31));
    }
    if (choices_.once_in(3) && count > 1) {
      const std::size_t middle = choices_.of<std::size_t>({1, count, count - 1});
      part["turns"] = {{{"role", "user"}, {"begin", 0}, {"end", middle}},
                       {{"role", nullptr}, {"begin", middle}, {"end", count}}};
      if (choices_.once_in(3)) {
        part["turn_attention"] = {{"mean", {0.5, 0.5}}, {"from_last", {0.5, number()}}};
      }
    }
    for (const char* const mark : {"special", "added", "generated", "second_text"}) {
      if (choices_.once_in(5)) {
        part["marks"][mark] = some_of(std::max<std::size_t>(count, 1));
      }
    }
    if (part.contains("key_tokens") && choices_.once_in(4)) {
      part["key_marks"] = {{"added", some_of(n_keys)}};
    }
    if (choices_.once_in(5)) {
      part["merged"] = choices_.of({"words", "lines", "turns", "sentences"});
      part["token_mask"] = mask();
      for (std::size_t i = 0; i < count; ++i) {
        part["merged_ranges"].push_back({0, choices_.below(60)});
        part["merged_token_ids"].push_back(std::vector<int>(choices_.below(4), 1));
      }
    }
  }

  void add_patterns(std::size_t n_queries, std::size_t n_keys, Json& part) {
    Json sinks = Json::array();
    if (choices_.once_in(2)) {
      for (const Head& head : heads()) {
        part["selected"].push_back({{"layer", head.layer},
                                    {"head", head.head},
                                    {"attention", weights(n_queries, n_keys)}});
        sinks.push_back(sink(n_queries));
      }
    } else {
      const std::size_t n_heads = 1 + choices_.below(5);
      for (std::size_t layer = choices_.below(4) + 1; layer > 0; --layer) {
        Json& of_layer = part["attention"].emplace_back(Json::array());
        Json& sinks_of_layer = sinks.emplace_back(Json::array());
        for (std::size_t head = 0; head < n_heads; ++head) {
          of_layer.push_back(weights(n_queries, n_keys));
          sinks_of_layer.push_back(sink(n_queries));
        }
      }
      add_averages(part);
    }
    if (choices_.once_in(4)) {
      part["sink"] = sinks;
    }
  }
  void add_averages(Json& part) {
    for (const char* const axis : {"layers", "heads"}) {
      if (choices_.once_in(3)) {
        part[axis] = indices();
      }
    }
    if (choices_.once_in(3)) {
      part.emplace("layers", Json::array());
      part.emplace("heads", Json::array());
      for (const Head& head : heads()) {
        part["averaged"].push_back({{"layer", head.layer}, {"head", head.head}});
      }
      if (choices_.once_in(3)) {
        part["rollout"] = {{"residual", number()}};
      } else {
        part["average"] = choices_.of({"heads", "layers", "all"});
      }
    }
  }
  Json part(std::size_t n_queries, std::size_t n_keys) {
    Json part;
    add_tokens(n_queries, n_keys, part);
    add_patterns(n_queries, n_keys, part);
    return part;
  }

  void add_facts(Json& document) {
    if (choices_.once_in(3)) {
      document["kind"] = choices_.of(
          {"weights", "scores", "scaled", "masked", "values-shares", "router", "decay"});
    }
    if (choices_.once_in(2)) {
      document["mask"] = mask();
    }
    if (choices_.once_in(5)) {
      document["dropout"] = choices_.of({0.5, 0.99999994});
    }
    if (choices_.once_in(3)) {
      for (std::size_t i = choices_.below(4) + 1; i > 0; --i) {
        document["layer_facts"].push_back({{"layer", choices_.index()}});
        document["layer_facts"].back().update(layer_fact());
      }
    }
    if (choices_.once_in(3)) {
      for (std::size_t i = choices_.below(4) + 1; i > 0; --i) {
        document["interventions"].push_back(intervention());
      }
    }
    if (choices_.once_in(2)) {
      document["text"] = choices_.of({"", "a it cat", "The"});
    }
    if (choices_.once_in(3)) {
      document["model"] = {
          {"name", "m"},
          {"n_layers", choices_.index()},
          {"n_heads", choices_.index()},
          {"positions", choices_.of({"alibi", "rope", "none"})},
          {"named_heads",
           {{{"layer", choices_.index()}, {"head", choices_.index()}, {"name", "induction"}}}}};
    }
    if (choices_.once_in(5)) {
      document["difference"] = {{"a", "x"}, {"b", "y"}};
    }
    if (choices_.once_in(2)) {
      document["drawing"] = drawing();
    }
  }
  Json layer_fact() {
    switch (choices_.below(4)) {
      case 0:
        return {{"window", choices_.index()}};
      case 1:
        return {{"around", choices_.index()}};
      case 2:
        return {{"soft_cap", number()}};
      default:
        return {{"mixer", choices_.of({"convolution", "none", "attention"})}};
    }
  }
  Json intervention() {
    switch (choices_.below(4)) {
      case 0: {
        Json hidden = Json::object();
        for (const char* const axis : {"queries", "keys", "layers", "heads"}) {
          if (choices_.once_in(2)) {
            const std::uint64_t first = choices_.below(40);
            hidden[axis] = choices_.once_in(2) ? Json::array({first})
                                               : Json::array({first, first + choices_.below(101)});
          }
        }
        return {{"hide", hidden}};
      }
      case 1:
        return {{"hide", "x>y"}};
      case 2:
        return {{"ablate", "head"}, {"layer", choices_.index()}, {"head", choices_.index()}};
      default:
        return {
            {"ablate", choices_.of({"mlp", "layer"})}, {"layer", choices_.index()}, {"by", "mean"}};
    }
  }
  Json drawing() {
    Json drawing = {{"colormap", choices_.of({"viridis", "blue-red", "gray_r"})},
                    {"scale", choices_.of({"linear", "sqrt", "log", "row-max"})},
                    {"range", choices_.of<Json>({{0, 1}, {-1, 1}, {0.001, 1}, {1e-45, 3e38}})},
                    {"pool", choices_.of({"max", "mean", "auto"})}};
    for (const char* const flag : {"drop_sink", "no_special", "plain_labels", "transposed"}) {
      if (choices_.once_in(4)) {
        drawing[flag] = true;
      }
    }
    if (choices_.once_in(3)) {
      drawing["focus"] = {{"token", choices_.index()}, {"as_key", choices_.once_in(2)}};
    }
    if (choices_.once_in(3)) {
      drawing["side_by_side"] = {"A", "B"};
    }
    return drawing;
  }

  Choices& choices_;
};

}  // namespace

std::string odd_attention(Choices& choices) {
  const Json document = Maker(choices).document();
  std::string text = document.dump() + '\n';
  if (choices.once_in(4)) {
    text += choices.once_in(3) ? Maker(choices).document().dump() + '\n' : text;
  }
  return text;
}

}  // namespace attnviz::test
