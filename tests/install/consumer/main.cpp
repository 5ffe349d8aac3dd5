// Prints the attention pattern of one head of a random model.
#include <attnviz/attention/engine.h>
#include <attnviz/attention/pattern_store.h>
#include <attnviz/model/random_model.h>

#include <cstdio>
#include <string_view>

int main() {
  const std::string_view pieces[] = {"The", "cat", "sat"};
  const attnviz::Model model = attnviz::random_model({.n_layers = 1, .n_heads = 2}, /*seed=*/42);
  attnviz::PatternStore store({{.layer = 0, .head = 1}}, 3);
  attnviz::run(model, pieces, {}, store);
  const attnviz::ConstMatrix weights = store.pattern({.layer = 0, .head = 1});
  for (std::size_t query = 0; query < weights.rows; ++query) {
    for (const float weight : weights.row(query)) {
      std::printf("%.4f ", static_cast<double>(weight));
    }
    std::printf("\n");
  }
}
