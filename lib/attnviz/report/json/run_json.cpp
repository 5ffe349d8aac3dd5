#include "attnviz/report/json/document_json.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/core/choices.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"

namespace attnviz {

namespace {

// The lists of marks with their names in documents.
constexpr std::pair<std::string_view, std::vector<std::size_t> TokenMarks::*> kMarks[] = {
    {"special", &TokenMarks::special},
    {"added", &TokenMarks::added},
    {"generated", &TokenMarks::generated},
    {"second_text", &TokenMarks::second}};
constexpr std::pair<std::string_view, std::size_t ModelFacts::*> kSizes[] = {
    {"n_layers", &ModelFacts::n_layers},     {"n_heads", &ModelFacts::n_heads},
    {"n_kv_heads", &ModelFacts::n_kv_heads}, {"d_model", &ModelFacts::d_model},
    {"d_head", &ModelFacts::d_head},         {"d_value", &ModelFacts::d_value}};

constexpr std::string_view kRandomWeightsNote =
    "The weights are random: the patterns mean nothing. The same seed gives the same numbers.";

constexpr std::array kEnds = {
    Choice{"length", ContinuationEnd::kLength}, Choice{"end_of_text", ContinuationEnd::kEndOfText},
    Choice{"context", ContinuationEnd::kContext}, Choice{"stop", ContinuationEnd::kStop}};

// The part that an ablation removes: the heads of a layer, one of them, or the MLP.
enum class Ablated { kHead, kLayer, kMlp };

constexpr std::array kAblated = {Choice{"head", Ablated::kHead}, Choice{"layer", Ablated::kLayer},
                                 Choice{"mlp", Ablated::kMlp}};
constexpr std::array kByMean = {Choice{"zero", false}, Choice{"mean", true}};

Record ablation_record(const Ablation& ablation) {
  Record record{{"ablate", word_for(kAblated, ablation.mlp    ? Ablated::kMlp
                                              : ablation.head ? Ablated::kHead
                                                              : Ablated::kLayer)},
                {"layer", ablation.layer}};
  return record.add_if_any("head", ablation.head).add("by", word_for(kByMean, ablation.by_mean));
}

constexpr std::pair<std::string_view, IndexRange KnockOut::*> kEdgeRanges[] = {
    {"queries", &KnockOut::queries},
    {"keys", &KnockOut::keys},
    {"layers", &KnockOut::layers},
    {"heads", &KnockOut::heads}};

// [first, end), or [first] without an end; a range that covers everything is omitted.
Record knock_out_record(const KnockOut& knock_out) {
  Record hidden;
  for (const auto& [name, range] : kEdgeRanges) {
    const IndexRange& indices = knock_out.*range;
    if (!indices.is_all()) {
      hidden.add(name, indices.end == IndexRange::kNoEnd ? std::vector{indices.first}
                                                         : std::vector{indices.first, indices.end});
    }
  }
  return {{"hide", std::move(hidden)}};
}

Datum::List interventions_of(const RunFacts& facts) {
  Datum::List list;
  for (const Ablation& ablation : facts.interventions.ablations) {
    list.emplace_back(ablation_record(ablation));
  }
  for (const KnockOut& knock_out : facts.interventions.knock_outs) {
    list.emplace_back(knock_out_record(knock_out));
  }
  for (const std::string& edges : facts.hidden_in_each) {
    list.emplace_back(Record{{"hide", edges}});
  }
  return list;
}

Record layer_facts_record(const LayerFacts& layer) {
  Record record{{"layer", layer.layer}};
  record.add_if_any("window", layer.window)
      .add_if_any("around", layer.around)
      .add_if_any("soft_cap", layer.soft_cap)
      .add_if_any("learned_sink", layer.learned_sink);
  for (const auto& [key, kind] :
       {std::pair("mixer", layer.mixer), std::pair("beside", layer.beside)}) {
    if (kind != MixerKind::kAttention) {
      record.add(key, word_for(kMixers, kind));
    }
  }
  return record;
}

IndexRange read_range(const JsonNode& node) {
  const std::vector<std::size_t> ends = read_indices(node);
  const bool is_range = ends.size() == 1 || (ends.size() == 2 && ends[0] < ends[1]);
  if (!is_range) {
    node.fail("expected [first, end) with an end beyond the first, or [first]");
  }
  return {ends.front(), ends.size() == 2 ? ends.back() : IndexRange::kNoEnd};
}

void read_intervention(const JsonNode& node, RunFacts& facts) {
  if (const auto hidden = node.find("hide")) {
    if (hidden->kind() == JsonKind::kString) {
      facts.hidden_in_each.push_back(valid_utf8(hidden->as_string()));
      return;
    }
    KnockOut& knock_out = facts.interventions.knock_outs.emplace_back();
    for (const auto& [name, range] : kEdgeRanges) {
      if (const auto indices = hidden->find(name)) {
        knock_out.*range = read_range(*indices);
      }
    }
    return;
  }
  Ablated what{};
  node.at("ablate");
  read_optional(node, "ablate", what,
                [](std::string_view word) { return parse_choice("ablate", word, kAblated); });
  Ablation& ablation = facts.interventions.ablations.emplace_back();
  ablation.layer = static_cast<std::size_t>(node.at("layer").as_unsigned());
  ablation.mlp = what == Ablated::kMlp;
  if (what == Ablated::kHead) {
    ablation.head = static_cast<std::size_t>(node.at("head").as_unsigned());
  }
  read_optional(node, "by", ablation.by_mean,
                [](std::string_view word) { return parse_choice("by", word, kByMean); });
}

// Learned and relative positions cannot be requested, but a model may have them.
Positions positions_named(std::string_view name) {
  for (const Positions own : {Positions::kLearned, Positions::kRelative}) {
    if (name == positions_name(own)) {
      return own;
    }
  }
  return parse_positions(name);
}

}  // namespace

Record text_record(const TokenizedText& text) {
  Record record{{"text", text.source},
                {"tokens", list_of(text.tokens, &Token::text)},
                {"token_ids", list_of(text.tokens, &Token::id)}};
  record.add_if_any("turns", turns_of(token_turns(text)))
      .add_if_any("marks", marks_record(token_marks(text)));
  return record;
}

void write_tokens_json(const TokenizedText& text, std::string_view tokenizer, const ByteSink& sink,
                       std::size_t line) {
  Record record{{"schema", "attnviz.tokens/1"}};
  record.add_if_any("line", line)
      .add_all(text_record(text))
      .add("ranges", list_of(text.tokens,
                             [](const Token& token) {
                               return std::array{token.begin, token.end};
                             }))
      .add("tokenizer", tokenizer);
  JsonWriter json(sink);
  write_datum(json, record);
  json.finish();
}

Datum turns_of(const std::vector<TokenTurn>& turns) {
  return list_of(turns, [](const TokenTurn& turn) {
    return Record{{"role", turn.role}, {"begin", turn.begin}, {"end", turn.end}};
  });
}

std::vector<TokenTurn> read_turns(const JsonNode& list, std::size_t n_tokens) {
  std::vector<TokenTurn> turns;
  for (const JsonNode& one : list.as_list("a list of turns")) {
    const std::size_t begin = turns.empty() ? 0 : turns.back().end;
    TokenTurn turn{{}, one.at("begin").as_unsigned(), one.at("end").as_unsigned()};
    if (const auto role = find_value(one, "role")) {
      turn.role = valid_utf8(role->as_string());
    }
    if (turn.begin != begin || turn.end <= begin || turn.end > n_tokens) {
      one.fail(fmt::format("expected tokens from {} on, of {}", begin, n_tokens));
    }
    turns.push_back(std::move(turn));
  }
  if (!turns.empty() && turns.back().end != n_tokens) {
    list.fail(fmt::format("expected turns of all {} tokens, found {}", n_tokens, turns.back().end));
  }
  return turns;
}

Record marks_record(const TokenMarks& marks) {
  Record record;
  for (const auto& [name, list] : kMarks) {
    record.add_if_any(name, marks.*list);
  }
  return record;
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

Record model_record(const ModelFacts& facts) {
  Record record{{"name", facts.name}};
  record.add_if_any("origin", facts.origin)
      .add_if_any("family", facts.family)
      .add_if_any("unknown_keys", facts.unknown_keys);
  if (facts.random) {
    record.add("random", true).add("note", kRandomWeightsNote);
  }
  record.add_if_any("random_embeddings", facts.random_embeddings).add_if_any("seed", facts.seed);
  for (const auto& [key, size] : kSizes) {
    record.add_if_any(key, facts.*size);
  }
  if (facts.positions != Positions::kNone) {
    record.add("positions", positions_name(facts.positions));
  }
  record.add_if_any("tokenizer", facts.tokenizer);
  if (facts.named_heads) {
    record.add("named_heads", list_of(*facts.named_heads, [](const NamedHead& named) {
                 return Record{{"layer", named.layer}, {"head", named.head}, {"name", named.name}};
               }));
  }
  return record;
}

ModelFacts read_model(const JsonNode& node) {
  ModelFacts facts;
  read_optional(node, "name", facts.name);
  read_optional(node, "origin", facts.origin);
  read_optional(node, "family", facts.family);
  facts.unknown_keys = strings_at(node, "unknown_keys", "a list of names");
  read_optional(node, "random", facts.random);
  facts.random_embeddings = strings_at(node, "random_embeddings", "a list of tokens");
  read_optional(node, "seed", facts.seed);
  for (const auto& [key, size] : kSizes) {
    read_optional(node, key, facts.*size);
  }
  read_optional(node, "positions", facts.positions, positions_named);
  read_optional(node, "tokenizer", facts.tokenizer);
  if (const auto named = node.find("named_heads")) {
    facts.named_heads.emplace();
    for (const JsonNode& item : named->as_list("a list of named heads")) {
      NamedHead& head = facts.named_heads->emplace_back();
      read_optional(item, "layer", head.layer);
      read_optional(item, "head", head.head);
      read_optional(item, "name", head.name);
    }
  }
  return facts;
}

Record run_record(const RunFacts& facts) {
  Record record;
  if (facts.mask) {
    record.add("mask", facts.mask->name());
  }
  record.add("temperature", facts.temperature);
  if (!facts.scale) {
    record.add("scale", false);
  }
  if (facts.dropout > 0.0f) {
    record.add("dropout", facts.dropout).add("dropout_seed", facts.dropout_seed);
  }
  return record.add_if_any("layer_facts", list_of(facts.layers, layer_facts_record))
      .add_if_any("interventions", interventions_of(facts));
}

namespace {

MixerKind parse_mixer(std::string_view name) {
  if (const auto mixer = choice_named(kMixers, name)) {
    return *mixer;
  }
  throw Error(ErrorKind::kUsage, fmt::format("expected {}, found {}",
                                             joined(choice_words(kMixers), "or"), in_quotes(name)));
}

}  // namespace

RunFacts read_run(const JsonNode& root) {
  RunFacts facts;
  read_optional(root, "mask", facts.mask, parse_mask);
  read_optional(root, "temperature", facts.temperature);
  read_optional(root, "scale", facts.scale);
  if (const auto dropout = root.find("dropout")) {
    facts.dropout = dropout->as_number();
    if (!(facts.dropout >= 0.0f && facts.dropout < 1.0f)) {
      dropout->fail(fmt::format("expected a number from 0 to below 1, found {}", facts.dropout));
    }
  }
  read_optional(root, "dropout_seed", facts.dropout_seed);
  for (const JsonNode& node : list_at(root, "layer_facts", "a list of layers' own settings")) {
    LayerFacts& layer = facts.layers.emplace_back();
    layer.layer = static_cast<std::size_t>(node.at("layer").as_unsigned());
    read_optional(node, "window", layer.window);
    read_optional(node, "around", layer.around);
    read_optional(node, "soft_cap", layer.soft_cap);
    read_optional(node, "learned_sink", layer.learned_sink);
    read_optional(node, "mixer", layer.mixer, parse_mixer);
    read_optional(node, "beside", layer.beside, parse_mixer);
  }
  std::ranges::stable_sort(facts.layers, {}, &LayerFacts::layer);
  for (const JsonNode& node : list_at(root, "interventions", "a list of the parts left out")) {
    read_intervention(node, facts);
  }
  return facts;
}

Record drawing_record(const Drawing& drawing) {
  Record record{{"colormap", drawing.scale.colormap.name()},
                {"scale", word_for(kScales, drawing.scale.kind)},
                {"range", std::array{drawing.scale.low, drawing.scale.high}},
                {"pool", word_for(kPools, drawing.pool)}};
  record.add_if_any("drop_sink", drawing.drop_sink)
      .add_if_any("no_special", drawing.no_special)
      .add_if_any("plain_labels", drawing.plain_labels)
      .add_if_any("transposed", drawing.transposed)
      .add_if_any("title", drawing.title);
  if (drawing.focus) {
    record.add("focus", Record{{"token", drawing.focus->token}, {"as_key", drawing.focus->as_key}});
  }
  record.add_if_any("side_by_side", drawing.side_by_side);
  if (drawing.overview) {
    record.add("overview", Record{{"layer", drawing.overview->head.layer},
                                  {"head", drawing.overview->head.head},
                                  {"reason", drawing.overview->reason}});
  }
  return record;
}

Drawing read_drawing(const JsonNode& node) {
  Drawing drawing;
  read_optional(node, "colormap", drawing.scale.colormap,
                [](std::string_view name) { return Colormap(name); });
  read_optional(node, "scale", drawing.scale.kind,
                [](std::string_view name) { return parse_choice("scale", name, kScales); });
  if (const auto range = node.find("range")) {
    const auto ends = range->as_numbers();
    if (ends.size() != 2) {
      range->fail(fmt::format("expected [low, high], found {} numbers", ends.size()));
    }
    drawing.scale.low = ends[0];
    drawing.scale.high = ends[1];
  }
  try {
    check(drawing.scale);
  } catch (const Error& error) {
    node.fail(error.what());
  }
  read_optional(node, "pool", drawing.pool, parse_pool);
  read_optional(node, "drop_sink", drawing.drop_sink);
  read_optional(node, "no_special", drawing.no_special);
  read_optional(node, "plain_labels", drawing.plain_labels);
  read_optional(node, "transposed", drawing.transposed);
  read_optional(node, "title", drawing.title);
  drawing.side_by_side = strings_at(node, "side_by_side", "a list of names");
  if (const auto focus = node.find("focus")) {
    drawing.focus.emplace().as_key = focus->at("as_key").as_bool();
    read_optional(*focus, "token", drawing.focus->token);
  }
  return drawing;
}

Record continuation_record(const Continuation& continuation) {
  Record record{{"text", continuation.text},
                {"token_ids", continuation.ids},
                {"ended_by", word_for(kEnds, continuation.end)}};
  return record.add_if_any("end_of_text_id", continuation.end_of_text);
}

Record predictions_record(const Predictions& predictions) {
  Record record{{"at", predictions.at},
                {predictions.replaces_it ? "in_place_of" : "after", predictions.token},
                {"top", list_of(predictions.top, [](const PredictedToken& predicted) {
                   return Record{{"token", predicted.token},
                                 {"id", predicted.id},
                                 {"probability", static_cast<float>(predicted.probability)},
                                 {"logit", predicted.logit}};
                 })}};
  if (const auto& actual = predictions.actual) {
    record.add("actual", Record{{"token", actual->token},
                                {"id", actual->id},
                                {"probability", static_cast<float>(actual->probability)},
                                {"rank", actual->rank}});
  }
  return record;
}

}  // namespace attnviz
