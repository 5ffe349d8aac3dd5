#include "attnviz/document/json/diff_json.h"

#include <fmt/core.h>

#include <array>
#include <optional>
#include <string>

#include "attnviz/document/json/run_json.h"
#include "attnviz/formats/json_writer.h"

namespace attnviz {

namespace {

std::array<std::size_t, 2> place_of(const DiffDocument& document, const HeadDifference& head) {
  return {document.alignment.first[head.query], document.alignment.first[head.key]};
}

void write_side(JsonWriter& json, const DiffDocument& document, std::size_t side) {
  json.begin_object(side == 0 ? "a" : "b");
  if (document.of_models) {
    json.member("given", document.names[side]);
    write_model_member(json, document.models[side]);
  } else {
    write_text_members(json, document.texts[side]);
  }
  json.end_object();
}

void write_head(JsonWriter& json, const DiffDocument& document, const HeadDifference& head) {
  json.member("layer", head.head.layer);
  json.member("head", head.head.head);
  json.member("js_bits", head.js_bits);
  json.member("js_bits_max", head.js_bits_max);
  json.member("js_max_query", head.js_bits_max
                                  ? std::optional(document.alignment.first[head.js_max_query])
                                  : std::nullopt);
  json.member("largest_change", head.largest_change);
  json.member("at", place_of(document, head));
  json.member("weights", head.weights);
}

void write_departure(JsonWriter& json, const Departure& departure) {
  json.member("layer", departure.layer);
  json.member("relative", departure.largest);
  json.member("token", departure.token);
  json.member("mean", departure.mean);
}

void write_models(JsonWriter& json, const ModelsDiff& models) {
  json.member("settings", models.settings);
  json.objects("tensors", models.tensors, [&json](const TensorDifference& tensor) {
    json.member("layer", tensor.layer);
    json.member("name", tensor.name);
    json.member("relative_error", tensor.relative);
    if (tensor.only_in) {
      json.member("only_in", *tensor.only_in == 0 ? "a" : "b");
    }
  });
  const bool predicts = !models.kl_bits.empty();
  json.member("kl_bits", predicts ? std::optional(models.kl_bits.back()) : std::nullopt);
  json.member("kl_bits_mean", predicts ? std::optional(models.kl_bits_mean()) : std::nullopt);
  json.member("kl_bits_by_token", models.kl_bits);
  json.member("threshold", models.threshold);
  json.key("first_departure");
  if (const Departure* const first = models.first_departure()) {
    json.begin_object();
    write_departure(json, *first);
    json.end_object();
  } else {
    json.null();
  }
  json.objects("departures", models.departures,
               [&json](const Departure& departure) { write_departure(json, departure); });
}

}  // namespace

void write_diff_json(const DiffDocument& document, const ByteSink& sink) {
  JsonWriter json(sink);
  json.begin_object();
  json.member("schema", "attnviz.diff/1");
  json.member("of", document.of_models ? "models" : "texts");
  if (document.of_models) {
    write_text_members(json, document.texts[0]);
  } else {
    write_model_member(json, document.models[0]);
  }
  write_side(json, document, 0);
  write_side(json, document, 1);
  write_run_members(json, document.run);
  json.member_if_any("notes", document.notes);
  json.begin_object("alignment");
  json.member("by_position", document.alignment.by_position);
  json.member("a", document.alignment.first);
  json.member("b", document.alignment.second);
  json.end_object();
  json.objects("heads", document.heads,
               [&](const HeadDifference& head) { write_head(json, document, head); });
  if (document.of_models) {
    write_models(json, *document.of_models);
  }
  json.end_object();
  json.finish();
}

namespace {

std::string cell(const std::optional<double>& number) {
  return number ? fmt::format("{}", *number) : std::string();
}

}  // namespace

void write_diff_csv(const DiffDocument& document, const ByteSink& sink) {
  sink(
      "layer,head,js_bits,js_bits_max,js_max_query,largest_change,query,key,weight_a,weight_b\r\n");
  for (const HeadDifference& head : document.heads) {
    const auto [query, key] = place_of(document, head);
    sink(fmt::format(
        "{},{},{},{},{},{},{},{},{},{}\r\n", head.head.layer, head.head.head, cell(head.js_bits),
        cell(head.js_bits_max),
        head.js_bits_max ? fmt::format("{}", document.alignment.first[head.js_max_query]) : "",
        head.largest_change, query, key, head.weights[0], head.weights[1]));
  }
}

}  // namespace attnviz
