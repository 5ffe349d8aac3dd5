#include "attnviz/model/model.h"

#include <fmt/core.h>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/suggest.h"

namespace attnviz {

std::string_view positions_name(Positions positions) noexcept {
  return positions == Positions::kLearned ? "learned" : word_for(kPositionChoices, positions);
}

Positions parse_positions(std::string_view name) {
  if (const auto positions = choice_named(kPositionChoices, name)) {
    return *positions;
  }
  throw Error(ErrorKind::kUsage,
              fmt::format("positions {}: expected none, sinusoidal, rope or alibi{}", quoted(name),
                          did_you_mean(name, choice_words(kPositionChoices))));
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
