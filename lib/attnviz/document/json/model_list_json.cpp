#include "attnviz/document/json/model_list_json.h"

#include <cstdint>
#include <optional>
#include <string_view>

#include "attnviz/formats/json_writer.h"

namespace attnviz {

namespace {

class Writer {
 public:
  explicit Writer(const ByteSink& sink) : json_(sink, 2) {}

  void write(const ModelList& list) {
    json_.begin_object();
    text("schema", "attnviz.models/1");
    json_.begin_array("models");
    for (const ListedModel& model : list.models) {
      json_.begin_object();
      text("name", model.name);
      text("store", model.store);
      text("path", model.path);
      text("family", model.family);
      text("quantisation", model.quantisation);
      count("parameters", model.parameters);
      count("bytes", model.bytes);
      count("n_layers", model.n_layers);
      count("n_heads", model.n_heads);
      text("problem", model.problem);
      json_.end_object();
    }
    json_.end_array();
    json_.begin_array("stores");
    for (const ModelList::Place& place : list.places) {
      json_.begin_object();
      text("store", place.store);
      text("path", place.path);
      json_.member("exists", place.exists);
      json_.end_object();
    }
    json_.end_array();
    json_.end_object();
    json_.finish();
  }

 private:
  void text(std::string_view key, std::string_view value) {
    json_.key(key);
    value.empty() ? json_.null() : json_.value(value);
  }
  void count(std::string_view key, const std::optional<std::uint64_t>& value) {
    json_.key(key);
    value ? json_.value(*value) : json_.null();
  }

  JsonWriter json_;
};

}  // namespace

void write_model_list_json(const ModelList& list, const ByteSink& sink) {
  Writer(sink).write(list);
}

}  // namespace attnviz
