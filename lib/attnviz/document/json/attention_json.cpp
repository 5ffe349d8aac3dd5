#include "attnviz/document/json/attention_json.h"

#include <array>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "attnviz/document/json/run_json.h"
#include "attnviz/formats/json_numbers.h"

namespace attnviz {

namespace {

void write_strings(JsonWriter& json, std::string_view key, const std::vector<std::string>& list) {
  json.begin_array(key);
  for (const std::string& item : list) {
    json.value(item);
  }
  json.end_array();
}

template <class Indices>
void write_indices(JsonWriter& json, std::string_view key, const Indices& indices) {
  json.begin_array(key);
  for (const auto index : indices) {
    json.value(std::uint64_t{index});
  }
  json.end_array();
}

// What the tokens are when they are words.
void write_words(JsonWriter& json, const DocumentWords& words) {
  json.member("merged", "words");
  if (words.mask) {
    json.member("token_mask", words.mask->name());
  }
  if (words.sources.empty()) {
    return;
  }
  json.begin_array("merged_ranges");
  for (const DocumentWords::Source& source : words.sources) {
    json.begin_array();
    json.value(std::uint64_t{source.begin});
    json.value(std::uint64_t{source.end});
    json.end_array();
  }
  json.end_array();
  json.begin_array("merged_token_ids");
  for (const DocumentWords::Source& source : words.sources) {
    json.begin_array();
    for (const TokenId id : source.ids) {
      json.value(std::uint64_t{id});
    }
    json.end_array();
  }
  json.end_array();
}

void write_tokens(JsonWriter& json, const AttentionDocument& document) {
  if (document.text) {
    json.member("text", *document.text);
  }
  write_strings(json, "tokens", document.query_tokens);
  if (document.key_tokens != document.query_tokens) {
    write_strings(json, "key_tokens", document.key_tokens);
  }
  if (!document.token_ids.empty()) {
    write_indices(json, "token_ids", document.token_ids);
  }
  if (document.words) {
    write_words(json, *document.words);
  }
  write_marks_member(json, document.marks);
}

void write_head(JsonWriter& json, HeadId head) {
  json.member("layer", std::uint64_t{head.layer});
  json.member("head", std::uint64_t{head.head});
}

void write_drawing(JsonWriter& json, const Drawing& drawing) {
  json.begin_object("drawing");
  json.member("colormap", drawing.scale.colormap.name());
  json.member("scale", word_for(kScales, drawing.scale.kind));
  json.member("range", std::array{drawing.scale.low, drawing.scale.high});
  json.member("pool", word_for(kPools, drawing.pool));
  if (drawing.drop_sink) {
    json.member("drop_sink", true);
  }
  if (drawing.title) {
    json.member("title", *drawing.title);
  }
  if (drawing.focus) {
    json.begin_object("focus");
    json.member("token", std::uint64_t{drawing.focus->token});
    json.member("as_key", drawing.focus->as_key);
    json.end_object();
  }
  if (!drawing.side_by_side.empty()) {
    write_strings(json, "side_by_side", drawing.side_by_side);
  }
  if (drawing.overview) {
    json.begin_object("overview");
    write_head(json, drawing.overview->head);
    json.member("reason", drawing.overview->reason);
    json.end_object();
  }
  json.end_object();
}

struct Axes {
  std::set<std::size_t> layers;
  std::set<std::size_t> heads;

  void insert(HeadId head) {
    layers.insert(head.layer);
    heads.insert(head.head);
  }
  std::size_t cells() const { return layers.size() * heads.size(); }
};

Axes axes_of(const AttentionDocument& document) {
  Axes axes;
  for (const DocumentPattern& pattern : document.patterns) {
    axes.insert(pattern.head);
  }
  return axes;
}

// Which layers and heads an array of patterns has; of means, what went into them.
void write_axes(JsonWriter& json, const AttentionDocument& document) {
  Axes names = axes_of(document);
  if (document.average) {
    const DocumentAverage& average = *document.average;
    json.member("average", average_name(average.over));
    names = {};
    for (const HeadId head : average.heads) {
      names.insert(head);
    }
    if (average.heads.size() != names.cells()) {
      json.begin_array("averaged");
      for (const HeadId head : average.heads) {
        json.begin_object();
        write_head(json, head);
        json.end_object();
      }
      json.end_array();
    }
  }
  write_indices(json, "layers", names.layers);
  write_indices(json, "heads", names.heads);
}

// Everything before the heads.
void begin_document(JsonWriter& json, const AttentionDocument& document) {
  json.begin_object();
  json.member("schema", "attnviz.attention/1");
  write_tokens(json, document);
  if (document.model) {
    write_model_member(json, *document.model);
  }
  write_run_members(json, document.run);
  if (!document.notes.empty()) {
    write_strings(json, "notes", document.notes);
  }
  if (document.continuation) {
    write_continuation_member(json, *document.continuation);
  }
  write_drawing(json, document.drawing);
}

// Whether the patterns are an array by layer and head; others stand one by one.
bool is_array(const AttentionDocument& document) {
  return document.average || document.patterns.size() == axes_of(document).cells();
}

}  // namespace

AttentionJsonStream::AttentionJsonStream(const AttentionDocument& document, ByteSink sink)
    : document_(document),
      json_(std::move(sink)),
      is_array_(is_array(document)),
      heads_a_layer_(axes_of(document).heads.size()) {
  begin_document(json_, document_);
  if (is_array_) {
    write_axes(json_, document_);
    json_.key("attention");
  } else {
    json_.key("selected");
  }
  json_.begin_array();
}

void AttentionJsonStream::rows(std::size_t n_rows, std::string_view items) {
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

void AttentionJsonStream::begin_pattern() {
  if (!is_array_) {
    json_.begin_object();
    write_head(json_, document_.patterns[pattern_].head);
    json_.key("attention");
  } else if (pattern_ % heads_a_layer_ == 0) {
    json_.begin_array();
  }
  json_.begin_array();
}

void AttentionJsonStream::end_pattern() {
  json_.end_array();
  if (!is_array_) {
    json_.end_object();
  } else if ((pattern_ + 1) % heads_a_layer_ == 0) {
    json_.end_array();
  }
}

void AttentionJsonStream::finish() {
  json_.end_array();
  if (document_.predictions) {
    write_predictions_member(json_, *document_.predictions);
  }
  json_.end_object();
  json_.finish();
}

void write_attention_json(const AttentionDocument& document, const ByteSink& sink) {
  AttentionJsonStream stream(document, sink);
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
  begin_document(json, document);
  if (is_array(document)) {
    write_axes(json, document);
  } else {
    json.begin_array("selected");
    for (const DocumentPattern& pattern : document.patterns) {
      json.begin_object();
      write_head(json, pattern.head);
      json.end_object();
    }
    json.end_array();
  }
  json.end_object();
  json.finish();
  facts.resize(facts.size() - 1);  // the line's end
  return facts;
}

}  // namespace attnviz
