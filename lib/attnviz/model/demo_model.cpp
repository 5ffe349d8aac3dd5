#include "attnviz/model/demo_model.h"

#include "attnviz/core/demo_files.h"
#include "attnviz/model/hugging_face.h"

namespace attnviz {

Model demo_model() {
  Model model = load_hugging_face(demo_file(kDemoConfig, "demo: config.json"),
                                  demo_file(kDemoWeights, "demo: model.safetensors"));
  model.config.name = "demo";
  model.config.origin = "embedded in attnviz, trained on generated text";
  return model;
}

}  // namespace attnviz
