#include "attnviz/render/random_embeddings.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

namespace attnviz {

std::size_t n_random_embeddings(const Model& model, const TokenizedText& text) {
  if (!model.inputs.empty()) {
    return 0;
  }
  const std::unordered_set<std::string_view> known(model.vocabulary.begin(),
                                                   model.vocabulary.end());
  return static_cast<std::size_t>(
      std::count_if(text.tokens.begin(), text.tokens.end(),
                    [&known](const Token& token) { return known.count(token.text) == 0; }));
}

}  // namespace attnviz
