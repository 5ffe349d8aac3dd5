// Prints the attention pattern of one head of a random model.
#include <attnviz/library/attention.h>

#include <cstdio>

int main() {
  const attnviz::LanguageModel model = attnviz::random_language_model({.n_heads = 2}, /*seed=*/42);
  const attnviz::TokenizedText text = model.tokenizer->tokenize("The cat sat");
  const attnviz::PatternStore patterns = attnviz::attend(model, text);
  const attnviz::ConstMatrix weights = patterns.pattern({.layer = 0, .head = 1});
  for (std::size_t query = 0; query < weights.rows; ++query) {
    for (const float weight : weights.row(query)) {
      std::printf("%.4f ", static_cast<double>(weight));
    }
    std::printf("\n");
  }
}
