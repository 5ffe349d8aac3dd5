// One set of queries and keys, made into weights in different ways: cut into narrow heads or taken
// as one wide head, by softmax or by a feature map. A word's vectors in the residual stream, and
// how alike they are in different texts. Softmax of one row of scores, step by step as a textbook
// writes it.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/attention/pattern_sink.h"
#include "attnviz/attention/request.h"
#include "attnviz/core/tensor.h"
#include "attnviz/model/mask.h"
#include "attnviz/model/model.h"
#include "attnviz/text/tokenized_text.h"

namespace attnviz {

/// Queries and keys of one head as they meet: turned by their positions, [n_tokens, d_head]; and
/// values, [n_tokens, d_value].
struct HeadRows {
  MatrixBuffer query;
  MatrixBuffer key;
  MatrixBuffer value;
};

/// Of each head of a layer. Throws what inspect_heads() throws.
std::vector<HeadRows> head_rows(const Model& model, const ModelInput& input, std::size_t layer);

/// softmax(q · k / √d) of each query over the keys that `mask` lets it see, [n, n]; 0 elsewhere.
MatrixBuffer softmax_weights(ConstMatrix query, ConstMatrix key, const Mask& mask);

/// The same of the heads side by side, as one: its scores are the sum of theirs, over the root of
/// the sum of their widths. At least one head.
MatrixBuffer wide_head_weights(const std::vector<HeadRows>& heads, const Mask& mask);

/// φ(x) = elu(x) + 1: x + 1 above 0, else exp(x). Always above 0.
double elu_plus_one(double x) noexcept;

/// φ(q) · φ(k) over its sum for each query over the keys that `mask` lets it see, [n, n].
///
/// Source  Katharopoulos et al. 2020, "Transformers are RNNs", equations 4 and 7.
MatrixBuffer linear_weights(ConstMatrix query, ConstMatrix key, const Mask& mask);

/// weights · value as linear attention computes it: never a weight, only a running sum of φ(k)ᵀ v,
/// [d_head, d_value], and of φ(k). For the causal mask. Source: as above, equations 8 to 12.
MatrixBuffer linear_contexts(ConstMatrix query, ConstMatrix key, ConstMatrix value);

/// The largest difference between weights · value and `contexts`.
double largest_departure(ConstMatrix weights, ConstMatrix value, ConstMatrix contexts) noexcept;

/// The mean over the rows of a pattern of their largest weight.
double mean_largest(ConstMatrix weights) noexcept;

/// Where a word stands in a text.
struct WordPlace {
  std::vector<std::size_t> tokens;  // rising
  std::string note;                 // which of several places it is; or empty
};

/// The tokens of `word`: a whole word of the text, as choose_token() takes one ("bank", "bank#2"),
/// or several words that stand behind each other. Throws Error{kUsage} that begins with `parameter`
/// when the text does not have it.
WordPlace place_of_word(const TokenizedText& text, const std::string& word,
                        std::string_view parameter);

/// The mean over `tokens`, at least one, of the residual stream: row 0 before the first layer, row
/// i behind layer i - 1; [n_layers + 1, d_model]. Behind a last layer without W_O there is no
/// stream, and no row. Throws what run() throws.
MatrixBuffer word_vectors(const Model& model, const TokenizedText& text,
                          const AttentionRequest& request, std::span<const std::size_t> tokens);

/// a · b / (|a| |b|); nothing where one of them is 0 or not finite.
std::optional<double> cosine(std::span<const float> a, std::span<const float> b) noexcept;

/// exp(s) / sum over j of exp(s_j) without the largest score taken away, in 32-bit floats.
struct NaiveSoftmax {
  std::vector<float> exponentials;  // infinite above about 88.7, 0 below about -103
  float sum = 0.0f;
  std::vector<float> weights;

  bool overflows() const noexcept { return sum > 1.0f; }
};

/// In double precision; all of the scores' number. A score of -infinity is masked: its exponential
/// and its weight are exactly 0.
///
/// Source  Goodfellow, Bengio and Courville 2016, "Deep Learning", section 4.1.
struct SoftmaxSteps {
  double divide_by = 1.0;
  double temperature = 1.0;
  std::vector<double> scores;         // as they were given
  std::vector<double> divided;        // scores / (divide_by · temperature)
  double largest = 0.0;               // of divided; 0 when all are masked
  std::vector<double> exponentials;   // exp(divided - largest)
  double sum = 0.0;                   // of the exponentials
  std::vector<double> weights;        // exponentials / sum; all 0 when all scores are masked
  double entropy_bits = 0.0;          // of the weights
  std::optional<NaiveSoftmax> naive;  // where it fails: its sum is infinite, or 0

  bool is_masked(std::size_t i) const noexcept { return scores[i] < 0.0 && scores[i] * 0.0 != 0.0; }
  bool all_masked() const noexcept { return sum == 0.0; }
  std::size_t n_visible() const noexcept;
};

/// Throws Error{kUsage} for no scores, for one that is NaN or +infinity, for a divisor or a
/// temperature that is not a finite number above 0, and for quotients that are too large.
SoftmaxSteps softmax_steps(std::span<const double> scores, double divide_by = 1.0,
                           double temperature = 1.0);

}  // namespace attnviz
