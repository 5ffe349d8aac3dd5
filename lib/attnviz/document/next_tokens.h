// What a model wrote behind a text, and what it holds probable at a place in it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "attnviz/attention/decoding.h"
#include "attnviz/text/tokenized_text.h"

namespace attnviz {

/// The tokens that a model wrote behind a text.
struct Continuation {
  std::string text;  // that they decode to; valid UTF-8, as all strings here
  std::vector<TokenId> ids;
  std::size_t asked = 0;  // for so many
  ContinuationEnd end = ContinuationEnd::kLength;
  std::optional<TokenId> end_of_text;  // what ended it; not among the ids
  std::string end_token;               // its name
};

struct PredictedToken {
  std::string token;
  TokenId id = 0;
  double probability = 0.0;
  float logit = 0.0f;
};

/// The token that really stands where one is predicted.
struct ActualToken {
  std::string token;
  TokenId id = 0;
  double probability = 0.0;
  std::size_t rank = 0;  // so many are more probable; of equal ones those with smaller ids
};

/// The most probable tokens at a place in a text, the most probable one first.
struct Predictions {
  std::size_t at = 0;        // a token's index
  std::string token;         // the one that is there
  bool replaces_it = false;  // they stand in its place, else behind it
  std::vector<PredictedToken> top;
  std::optional<ActualToken> actual;  // known where every place was asked for, but behind the last
};

/// "the model ended the text (</s>) after 5 of 20 tokens"; empty when it is as long as asked for.
std::string continuation_note(const Continuation& continuation);

}  // namespace attnviz
