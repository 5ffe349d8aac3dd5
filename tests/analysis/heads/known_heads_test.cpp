#include "attnviz/analysis/heads/head_names.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <map>
#include <string>

#include "attnviz/core/error.h"
#include "attnviz/model/random_model.h"

namespace attnviz {

TEST_CASE("known heads: 26 heads of GPT-2 small have the names that Wang et al. gave them") {
  std::map<std::string, std::size_t> counts;
  for (std::size_t layer = 0; layer < 12; ++layer) {
    for (std::size_t head = 0; head < 12; ++head) {
      if (const auto name = known_name(KnownModel::kGpt2, {layer, head})) {
        ++counts[std::string(*name)];
      }
    }
  }
  const std::map<std::string, std::size_t> expected = {
      {"previous-token", 2},   {"duplicate-token", 3}, {"induction", 4},
      {"S-inhibition", 4},     {"name mover", 3},      {"negative name mover", 2},
      {"backup name mover", 8}};
  CHECK(counts == expected);
  CHECK(known_name(KnownModel::kGpt2, {5, 5}) == "induction");
  CHECK(known_name(KnownModel::kGpt2, {9, 9}) == "name mover");
  CHECK_FALSE(known_name(KnownModel::kGpt2, {0, 0}));
}

TEST_CASE("known heads: a model of another family or shape is refused with the expected one") {
  RandomShape shape;
  shape.n_layers = 12;
  shape.n_heads = 12;
  shape.d_model = 768;
  Model model = random_model(shape, 1);
  CHECK_THROWS_WITH_AS(require_known(model, KnownModel::kGpt2),
                       "known gpt2: expected GPT-2 small (family gpt2, 12 layers of 12 "
                       "heads, width 768), found random with 12 layers of 12 heads, width 768",
                       Error);
  model.config.family = "gpt2";
  CHECK_NOTHROW(require_known(model, KnownModel::kGpt2));
  model.layers.pop_back();
  CHECK_THROWS_AS(require_known(model, KnownModel::kGpt2), Error);
}

}  // namespace attnviz
