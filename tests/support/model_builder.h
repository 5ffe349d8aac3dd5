// Small hand-made models, and the whole attention of a model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/attention/engine.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/model/model.h"

namespace attnviz::test {

/// d_head and d_value of one head.
struct HeadShape {
  std::size_t d_head;
  std::size_t d_value;
};

enum class OutputForm { kNone, kPerHead, kPerLayer };

/// Takes values and returns views of them that live as long as `model`.
class ModelBuilder {
 public:
  /// inputs [n_tokens, d_model] of seeded values in [-1, 1).
  ModelBuilder(std::size_t n_tokens, std::size_t d_model, std::uint64_t seed = 1);

  ConstMatrix keep(std::vector<float> values, std::size_t rows, std::size_t cols);
  std::span<const float> keep(std::vector<float> values);

  /// Seeded values between -amplitude and amplitude.
  ConstMatrix random(std::size_t rows, std::size_t cols, float amplitude = 1.0f);

  /// A layer of random heads with biases; W_O as requested, with a bias.
  ModelBuilder& add_layer(const std::vector<HeadShape>& heads, OutputForm form = OutputForm::kNone);

  Model model;

 private:
  using Storage = std::vector<std::vector<float>>;
  std::shared_ptr<Storage> storage_;
  std::uint64_t next_seed_;
};

/// Pieces "t0", "t1", … .
class Pieces {
 public:
  explicit Pieces(std::size_t n_tokens);
  operator std::span<const std::string_view>() const noexcept { return views_; }

 private:
  std::vector<std::string> texts_;
  std::vector<std::string_view> views_;
};

/// The last layer's output; weights go to `patterns` unless it is null.
MatrixBuffer output_of(const Model& model, const ModelInput& input,
                       const AttentionRequest& request = {}, PatternSink* patterns = nullptr);

/// All patterns and the output of a model that has `inputs`.
struct Result {
  PatternStore patterns;
  MatrixBuffer output;

  ConstMatrix pattern(std::size_t layer, std::size_t head) const {
    return patterns.pattern({layer, head});
  }
  ConstMatrix out() const noexcept { return output.view(); }
};
Result run(const Model& model, const AttentionRequest& request = {});

}  // namespace attnviz::test
