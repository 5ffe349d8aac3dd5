#include "attnviz/attention/request.h"

#include <fmt/core.h>

#include "attnviz/core/error.h"
#include "attnviz/model/model.h"

namespace attnviz {

void check_request(const Model& model, const ModelInput& input, const AttentionRequest& request) {
  if (input.size() == 0) {
    throw Error(ErrorKind::kUsage, "the text has no tokens: give at least one");
  }
  if (model.layers.empty()) {
    throw Error(ErrorKind::kMalformed, fmt::format("{}: no attention layers", model.config.name));
  }
  if (model.encoder != nullptr && input.encoded.empty()) {
    throw Error(ErrorKind::kUsage,
                fmt::format("{}: a decoder that looks at another text: expected what its encoder "
                            "makes of one",
                            model.config.name));
  }
  if (!is_temperature(request.temperature)) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format("temperature {}: expected a number from 1e-37 to 1e38", request.temperature));
  }
  if (!(request.dropout >= 0.0f && request.dropout < 1.0f)) {
    throw Error(ErrorKind::kUsage,
                fmt::format("dropout {}: expected at least 0 and less than 1", request.dropout));
  }
  const Mask mask = request.mask.value_or(model.config.mask);
  const bool needs_size = mask.kind != MaskKind::kCausal && mask.kind != MaskKind::kNone;
  if (needs_size && mask.size == 0) {
    throw Error(ErrorKind::kUsage,
                fmt::format("mask \"{}\": the size must be at least 1", mask.name()));
  }
}

}  // namespace attnviz
