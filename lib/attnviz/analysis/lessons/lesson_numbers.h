// One set of queries and keys, made into weights in different ways: cut into narrow heads or taken
// as one wide head, by softmax or by a feature map. A word's vectors in the residual stream, and
// how alike they are in different texts. Softmax of one row of scores, step by step as a textbook
// writes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/analysis/model_shape.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/attention/request.h"
#include "attnviz/core/random_bits.h"
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

// What attention takes as texts grow: a textbook's three loops beside the engine's blocks. What
// keeping the keys and values of a text saves when a model writes on: in multiplications, in bytes,
// and in time. Standard normal numbers: the same from the same name on every machine, but for the
// last bits. Why scores are divided by √d_head: how far q · k spreads, and how sharp softmax then
// gets.

/// softmax(Q K^T / √d) V in plain loops, with all of `weights` [n, n] kept. query and key [n,
/// d_head], value and context [n, d_value]; every key is visible. `report` may be empty.
void attend_naively(ConstMatrix query, ConstMatrix key, ConstMatrix value, Matrix weights,
                    Matrix context, const ProgressReport& report = {});

/// The same by the engine, whose weights live in cache for a block of queries at a time. Returns
/// the bytes that it took beside its input and the contexts.
std::size_t attend_in_blocks(ConstMatrix query, ConstMatrix key, ConstMatrix value, Matrix context);

/// One head over `n_tokens`, on one thread; seconds and bytes beside Q, K, V and the contexts.
struct CostPoint {
  std::size_t n_tokens = 0;
  double naive_seconds = 0.0;
  double blocked_seconds = 0.0;
  std::size_t naive_bytes = 0;
  std::size_t blocked_bytes = 0;
};

struct CostRequest {
  std::size_t d_head = 64;
  std::size_t first = 64;  // tokens; each next point has twice as many
  std::size_t last = 4096;
  double seconds = 8.0;  // no point is begun that would take more, but for the first
  std::uint64_t seed = 42;
  ProgressReport report;  // may be empty
};

/// The least of several runs where these are short.
std::vector<CostPoint> measure_cost(const CostRequest& request);

/// Multiplications of a forward pass; norms, softmax and what turns positions are not counted.
struct PassCosts {
  double token = 0.0;  // with the weights of all layers, for each token that is computed
  double edge = 0.0;   // of attention, for each query and each key that it sees: q · k, and · v
  double head = 0.0;   // with the unembedding, once a step
};

/// Throws what count_parameters() throws.
PassCosts pass_costs(const ModelShape& shape);

/// To write `n_tokens` tokens from one on, the text growing by one a step: kept, each step computes
/// one token; else all of the text so far.
struct GenerationCosts {
  double with_cache = 0.0;
  double without_cache = 0.0;
};
GenerationCosts generation_costs(const PassCosts& costs, std::size_t n_tokens) noexcept;

/// Seconds of the steps up to each length, with and without.
struct GenerationTimes {
  std::vector<double> with_cache;     // [n_tokens]: until the text has 1, 2, … tokens
  std::vector<double> without_cache;  // the same
};

/// Measured: a model reads `ids`, at least one, token by token, and says each time what follows.
/// Throws as Decoding and run() do.
GenerationTimes measure_generation(const Model& model, std::span<const std::uint32_t> ids,
                                   const AttentionRequest& request);

/// Mean 0, variance 1. Source: Box and Muller 1958.
void fill_normal(const RandomBits& random, std::span<float> out) noexcept;

/// How sharp a row of weights is.
struct Sharpness {
  double largest = 0.0;  // weight
  double entropy_bits = 0.0;
};

/// Of softmax(factor · scores), at least one.
Sharpness sharpness(std::span<const float> scores, double factor);

/// What is measured of random queries and keys of `d` numbers, each normal with variance 1.
struct ScalingPoint {
  std::size_t d = 0;
  double variance = 0.0;         // of q · k
  double variance_scaled = 0.0;  // of q · k / √d
  Sharpness plain;               // means over the queries, of softmax over their keys
  Sharpness scaled;
};

struct ScalingSamples {
  std::size_t n_queries = 512;
  std::size_t n_keys = 32;  // that each query has for itself
};

/// A point for each of `sizes`, each at least 1, with n_queries · n_keys products.
///
/// Source  Vaswani et al. 2017, section 3.2.1, footnote 4: the products have mean 0 and variance d.
std::vector<ScalingPoint> measure_scaling(std::span<const std::size_t> sizes, std::uint64_t seed,
                                          const ScalingSamples& samples = {});

}  // namespace attnviz
