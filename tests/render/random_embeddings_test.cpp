#include "attnviz/render/random_embeddings.h"

#include <doctest/doctest.h>

#include "attnviz/text/tokenizer.h"

namespace attnviz {

TEST_CASE("n_random_embeddings: every token outside of the vocabulary counts, repeated ones too") {
  const TokenizedText text = make_tokenizer("words", {})->tokenize("a b a c");
  Model model;
  CHECK(n_random_embeddings(model, text) == 4);
  model.vocabulary = {"b", "z"};
  CHECK(n_random_embeddings(model, text) == 3);
  model.vocabulary = {"c", "b", "a"};
  CHECK(n_random_embeddings(model, text) == 0);
}

TEST_CASE("n_random_embeddings: inputs by position need no embeddings") {
  const TokenizedText text = make_tokenizer("words", {})->tokenize("a b");
  const float inputs[] = {1.0f, 2.0f};
  Model model;
  model.inputs = {inputs, 2, 1, 1};
  CHECK(n_random_embeddings(model, text) == 0);
}

}  // namespace attnviz
