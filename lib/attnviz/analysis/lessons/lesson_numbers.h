// One set of queries and keys, turned into weights in different ways: split into narrow heads or
// taken as one wide head, with softmax or with a feature map. A word's vectors in the residual
// stream, and how similar they are in different texts. Softmax of one row of scores, step by step
// as textbooks present it.
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

/// Queries and keys of one head as they meet, after rotation, [n_tokens, d_head]; and values,
/// [n_tokens, d_value].
struct HeadRows {
  MatrixBuffer query;
  MatrixBuffer key;
  MatrixBuffer value;
};

/// Returns the rows of each head of a layer. Throws what inspect_heads() throws.
std::vector<HeadRows> head_rows(const Model& model, const ModelInput& input, std::size_t layer);

/// softmax(q · k / √d) of each query over the keys that `mask` lets it see, [n, n]; 0 elsewhere.
MatrixBuffer softmax_weights(ConstMatrix query, ConstMatrix key, const Mask& mask);

/// The same for the heads of a layer joined into one wide head: its scores are the sum of theirs,
/// divided by the root of the sum of their widths. Precondition: at least one head.
MatrixBuffer wide_head_weights(const std::vector<HeadRows>& heads, const Mask& mask);

/// φ(x) = elu(x) + 1: x + 1 above 0, otherwise exp(x). Always positive.
double elu_plus_one(double x) noexcept;

/// φ(q) · φ(k) divided by its sum, for each query over the keys that `mask` lets it see, [n, n].
///
/// Source  Katharopoulos et al. 2020, "Transformers are RNNs", equations 4 and 7.
MatrixBuffer linear_weights(ConstMatrix query, ConstMatrix key, const Mask& mask);

/// weights · value as linear attention computes it: without weights, from running sums of φ(k)ᵀ v,
/// [d_head, d_value], and of φ(k). For the causal mask. Source: as above, equations 8 to 12.
MatrixBuffer linear_contexts(ConstMatrix query, ConstMatrix key, ConstMatrix value);

/// The largest difference between weights · value and `contexts`.
double largest_departure(ConstMatrix weights, ConstMatrix value, ConstMatrix contexts) noexcept;

/// The largest weight of each row of a pattern, averaged over the rows.
double mean_largest(ConstMatrix weights) noexcept;

/// Where a word occurs in a text.
struct WordPlace {
  std::vector<std::size_t> tokens;  // in rising order
  std::string note;                 // which of several occurrences it is; or empty
};

/// Returns the tokens of `word`: a whole word of the text, written as for choose_token() ("bank",
/// "bank#2"), or several consecutive words. Throws Error{kUsage} whose message begins with
/// `parameter` if the text does not contain it.
WordPlace place_of_word(const TokenizedText& text, const std::string& word,
                        std::string_view parameter);

/// The residual stream averaged over `tokens` (at least one), [n_layers + 1, d_model]: row 0 before
/// the first layer, row i after layer i - 1. A last layer without W_O writes no stream, so its row
/// is missing. Throws what run() throws.
MatrixBuffer word_vectors(const Model& model, const TokenizedText& text,
                          const AttentionRequest& request, std::span<const std::size_t> tokens);

/// a · b / (|a| |b|); absent if one of them is 0 or not finite.
std::optional<double> cosine(std::span<const float> a, std::span<const float> b) noexcept;

/// exp(s) / sum over j of exp(s_j), in 32-bit floats and without first subtracting the largest
/// score.
struct NaiveSoftmax {
  std::vector<float> exponentials;  // infinite above about 88.7, 0 below about -103
  float sum = 0.0f;
  std::vector<float> weights;

  bool overflows() const noexcept { return sum > 1.0f; }
};

/// In double precision; vectors have one number per score. A score of -infinity is masked: its
/// exponential and its weight are exactly 0.
///
/// Source  Goodfellow, Bengio and Courville 2016, "Deep Learning", section 4.1.
struct SoftmaxSteps {
  double divide_by = 1.0;
  double temperature = 1.0;
  std::vector<double> scores;         // as given
  std::vector<double> divided;        // scores / (divide_by · temperature)
  double largest = 0.0;               // of divided; 0 if all are masked
  std::vector<double> exponentials;   // exp(divided - largest)
  double sum = 0.0;                   // of the exponentials
  std::vector<double> weights;        // exponentials / sum; all 0 if all scores are masked
  double entropy_bits = 0.0;          // of the weights
  std::optional<NaiveSoftmax> naive;  // present if it fails: its sum is infinite or 0

  bool is_masked(std::size_t i) const noexcept { return scores[i] < 0.0 && scores[i] * 0.0 != 0.0; }
  bool all_masked() const noexcept { return sum == 0.0; }
  std::size_t n_visible() const noexcept;
};

/// Throws Error{kUsage} if there are no scores, if one is NaN or +infinity, if the divisor or the
/// temperature is not a finite number above 0, or if the quotients are too large.
SoftmaxSteps softmax_steps(std::span<const double> scores, double divide_by = 1.0,
                           double temperature = 1.0);

// What attention costs as texts grow: a textbook's three loops compared with the engine's blocks.
// What a model saves by keeping the keys and values of a text while it generates: multiplications,
// bytes and time. Standard normal numbers, the same for the same name on every machine except for
// the last bits. Why scores are divided by √d_head: how far q · k spreads, and how sharp softmax
// then becomes.

/// softmax(Q K^T / √d) V in plain loops that keep all of `weights` [n, n]. query and key are [n,
/// d_head], value and context [n, d_value]; every key is visible. `report` may be empty.
void attend_naively(ConstMatrix query, ConstMatrix key, ConstMatrix value, Matrix weights,
                    Matrix context, const ProgressReport& report = {});

/// The same with the engine, which holds weights in cache for one block of queries at a time.
/// Returns the bytes it used in addition to its input and the contexts.
std::size_t attend_in_blocks(ConstMatrix query, ConstMatrix key, ConstMatrix value, Matrix context);

/// One head over `n_tokens`, on one thread. Bytes do not include Q, K, V and the contexts.
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
  double seconds = 8.0;  // no point is begun that would exceed this, except the first
  std::uint64_t seed = 42;
  ProgressReport report;  // may be empty
};

/// Short runs are repeated, and the fastest counts.
std::vector<CostPoint> measure_cost(const CostRequest& request);

/// Multiplications of a forward pass; norms, softmax and rotations are not counted.
struct PassCosts {
  double token = 0.0;  // by the weights of all layers, for each computed token
  double edge = 0.0;   // in attention, for each query and each key it sees: q · k, and · v
  double head = 0.0;   // by the unembedding, once per step
};

/// Throws what count_parameters() throws.
PassCosts pass_costs(const ModelShape& shape);

/// Costs of generating `n_tokens` tokens, beginning with a text of one, which grows by one token
/// per step. With a cache, each step computes one token; without it, the whole text so far.
struct GenerationCosts {
  double with_cache = 0.0;
  double without_cache = 0.0;
};
GenerationCosts generation_costs(const PassCosts& costs, std::size_t n_tokens) noexcept;

/// Seconds that all steps up to each length take, with and without a cache.
struct GenerationTimes {
  std::vector<double> with_cache;     // [n_tokens]: until the text has 1, 2, … tokens
  std::vector<double> without_cache;  // the same
};

/// Measures a model that reads `ids` (at least one) token by token and predicts the next token
/// after each. Throws as Decoding and run() do.
GenerationTimes measure_generation(const Model& model, std::span<const std::uint32_t> ids,
                                   const AttentionRequest& request);

/// Fills `out` with numbers of mean 0 and variance 1. Source: Box and Muller 1958.
void fill_normal(const RandomBits& random, std::span<float> out) noexcept;

/// How sharp a row of weights is.
struct Sharpness {
  double largest = 0.0;  // the largest weight
  double entropy_bits = 0.0;
};

/// The sharpness of softmax(factor · scores). At least one score.
Sharpness sharpness(std::span<const float> scores, double factor);

/// Measurements of random queries and keys of `d` numbers, each normal with variance 1.
struct ScalingPoint {
  std::size_t d = 0;
  double variance = 0.0;         // of q · k
  double variance_scaled = 0.0;  // of q · k / √d
  Sharpness plain;               // of softmax over a query's keys; means over the queries
  Sharpness scaled;
};

struct ScalingSamples {
  std::size_t n_queries = 512;
  std::size_t n_keys = 32;  // of its own for each query
};

/// Returns one point for each of `sizes` (each at least 1), from n_queries · n_keys products.
///
/// Source  Vaswani et al. 2017, section 3.2.1, footnote 4: the products have mean 0 and variance d.
std::vector<ScalingPoint> measure_scaling(std::span<const std::size_t> sizes, std::uint64_t seed,
                                          const ScalingSamples& samples = {});

}  // namespace attnviz
