#include "commands/commands.h"

#include <filesystem>
#include <string>
#include <string_view>

#include "attnviz/core/error.h"
#include "attnviz/model/weights_json.h"
#include "outputs/formats/formats.h"
#include "stores/model_source.h"
#include "system/output_file.h"
#include "system/talk.h"

namespace attnviz::app {

void run(const WeightsOptions& options) {
  Phases phases(options.talk);
  const auto open = [&] {
    ModelSource source = model_source(options.model);
    Model model = open_model(source, options.model);
    phases.done("model");
    return model;
  };
  if (options.output == "-") {
    write_weights_json(open(), write_to_stdout);
    phases.done("write");
    return;
  }
  const std::string extension = std::filesystem::path(options.output).extension().string();
  const Format* const format =
      extension.empty() ? nullptr : find_format(std::string_view(extension).substr(1));
  if (format != nullptr && format->content != Content::kDocument) {
    throw Error(ErrorKind::kUsage, "-o " + options.output + ": weights are written as .json");
  }
  OutputFile file(options.output);
  write_weights_json(open(), [&file](std::string_view bytes) { file.write(bytes); });
  file.commit();
  phases.done("write");
  tell(options.talk, "wrote " + options.output);
}

}  // namespace attnviz::app
