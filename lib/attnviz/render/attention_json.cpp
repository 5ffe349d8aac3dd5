#include "attnviz/render/attention_json.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include "attnviz/formats/json_writer.h"
#include "attnviz/render/model_json.h"
#include "attnviz/render/pooling.h"

namespace attnviz {

namespace {

void write_strings(JsonWriter& json, std::string_view key, const std::vector<std::string>& list) {
  json.key(key);
  json.begin_array();
  for (const std::string& item : list) {
    json.value(item);
  }
  json.end_array();
}

template <class Indices>
void write_indices(JsonWriter& json, std::string_view key, const Indices& indices) {
  json.key(key);
  json.begin_array();
  for (const auto index : indices) {
    json.value(std::uint64_t{index});
  }
  json.end_array();
}

void write_tokens(JsonWriter& json, const AttentionDocument& document) {
  if (document.text) {
    json.key("text");
    json.value(*document.text);
  }
  write_strings(json, "tokens", document.query_tokens);
  if (document.key_tokens != document.query_tokens) {
    write_strings(json, "key_tokens", document.key_tokens);
  }
  if (!document.token_ids.empty()) {
    write_indices(json, "token_ids", document.token_ids);
  }
}

void write_drawing(JsonWriter& json, const Drawing& drawing) {
  json.key("drawing");
  json.begin_object();
  json.key("colormap");
  json.value(drawing.scale.colormap.name());
  json.key("scale");
  json.value(scale_name(drawing.scale.kind));
  json.key("range");
  json.values(std::array{drawing.scale.low, drawing.scale.high});
  json.key("pool");
  json.value(pool_option(drawing.pool));
  if (drawing.drop_sink) {
    json.key("drop_sink");
    json.value(true);
  }
  if (drawing.title) {
    json.key("title");
    json.value(*drawing.title);
  }
  if (drawing.focus) {
    json.key("focus");
    json.begin_object();
    json.key("token");
    json.value(std::uint64_t{drawing.focus->token});
    json.key("as_key");
    json.value(drawing.focus->as_key);
    json.end_object();
  }
  if (!drawing.side_by_side.empty()) {
    write_strings(json, "side_by_side", drawing.side_by_side);
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

// `names` are the indices that are listed: of a mean, what went into it.
void write_rectangle(JsonWriter& json, const AttentionDocument& document, const Axes& axes,
                     const Axes& names, bool with_weights) {
  write_indices(json, "layers", names.layers);
  write_indices(json, "heads", names.heads);
  if (!with_weights) {
    return;
  }
  json.key("attention");
  json.begin_array();
  auto pattern = document.patterns.begin();
  for (std::size_t layer = 0; layer < axes.layers.size(); ++layer) {
    json.begin_array();
    for (std::size_t head = 0; head < axes.heads.size(); ++head) {
      json.matrix((pattern++)->weights);
    }
    json.end_array();
  }
  json.end_array();
}

void write_selected(JsonWriter& json, const AttentionDocument& document, bool with_weights) {
  json.key("selected");
  json.begin_array();
  for (const DocumentPattern& pattern : document.patterns) {
    json.begin_object();
    json.key("layer");
    json.value(std::uint64_t{pattern.head.layer});
    json.key("head");
    json.value(std::uint64_t{pattern.head.head});
    if (with_weights) {
      json.key("attention");
      json.matrix(pattern.weights);
    }
    json.end_object();
  }
  json.end_array();
}

void write_mean(JsonWriter& json, const AttentionDocument& document, const Axes& axes,
                bool with_weights) {
  const DocumentAverage& average = *document.average;
  json.key("average");
  json.value(average_name(average.over));
  Axes names;
  for (const HeadId head : average.heads) {
    names.insert(head);
  }
  if (average.heads.size() != names.cells()) {
    json.key("averaged");
    json.begin_array();
    for (const HeadId head : average.heads) {
      json.begin_object();
      json.key("layer");
      json.value(std::uint64_t{head.layer});
      json.key("head");
      json.value(std::uint64_t{head.head});
      json.end_object();
    }
    json.end_array();
  }
  write_rectangle(json, document, axes, names, with_weights);
}

void write_document(JsonWriter& json, const AttentionDocument& document, bool with_weights) {
  json.begin_object();
  json.key("schema");
  json.value("attnviz.attention/1");
  write_tokens(json, document);
  if (document.model) {
    write_model_member(json, *document.model);
  }
  write_run_members(json, document.run);
  if (!document.notes.empty()) {
    write_strings(json, "notes", document.notes);
  }
  write_drawing(json, document.drawing);
  Axes axes;
  for (const DocumentPattern& pattern : document.patterns) {
    axes.insert(pattern.head);
  }
  if (document.average) {
    write_mean(json, document, axes, with_weights);
  } else if (document.patterns.size() == axes.cells()) {
    write_rectangle(json, document, axes, axes, with_weights);
  } else {
    write_selected(json, document, with_weights);
  }
  json.end_object();
  json.finish();
}

}  // namespace

void write_attention_json(const AttentionDocument& document, const ByteSink& sink) {
  JsonWriter json(sink);
  write_document(json, document, /*with_weights=*/true);
}

std::string attention_facts(const AttentionDocument& document) {
  std::string facts;
  JsonWriter json([&facts](std::string_view bytes) { facts += bytes; });
  write_document(json, document, /*with_weights=*/false);
  facts.resize(facts.size() - 1);  // the line's end
  return facts;
}

}  // namespace attnviz
