#include "commands/commands.h"

#include <utility>

#include "attnviz/analysis/model_shape.h"
#include "attnviz/core/demo_files.h"
#include "attnviz/document/json/model_list_json.h"
#include "attnviz/document/model_list.h"
#include "attnviz/model/demo_model.h"
#include "attnviz/terminal/model_list_view.h"
#include "commands/model_summary.h"
#include "outputs/output_file.h"
#include "stores/model_store.h"
#include "system/talk.h"
#include "system/terminal_info.h"

namespace attnviz::app {

namespace {

// The embedded one, which is always there.
ListedModel demo_entry() {
  const Model model = demo_model();
  const ModelShape shape = model_shape(model);
  ListedModel entry;
  entry.name = kDemo;
  entry.store = "attnviz";
  entry.family = model.config.family;
  entry.parameters = count_parameters(shape).total;
  entry.bytes = kDemoWeights.size();
  entry.quantisation = stored_type_name(model.stored.used.front().type);
  entry.n_layers = model.n_layers();
  entry.n_heads = model.n_heads();
  return entry;
}

}  // namespace

void run(const ModelsOptions& options) {
  Phases phases(options.talk);
  ModelList list;
  list.models.push_back(demo_entry());
  for (const Store& store : model_stores()) {
    list.places.push_back(
        {store.title, short_path(store.root), is_there(store.root), is_barred(store.root)});
    for (StoreEntry& entry : store.list(store.root)) {
      ListedModel model;
      model.name = std::move(entry.name);
      model.store = store.title;
      model.path = entry.path.string();
      model.problem = std::move(entry.problem);
      if (model.problem.empty()) {
        summarize_model(entry.path, model);
      }
      list.models.push_back(std::move(model));
    }
  }
  phases.done("look");
  if (options.json) {
    write_model_list_json(list, write_to_stdout);
  } else {
    write_to_stdout(render_model_list(list, stdout_drawing(options.style, options.color)));
  }
  phases.done("print");
}

}  // namespace attnviz::app
