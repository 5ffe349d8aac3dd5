#include "attnviz/document/json/run_json.h"

#include <fmt/core.h>

#include <array>
#include <utility>

#include "attnviz/document/json/attention_facts_reader.h"

namespace attnviz {

namespace {

// Every list of marks with its name in documents.
constexpr std::pair<std::string_view, std::vector<std::size_t> TokenMarks::*> kMarks[] = {
    {"special", &TokenMarks::special},
    {"added", &TokenMarks::added},
    {"generated", &TokenMarks::generated},
    {"second_text", &TokenMarks::second}};

constexpr std::string_view kRandomWeightsNote =
    "The weights are random: the patterns mean nothing. The same seed gives the same numbers.";

constexpr std::array kEnds = {Choice{"length", ContinuationEnd::kLength},
                              Choice{"end_of_text", ContinuationEnd::kEndOfText},
                              Choice{"context", ContinuationEnd::kContext}};

}  // namespace

void write_text_members(JsonWriter& json, const TokenizedText& text) {
  json.member("text", text.source);
  json.member("tokens", text.tokens | std::views::transform(&Token::text));
  json.member("token_ids", text.tokens | std::views::transform(&Token::id));
  write_marks_member(json, token_marks(text));
}

void write_tokens_json(const TokenizedText& text, std::string_view tokenizer,
                       const ByteSink& sink) {
  JsonWriter json(sink);
  json.begin_object();
  json.member("schema", "attnviz.tokens/1");
  write_text_members(json, text);
  const auto range_of = [](const Token& token) { return std::array{token.begin, token.end}; };
  json.member("ranges", text.tokens | std::views::transform(range_of));
  json.member("tokenizer", tokenizer);
  json.end_object();
  json.finish();
}

void write_marks_member(JsonWriter& json, const TokenMarks& marks) {
  if (marks == TokenMarks{}) {
    return;
  }
  json.begin_object("marks");
  for (const auto& [name, list] : kMarks) {
    json.member_if_any(name, marks.*list);
  }
  json.end_object();
}

TokenMarks read_marks(const JsonNode& node, std::size_t n_tokens) {
  TokenMarks marks;
  for (const auto& [name, list] : kMarks) {
    const auto found = node.find(name);
    if (!found) {
      continue;
    }
    marks.*list = read_indices(*found);
    for (std::size_t i = 0; i < (marks.*list).size(); ++i) {
      const std::size_t index = (marks.*list)[i];
      if (index >= n_tokens || (i > 0 && index <= (marks.*list)[i - 1])) {
        found->fail(fmt::format("expected indices of the {} tokens in rising order, found {}",
                                n_tokens, index));
      }
    }
  }
  return marks;
}

void write_model_member(JsonWriter& json, const ModelFacts& facts) {
  json.begin_object("model");
  json.member("name", facts.name);
  json.member_if_any("origin", facts.origin);
  json.member_if_any("family", facts.family);
  if (facts.random) {
    json.member("random", true);
    json.member("note", kRandomWeightsNote);
  }
  json.member_if_any("random_embeddings", facts.random_embeddings);
  json.member_if_any("seed", facts.seed);
  json.member_if_any("n_layers", facts.n_layers);
  json.member_if_any("n_heads", facts.n_heads);
  json.member_if_any("n_kv_heads", facts.n_kv_heads);
  json.member_if_any("d_model", facts.d_model);
  json.member_if_any("d_head", facts.d_head);
  json.member_if_any("d_value", facts.d_value);
  if (facts.positions != Positions::kNone) {
    json.member("positions", positions_name(facts.positions));
  }
  json.member_if_any("tokenizer", facts.tokenizer);
  json.end_object();
}

void write_run_members(JsonWriter& json, const RunFacts& facts) {
  if (facts.mask) {
    json.member("mask", facts.mask->name());
  }
  json.member("temperature", facts.temperature);
  if (!facts.scale) {
    json.member("scale", false);
  }
  if (facts.dropout > 0.0f) {
    json.member("dropout", facts.dropout);
    json.member("dropout_seed", facts.dropout_seed);
  }
  if (facts.layers.empty()) {
    return;
  }
  json.objects("layer_facts", facts.layers, [&](const LayerFacts& layer) {
    json.member("layer", layer.layer);
    json.member_if_any("window", layer.window);
    if (layer.soft_cap > 0.0f) {
      json.member("soft_cap", layer.soft_cap);
    }
  });
}

std::vector<LayerFacts> read_layer_facts(const JsonNode& root) {
  std::vector<LayerFacts> layers;
  const auto list = root.find("layer_facts");
  if (!list) {
    return layers;
  }
  for (const JsonNode& node : list->as_list("a list of what layers do in their own way")) {
    LayerFacts layer;
    layer.layer = static_cast<std::size_t>(node.at("layer").as_unsigned());
    read_if_there(node, "window", layer.window);
    read_if_there(node, "soft_cap", layer.soft_cap);
    layers.push_back(layer);
  }
  return layers;
}

void write_continuation_member(JsonWriter& json, const Continuation& continuation) {
  json.begin_object("generated");
  json.member("text", continuation.text);
  json.member("token_ids", continuation.ids);
  json.member("ended_by", word_for(kEnds, continuation.end));
  json.member_if_any("end_of_text_id", continuation.end_of_text);
  json.end_object();
}

void write_predictions_member(JsonWriter& json, const Predictions& predictions) {
  json.begin_object("predictions");
  json.member("at", predictions.at);
  json.member(predictions.replaces_it ? "in_place_of" : "after", predictions.token);
  json.objects("top", predictions.top, [&](const PredictedToken& predicted) {
    json.member("token", predicted.token);
    json.member("id", predicted.id);
    json.member("probability", static_cast<float>(predicted.probability));
    json.member("logit", predicted.logit);
  });
  json.end_object();
}

}  // namespace attnviz
