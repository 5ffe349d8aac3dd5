#include "attnviz/model/unread_tensors.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"

namespace attnviz {

namespace {

// A tensor of a layer, one of an adapter, or one outside of the layers that llama.cpp uses in them:
// "layers.3.…", "blk.0.…", "rope_freqs.weight".
bool may_change_layers(std::string_view name) {
  constexpr std::string_view kLayers[] = {"blk", "block", "blocks", "h", "layer", "layers"};
  constexpr std::string_view kOutside[] = {
      "output",     "output_norm",     "position_embd", "rope_factors_long", "rope_factors_short",
      "rope_freqs", "token_embd_norm", "token_types"};
  if (name.find("lora_") != std::string_view::npos) {
    return true;
  }
  const std::vector<std::string_view> parts = list_parts(name, '.');
  if (std::ranges::find(kOutside, parts.front()) != std::end(kOutside)) {
    return true;
  }
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    if (std::ranges::find(kLayers, parts[i]) != std::end(kLayers) && !parts[i + 1].empty() &&
        parts[i + 1].find_first_not_of("0123456789") == std::string_view::npos) {
      return true;
    }
  }
  return false;
}

}  // namespace

void pass_over_tensors(Model& model) {
  for (const StoredWeights::Unused& unused : model.stored.unused_tensors) {
    if (!unused.why.empty()) {
      model.config.passed_over.push_back({unused.name, unused.why});
    } else if (may_change_layers(unused.name)) {
      throw Error(ErrorKind::kUnsupported,
                  fmt::format("{}: {}: attnviz does not know what this tensor changes in a model "
                              "of this family",
                              unused.file, shown_name(unused.name)));
    } else {
      model.config.unknown_keys.push_back(unused.name);
    }
  }
}

}  // namespace attnviz
