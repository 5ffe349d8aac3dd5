#include "attnviz/model/model.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/suggest.h"

namespace attnviz {

namespace {
// In the order of the enumerators.
constexpr std::array<std::string_view, 5> kPositionsNames = {"none", "sinusoidal", "rope", "alibi",
                                                             "learned"};
}  // namespace

std::string_view positions_name(Positions positions) noexcept {
  return kPositionsNames[static_cast<std::size_t>(positions)];
}

Positions parse_positions(std::string_view name) {
  const auto* const end = kPositionsNames.end() - 1;  // learned ones lie in a file
  const auto* const found = std::find(kPositionsNames.begin(), end, name);
  if (found == end) {
    const std::vector<std::string> names(kPositionsNames.begin(), end);
    throw Error(ErrorKind::kUsage,
                fmt::format("positions {}: expected none, sinusoidal, rope or alibi{}",
                            quoted(name), did_you_mean(name, names)));
  }
  return static_cast<Positions>(found - kPositionsNames.begin());
}

std::vector<std::size_t> key_value_heads(const LayerWeights& layer) {
  std::vector<const HeadWeights*> different;
  std::vector<std::size_t> numbers;
  numbers.reserve(layer.heads.size());
  for (const HeadWeights& head : layer.heads) {
    const auto found =
        std::find_if(different.begin(), different.end(), [&head](const HeadWeights* other) {
          return other->key == head.key && other->value == head.value;
        });
    numbers.push_back(static_cast<std::size_t>(found - different.begin()));
    if (found == different.end()) {
      different.push_back(&head);
    }
  }
  return numbers;
}

std::size_t Model::n_heads() const noexcept {
  std::size_t most = 0;
  for (const LayerWeights& layer : layers) {
    most = std::max(most, layer.heads.size());
  }
  return most;
}

}  // namespace attnviz
