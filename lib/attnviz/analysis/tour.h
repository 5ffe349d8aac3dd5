// What the tour of attention shows of a model and a text: every number of its screens.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "attnviz/analysis/informative_heads.h"
#include "attnviz/analysis/inspection.h"
#include "attnviz/core/tensor.h"
#include "attnviz/model/model.h"
#include "attnviz/text/tokenized_text.h"
#include "attnviz/text/tokenizer.h"

namespace attnviz {

/// A head that has one job, and one query that shows it at work. Where no head has it, nothing else
/// is set.
struct TourHead {
  bool found = true;
  LookScore score;             // means over the tour's own texts; the example is none of them
  TokenizedText text;          // the example
  ExpectedLook look;           // in it
  std::vector<float> weights;  // of look.query, [n_tokens]: 0 behind it
  float sink = 0.0f;           // what that query gives to a learned sink
};

/// One row of weights at a temperature.
struct TourTemperature {
  float temperature = 1.0f;
  std::vector<float> weights;  // softmax(scores / temperature), [n_tokens]
  double entropy = 0.0;        // in bits, a learned sink's share among them
  float sink = 0.0f;           // that share
};

struct Tour {
  TokenizedText text;           // as much of it as the model reads
  std::size_t n_whole = 0;      // tokens of the whole text
  MatrixBuffer embeddings;      // what enters layer 0, [n_tokens, d_model]
  std::size_t n_heads = 0;      // of all layers
  double first_share = 0.0;     // mean weight on the first token: all heads, all later queries
  double previous_share = 0.0;  // mean weight on the token before: previous.score.head, the same
  TourHead previous, induction, pronoun;
  Inspection inspection;                      // one token with all queries, at the pronoun head or,
                                              // without one, at the most telling head
  std::vector<TourTemperature> temperatures;  // its row at 0.5, 1 and 2; a sharp one's last hotter
  std::size_t n_list_words = 0;  // of the list, read twice, that previous and induction are from
  bool follows_pronoun = false;  // whether the query is a pronoun
  bool is_causal = true;         // no token of the inspected head sees one behind it
  /// As the embedded model did; of others it is not known what they have read.
  bool learned_simple_english = true;
  bool is_random = false;       // the weights: the numbers mean nothing
  bool is_trained = false;      // neither random nor made by hand
  bool is_by_position = false;  // vectors are given for places of the text, not for tokens
  // What the rows of `embeddings` are beside the table's.
  bool adds_positions = false;    // learned or sinusoidal ones
  bool norms_embeddings = false;  // the sum
  float embedding_scale = 1.0f;   // of the table's rows
  bool has_output = true;         // W_O behind the inspected head

  std::size_t query() const noexcept { return inspection.query; }
};

/// Whether a pronoun can mean a token: a content word of the text, or another pronoun.
bool can_be_meant(const Token& token);

struct TourQuery {
  std::size_t token = 0;
  bool is_pronoun = false;
};

/// The token that the tour follows: of the words behind two others that are a pronoun ("it", "she",
/// …) and one token, the first that puts half of its weight or more on what it can mean in
/// `weights`, [n_tokens, n_tokens] or empty, else the first; without a pronoun the last token of
/// the last word with a letter or a digit, else the last token. Precondition: the text has tokens.
TourQuery tour_query(const TokenizedText& text, ConstMatrix weights = {});

/// Runs the model over `text` and the tour's own sentences, which are of simple English: `pronoun`
/// is chosen on half of these, and its score is of the other half: a head has that job when it
/// gives the animal more than the place in three quarters of them, and a third of its weight in the
/// mean. Where the model's heads have been named (ModelConfig::named_heads), `previous` and
/// `induction` are among those of these names; a job that the tour's sentences cannot test, since
/// the model does not take them, no head has. What is beyond the model's context is left out at the
/// end. The inspection looks at the model's weights: valid as long as the model lives.
///
/// Throws what the tokenizer, embed() and run() throw, and Error{kUsage} for a text
/// without tokens.
Tour make_tour(const Model& model, const Tokenizer& tokenizer, std::string_view text);

}  // namespace attnviz
