#include "attnviz/document/json/meaning_json.h"

#include <fmt/core.h>

#include "attnviz/document/json/run_json.h"
#include "attnviz/formats/csv.h"
#include "attnviz/formats/json_writer.h"

namespace attnviz {

void write_meaning_json(const MeaningDocument& document, const ByteSink& sink) {
  JsonWriter json(sink);
  json.begin_object();
  json.member("schema", "attnviz.meaning/1");
  write_model_member(json, document.model);
  write_run_members(json, document.run);
  json.member("word", document.word);
  json.objects("contexts", document.contexts, [&json](const WordContext& context) {
    write_text_members(json, context.text);
    json.member("word_tokens", context.tokens);
    json.member("vectors", ConstMatrix(context.vectors.view()));
  });
  json.begin_array("points");
  for (std::size_t point = 0; point < document.n_points(); ++point) {
    json.value(point_name(point));
  }
  json.end_array();
  json.objects("pairs", document.pairs(), [&](const auto& pair) {
    json.member("a", pair.first);
    json.member("b", pair.second);
    json.begin_array("cosines");
    for (std::size_t point = 0; point < document.n_points(); ++point) {
      json.value(document.cosine_at(point, pair.first, pair.second));
    }
    json.end_array();
  });
  json.member("notes", document.notes);
  json.end_object();
  json.finish();
}

void write_meaning_csv(const MeaningDocument& document, const ByteSink& sink) {
  sink("point,a,b,cosine\n");
  for (std::size_t point = 0; point < document.n_points(); ++point) {
    for (const auto& pair : document.pairs()) {
      sink(fmt::format("{},{},{},{}\n", point_name(point), pair.first, pair.second,
                       csv_number(document.cosine_at(point, pair.first, pair.second))));
    }
  }
}

}  // namespace attnviz
