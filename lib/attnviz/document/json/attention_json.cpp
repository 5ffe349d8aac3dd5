#include "attnviz/document/json/attention_json.h"

#include <array>
#include <set>
#include <utility>
#include <vector>

#include "attnviz/document/json/run_json.h"
#include "attnviz/formats/json_numbers.h"

namespace attnviz {

namespace {

// What the tokens are when they are words.
void write_words(JsonWriter& json, const DocumentWords& words) {
  json.member("merged", word_for(kFolds, words.fold));
  if (words.mask) {
    json.member("token_mask", words.mask->name());
  }
  const auto range_of = [](const DocumentWords::Source& word) {
    return std::array{word.begin, word.end};
  };
  if (!words.sources.empty()) {
    json.list("merged_ranges", words.sources, range_of);
    json.list("merged_token_ids", words.sources, &DocumentWords::Source::ids);
  }
}

// But for the text.
void write_tokens(JsonWriter& json, const AttentionDocument& document) {
  json.member("tokens", document.query_tokens);
  if (!document.is_of_one_text()) {
    json.member("key_tokens", document.key_tokens);
  }
  json.member_if_any("token_ids", document.token_ids);
  if (document.words) {
    write_words(json, *document.words);
  }
  Record marks;
  marks.add_if_any("turns", turns_of(document.turns))
      .add_if_any("marks", marks_record(document.marks));
  if (!document.is_of_one_text()) {
    marks.add_if_any("key_marks", marks_record(document.key_marks));
  }
  write_members(json, marks);
}

void write_head(JsonWriter& json, HeadId head) {
  json.member("layer", head.layer);
  json.member("head", head.head);
}

void write_heads(JsonWriter& json, std::string_view key, const std::vector<HeadId>& heads) {
  json.objects(key, heads, [&json](HeadId head) { write_head(json, head); });
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

// Which layers and heads an array of patterns has; of means, what went into them.
void write_axes(JsonWriter& json, const AttentionDocument& document) {
  const std::vector<HeadId> heads = document.average ? document.average->heads : heads_of(document);
  const Axes names(heads);
  if (document.average) {
    if (const auto& rollout = document.average->rollout) {
      json.begin_object("rollout");
      json.member("residual", rollout->residual);
      json.member("over", word_for(kRolloutOvers, rollout->over));
      json.member("weighted", rollout->weighted);
      json.end_object();
    } else {
      json.member("average", average_name(document.average->over));
    }
    if (heads.size() != names.cells()) {
      write_heads(json, "averaged", heads);
    }
  }
  json.member("layers", names.layers);
  json.member("heads", names.heads);
}

// [layer][token][k], as numbers of experts and as their factors.
void write_router(JsonWriter& json, const std::vector<RoutedLayer>& layers) {
  const auto write = [&](std::string_view key, auto of_token) {
    json.key(key);
    json.begin_array();
    for (const RoutedLayer& one : layers) {
      json.begin_array();
      for (std::size_t token = 0; token < one.tokens.n_tokens(); ++token) {
        json.begin_array();
        for (const auto number : of_token(one.tokens, token)) {
          json.value(number);
        }
        json.end_array();
      }
      json.end_array();
    }
    json.end_array();
  };
  json.begin_object("router");
  json.list("layers", layers, &RoutedLayer::layer);
  json.list("n_experts", layers, [](const RoutedLayer& one) { return one.tokens.n_experts; });
  write("experts",
        [](const RoutedTokens& tokens, std::size_t token) { return tokens.experts_of(token); });
  write("weights",
        [](const RoutedTokens& tokens, std::size_t token) { return tokens.factors_of(token); });
  json.end_object();
}

// What several parts have in common: how they were run and are drawn.
void write_run(JsonWriter& json, const AttentionDocument& document, const RunFacts& run) {
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
  write_members(json, record.add("drawing", drawing_record(document.drawing)));
}

// Everything before the heads.
void begin_document(JsonWriter& json, const AttentionDocument& document, std::size_t line) {
  json.begin_object();
  json.member("schema", "attnviz.attention/1");
  write_line_member(json, line);
  json.member_if_any("text", document.text);
  if (document.part) {
    json.member("part", word_for(kPartChoices, *document.part));
  }
  write_tokens(json, document);
  write_run(json, document, document.run);
}

// Whether the patterns are an array by layer and head; others stand one by one.
bool is_array(const AttentionDocument& document) {
  return document.average || document.patterns.size() == Axes(heads_of(document)).cells();
}

// What the model holds probable, of one token or of all.
void write_predictions(JsonWriter& json, const AttentionDocument& document) {
  Record record;
  if (document.predictions) {
    record.add("predictions", predictions_record(*document.predictions));
  }
  write_members(json, record.add_if_any("all_predictions",
                                        list_of(document.all_predictions, predictions_record)));
}

// The three attentions of an encoder-decoder, each with its own tokens.
void write_parts_json(const AttentionDocument& shown, const ByteSink& sink, std::size_t line) {
  JsonWriter json(sink);
  json.begin_object();
  json.member("schema", "attnviz.attention/1");
  write_line_member(json, line);
  const std::vector<AttentionDocument>& parts = *shown.parts;
  json.member_if_any("text", parts[static_cast<std::size_t>(AttentionPart::kEncoder)].text);
  json.member_if_any("target", parts[static_cast<std::size_t>(AttentionPart::kDecoder)].text);
  RunFacts run = shown.run;
  run.mask.reset();
  write_run(json, shown, run);
  json.member("shown", word_for(kPartChoices, *shown.part));
  for (const auto& [name, part] : kPartChoices) {
    const AttentionDocument& document =
        part == shown.part ? shown : parts[static_cast<std::size_t>(part)];
    json.begin_object(name);
    write_tokens(json, document);
    if (document.run.mask) {
      json.member("mask", document.run.mask->name());
    }
    PatternItems(document, json).write_all();
    json.end_object();
  }
  write_predictions(json, shown);
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
    write_axes(json_, document_);
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
    write_head(json_, document_.patterns[pattern_].head);
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
  if (const auto& shares = document_.turn_attention) {
    json_.begin_object("turn_attention");
    json_.member("mean", shares->mean);
    json_.member("from_last", shares->from_last);
    json_.end_object();
  }
  if (!document_.router.empty()) {
    write_router(json_, document_.router);
  }
  write_predictions(json_, document_);
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
  begin_document(json, document, 0);
  if (is_array(document)) {
    write_axes(json, document);
  } else {
    write_heads(json, "selected", heads_of(document));
  }
  json.end_object();
  json.finish();
  facts.resize(facts.size() - 1);  // the line's end
  return facts;
}

}  // namespace attnviz
