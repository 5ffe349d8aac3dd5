#include "attnviz/report/json/document_json.h"

#include <array>
#include <set>
#include <utility>
#include <vector>

#include "attnviz/formats/json_reader.h"

namespace attnviz {

namespace {

// The unit, ranges and token ids of words.
Record words_record(const DocumentWords& words) {
  Record record{{"merged", word_for(kFolds, words.fold)}};
  if (words.mask) {
    record.add("token_mask", words.mask->name());
  }
  const auto range_of = [](const DocumentWords::Source& word) {
    return std::array{word.begin, word.end};
  };
  return record.add_if_any("merged_ranges", list_of(words.sources, range_of))
      .add_if_any("merged_token_ids", list_of(words.sources, &DocumentWords::Source::ids));
}

// The tokens of a document, without its text.
Record tokens_record(const AttentionDocument& document) {
  Record record{{"tokens", document.query_tokens}};
  if (!document.is_of_one_text()) {
    record.add("key_tokens", document.key_tokens);
  }
  record.add_if_any("token_ids", document.token_ids);
  if (document.words) {
    record.add_all(words_record(*document.words));
  }
  record.add_if_any("turns", turns_of(document.turns))
      .add_if_any("marks", marks_record(document.marks));
  if (!document.is_of_one_text()) {
    record.add_if_any("key_marks", marks_record(document.key_marks));
  }
  return record;
}

Record head_record(HeadId head) {
  return {{"layer", head.layer}, {"head", head.head}};
}

struct Axes {
  explicit Axes(const std::vector<HeadId>& all) {
    for (const HeadId head : all) {
      layers.insert(head.layer);
      heads.insert(head.head);
    }
  }
  std::size_t cells() const { return layers.size() * heads.size(); }

  std::set<std::size_t> layers;
  std::set<std::size_t> heads;
};

// The layers and heads of an array of patterns; for means, the heads averaged.
Record axes_record(const AttentionDocument& document) {
  Record record;
  const std::vector<HeadId> heads = document.average ? document.average->heads : heads_of(document);
  const Axes names(heads);
  if (document.average) {
    if (const auto& rollout = document.average->rollout) {
      record.add("rollout", Record{{"residual", rollout->residual},
                                   {"over", word_for(kRolloutOvers, rollout->over)},
                                   {"weighted", rollout->weighted}});
    } else {
      record.add("average", average_name(document.average->over));
    }
    if (heads.size() != names.cells()) {
      record.add("averaged", list_of(heads, head_record));
    }
  }
  return record.add("layers", names.layers).add("heads", names.heads);
}

// [layer][token][k]: indices of experts, and their factors.
Record router_record(const std::vector<RoutedLayer>& layers) {
  const auto of_tokens = [&layers](const auto& of) {
    return list_of(layers, [&of](const RoutedLayer& one) {
      Datum::List tokens;
      for (std::size_t token = 0; token < one.tokens.n_tokens(); ++token) {
        tokens.emplace_back(std::invoke(of, one.tokens, token));
      }
      return Datum(std::move(tokens));
    });
  };
  return {
      {"layers", list_of(layers, &RoutedLayer::layer)},
      {"n_experts", list_of(layers, [](const RoutedLayer& one) { return one.tokens.n_experts; })},
      {"experts", of_tokens(&RoutedTokens::experts_of)},
      {"weights", of_tokens(&RoutedTokens::factors_of)}};
}

// The settings that several parts share: how they were run and drawn.
Record settings_record(const AttentionDocument& document, const RunFacts& run) {
  Record record;
  if (document.model) {
    record.add("model", model_record(*document.model));
  }
  record.add_all(run_record(run));
  if (document.kind != PatternKind::kWeights) {
    record.add("kind", word_for(kPatternKinds, document.kind));
  }
  if (const auto& difference = document.difference) {
    record.add("difference", Record{{"of", difference->of_models ? "models" : "texts"},
                                    {"a", difference->a},
                                    {"b", difference->b}});
  }
  record.add_if_any("notes", document.notes);
  if (document.continuation) {
    record.add("generated", continuation_record(*document.continuation));
  }
  return record.add("drawing", drawing_record(document.drawing));
}

Record beginning(std::size_t line) {
  Record record{{"schema", "attnviz.attention/1"}};
  return record.add_if_any("line", line);
}

// Everything before the heads.
Record before_heads(const AttentionDocument& document, std::size_t line) {
  Record record = beginning(line);
  record.add_if_any("text", document.text);
  if (document.part) {
    record.add("part", word_for(kPartChoices, *document.part));
  }
  return record.add_all(tokens_record(document)).add_all(settings_record(document, document.run));
}

void begin_document(JsonWriter& json, const AttentionDocument& document, std::size_t line) {
  json.begin_object();
  write_members(json, before_heads(document, line));
}

// Whether the patterns form an array by layer and head; other patterns are listed one by one.
bool is_array(const AttentionDocument& document) {
  return document.average || document.patterns.size() == Axes(heads_of(document)).cells();
}

// The model's predictions at one position and at all positions.
Record answers_record(const AttentionDocument& document) {
  Record record;
  if (document.predictions) {
    record.add("predictions", predictions_record(*document.predictions));
  }
  return record.add_if_any("all_predictions",
                           list_of(document.all_predictions, predictions_record));
}

// The three attentions of an encoder-decoder, each with its own tokens.
void write_parts_json(const AttentionDocument& shown, const ByteSink& sink, std::size_t line) {
  JsonWriter json(sink);
  json.begin_object();
  const std::vector<AttentionDocument>& parts = *shown.parts;
  RunFacts run = shown.run;
  run.mask.reset();
  Record record = beginning(line);
  record.add_if_any("text", parts[static_cast<std::size_t>(AttentionPart::kEncoder)].text)
      .add_if_any("target", parts[static_cast<std::size_t>(AttentionPart::kDecoder)].text)
      .add_all(settings_record(shown, run))
      .add("shown", word_for(kPartChoices, *shown.part));
  write_members(json, record);
  for (const auto& [name, part] : kPartChoices) {
    const AttentionDocument& document =
        part == shown.part ? shown : parts[static_cast<std::size_t>(part)];
    json.begin_object(name);
    write_members(json, tokens_record(document));
    if (document.run.mask) {
      json.member("mask", document.run.mask->name());
    }
    PatternItems(document, json).write_all();
    json.end_object();
  }
  write_members(json, answers_record(shown));
  json.end_object();
  json.finish();
}

}  // namespace

PatternItems::PatternItems(const AttentionDocument& document, JsonWriter& json)
    : document_(document),
      json_(json),
      is_array_(is_array(document)),
      heads_a_layer_(Axes(heads_of(document)).heads.size()) {
  if (is_array_) {
    write_members(json_, axes_record(document_));
    json_.key("attention");
  } else {
    json_.key("selected");
  }
  json_.begin_array();
}

void PatternItems::rows(std::size_t n_rows, std::string_view items) {
  if (row_ == 0) {
    begin_pattern();
  }
  json_.raw_items(items);
  row_ += n_rows;
  if (row_ == document_.query_tokens.size()) {
    end_pattern();
    row_ = 0;
    ++pattern_;
  }
}

void PatternItems::begin_pattern() {
  if (!is_array_) {
    json_.begin_object();
    write_members(json_, head_record(document_.patterns[pattern_].head));
    json_.key("attention");
  } else if (pattern_ % heads_a_layer_ == 0) {
    json_.begin_array();
  }
  json_.begin_array();
}

void PatternItems::end_pattern() {
  json_.end_array();
  if (!is_array_) {
    json_.end_object();
  } else if ((pattern_ + 1) % heads_a_layer_ == 0) {
    json_.end_array();
  }
}

void PatternItems::write_sinks() {
  json_.begin_array("sink");
  for (std::size_t i = 0; i < document_.patterns.size(); ++i) {
    if (is_array_ && i % heads_a_layer_ == 0) {
      json_.begin_array();
    }
    json_.value(std::span<const float>(document_.patterns[i].sink));
    if (is_array_ && (i + 1) % heads_a_layer_ == 0) {
      json_.end_array();
    }
  }
  json_.end_array();
}

void PatternItems::finish() {
  json_.end_array();
  if (document_.has_sinks()) {
    write_sinks();
  }
}

void PatternItems::write_all() {
  std::string items;
  for (const DocumentPattern& pattern : document_.patterns) {
    for (std::size_t query = 0; query < pattern.weights.rows; ++query) {
      items.clear();
      append_json_values(items, pattern.weights.row(query));
      rows(1, items);
    }
  }
  finish();
}

AttentionJsonStream::AttentionJsonStream(const AttentionDocument& document, ByteSink sink,
                                         std::size_t line)
    : document_(document),
      json_(std::move(sink)),
      items_((begin_document(json_, document, line), document), json_) {}

void AttentionJsonStream::finish() {
  items_.finish();
  Record after;
  if (const auto& shares = document_.turn_attention) {
    after.add("turn_attention", Record{{"mean", shares->mean}, {"from_last", shares->from_last}});
  }
  if (!document_.router.empty()) {
    after.add("router", router_record(document_.router));
  }
  write_members(json_, after.add_all(answers_record(document_)));
  json_.end_object();
  json_.finish();
}

void write_attention_json(const AttentionDocument& document, const ByteSink& sink,
                          std::size_t line) {
  if (document.parts != nullptr) {
    return write_parts_json(document, sink, line);
  }
  AttentionJsonStream stream(document, sink, line);
  std::string items;
  for (const DocumentPattern& pattern : document.patterns) {
    for (std::size_t query = 0; query < pattern.weights.rows; ++query) {
      items.clear();
      append_json_values(items, pattern.weights.row(query));
      stream.rows(1, items);
    }
  }
  stream.finish();
}

std::string attention_facts(const AttentionDocument& document) {
  std::string facts;
  JsonWriter json([&facts](std::string_view bytes) { facts += bytes; });
  Record record = before_heads(document, 0);
  if (is_array(document)) {
    record.add_all(axes_record(document));
  } else {
    record.add("selected", list_of(heads_of(document), head_record));
  }
  write_datum(json, record);
  json.finish();
  facts.resize(facts.size() - 1);  // the line feed
  return facts;
}

}  // namespace attnviz
