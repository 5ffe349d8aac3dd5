// Everything that the tour of attention shows for a model and a text: each number on its screens.
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

/// A head that has one job, and one query that shows it at work. If no head has the job, nothing
/// else is set.
struct TourHead {
  bool found = true;
  LookScore score;             // means over the tour's own texts, without the example
  TokenizedText text;          // the example
  ExpectedLook look;           // in it
  std::vector<float> weights;  // of look.query, [n_tokens]: 0 after it
  float sink = 0.0f;           // weight that this query gives to a learned sink
};

/// One row of weights at a temperature.
struct TourTemperature {
  float temperature = 1.0f;
  std::vector<float> weights;  // softmax(scores / temperature), [n_tokens]
  double entropy = 0.0;        // in bits, including a learned sink's share
  float sink = 0.0f;           // that share
};

struct Tour {
  TokenizedText text;           // the part of it that the model reads
  std::size_t n_whole = 0;      // tokens in the whole text
  MatrixBuffer embeddings;      // input of layer 0, [n_tokens, d_model]
  std::size_t n_heads = 0;      // in all layers
  double first_share = 0.0;     // mean weight on the first token: all heads, all later queries
  double previous_share = 0.0;  // mean weight of previous.score.head on the token before, likewise
  TourHead previous, induction, pronoun;
  Inspection inspection;                      // one token with all queries, at the pronoun head
                                              // or, without one, at the most informative head
  std::vector<TourTemperature> temperatures;  // its row at 0.5, 1 and 2; if sharp, the last is
                                              // hotter
  std::size_t n_list_words = 0;  // in the list, read twice, that tests previous and induction
  bool follows_pronoun = false;  // whether the query is a pronoun
  bool is_causal = true;         // no token of the inspected head sees a later one
  /// Like the embedded model; the training texts of other models are not known.
  bool learned_simple_english = true;
  bool is_random = false;       // random weights: the numbers mean nothing
  bool is_trained = false;      // neither random nor made by hand
  bool is_by_position = false;  // vectors belong to positions of the text, not to tokens
  // How the rows of `embeddings` differ from those of the table.
  bool adds_positions = false;    // learned or sinusoidal
  bool norms_embeddings = false;  // the sum is normed
  float embedding_scale = 1.0f;   // multiplies the table's rows
  bool has_output = true;         // the inspected head has a W_O

  std::size_t query() const noexcept { return inspection.query; }
};

/// Whether a pronoun can refer to a token: a content word of the text, or another pronoun.
bool can_be_meant(const Token& token);

struct TourQuery {
  std::size_t token = 0;
  bool is_pronoun = false;
};

/// The token that the tour follows, a pronoun ("it", "she", …) of a single token after at least two
/// other words: the first one that puts at least half of its weight in `weights` ([n_tokens,
/// n_tokens] or empty) on a token it can refer to, otherwise the first. Without a pronoun, the last
/// token of the last word with a letter or a digit, otherwise the last token. Precondition: the
/// text has tokens.
TourQuery tour_query(const TokenizedText& text, ConstMatrix weights = {});

/// Runs the model over `text` and the tour's own sentences in simple English. `pronoun` is chosen
/// on half of these and scored on the other half: a head has the job if it gives the animal more
/// weight than the place in three quarters of them, and a third of its weight on average. If the
/// model's heads have been named (ModelConfig::named_heads), `previous` and `induction` are chosen
/// among the heads with these names. No head has a job that the tour's sentences cannot test
/// because the model does not accept them. Text beyond the model's context is cut off at the end.
/// The inspection views the model's weights: valid as long as the model lives.
///
/// Throws what the tokenizer, embed() and run() throw, and Error{kUsage} for a text without tokens.
Tour make_tour(const Model& model, const Tokenizer& tokenizer, std::string_view text);

}  // namespace attnviz
