#include "attnviz/model/families/readers/part_readers.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "attnviz/core/error.h"

namespace attnviz {

CrossAttention read_cross(const Traits& traits, const LayerNaming& named, const LayerTraits& shape,
                          WeightReader& weights) {
  const TensorNames& names = traits.names;
  const std::size_t width = shape.n_heads * shape.d_head;
  const auto read = [&](std::string_view name) {
    return weights.linear(named(name), traits.d_model, width, traits.qkv_bias);
  };
  const HeadMatrices matrices{read(names.cross_query), read(names.cross_key),
                              read(names.cross_value)};
  CrossAttention cross;
  cross.heads = cut_heads(traits.where, matrices, shape.n_heads, shape.n_heads);
  cross.output =
      weights.linear(named(names.cross_output), width, traits.d_model, traits.output_bias);
  cross.norm = read_norm(weights, named(names.cross_norm), {traits.d_model},
                         {traits.norm_kind, traits.norm_bias, traits.epsilon, traits.norm_offset});
  cross.score_scale = traits.score_scale;
  return cross;
}

std::shared_ptr<const DistanceBias> read_distance_bias(const Traits& traits,
                                                       const LayerNaming& named,
                                                       std::size_t n_heads,
                                                       std::span<const LayerWeights> before,
                                                       WeightReader& weights) {
  const DistanceBuckets& buckets = traits.distance_buckets;
  if (!before.empty() && !buckets.of_each_layer) {
    return before.front().distance_bias;
  }
  const std::string name = fmt::format("{}.weight", named(traits.names.distance_bias));
  const std::span<const float> numbers = weights.numbers({name}, {buckets.n, n_heads});
  return std::make_shared<const DistanceBias>(distance_bias(
      {numbers.data(), buckets.n, n_heads, n_heads}, buckets.most_distance, traits.sees_all));
}

std::size_t distance_bucket(std::size_t distance, std::size_t n_buckets,
                            std::size_t most_distance) noexcept {
  const std::size_t n_exact = n_buckets / 2;
  if (distance < n_exact) {
    return distance;
  }
  if (distance >= most_distance) {
    return n_buckets - 1;
  }
  const auto near = static_cast<double>(n_exact);
  const double share = std::log(static_cast<double>(distance) / near) /
                       std::log(static_cast<double>(most_distance) / near);
  const auto farther = static_cast<std::size_t>(share * static_cast<double>(n_buckets - n_exact));
  return std::min(n_buckets - 1, n_exact + farther);
}

DistanceBias distance_bias(ConstMatrix table, std::size_t most_distance, bool both_ways) {
  const std::size_t n_a_side = both_ways ? table.rows / 2 : table.rows;
  DistanceBias bias;
  bias.reach = most_distance;
  bias.n_learned = table.rows * table.cols;
  bias.of_heads = MatrixBuffer(table.cols, 2 * most_distance + 1);
  const Matrix numbers = bias.of_heads.view();
  for (std::size_t distance = 0; distance <= most_distance; ++distance) {
    const std::size_t bucket = distance_bucket(distance, n_a_side, most_distance);
    for (std::size_t head = 0; head < table.cols; ++head) {
      numbers(head, most_distance - distance) = table(bucket, head);
      if (distance > 0) {
        numbers(head, most_distance + distance) = table(both_ways ? n_a_side + bucket : 0, head);
      }
    }
  }
  return bias;
}

void share_embeddings(WeightReader& weights, bool with_unembedding) {
  constexpr std::string_view kShared = "shared.weight";
  constexpr std::string_view kReason = "the shared embeddings are used instead";
  constexpr std::string_view kCopies[] = {"encoder.embed_tokens.weight",
                                          "decoder.embed_tokens.weight", "lm_head.weight"};
  for (const std::string_view copy : std::span(kCopies).first(with_unembedding ? 3 : 2)) {
    if (!weights.has(kShared) && weights.has(copy)) {
      weights.rename(kShared, copy);
    }
  }
  for (const std::string_view copy : std::span(kCopies).first(2)) {
    if (weights.differ(kShared, copy)) {
      throw Error(ErrorKind::kUnsupported,
                  fmt::format("{}expected the numbers of {}: both stacks have the same embeddings",
                              weights.where(copy), kShared));
    }
    weights.pass_over({{std::string(copy), kReason}});
  }
}

void check_buckets(std::string_view where, const DistanceBuckets& buckets) {
  constexpr std::size_t kFewest = 4;  // encoders use half for each side
  constexpr std::size_t kFarthest = std::size_t{1} << 16;
  if (buckets.n < kFewest || buckets.n % 2 != 0) {
    throw Error(ErrorKind::kMalformed,
                fmt::format("{}relative_attention_num_buckets: expected an even number from {} on, "
                            "found {}",
                            where, kFewest, buckets.n));
  }
  if (buckets.most_distance <= buckets.n / 2) {
    throw Error(ErrorKind::kMalformed,
                fmt::format("{}relative_attention_max_distance: expected more than {}, half of the "
                            "buckets, found {}",
                            where, buckets.n / 2, buckets.most_distance));
  }
  if (buckets.most_distance > kFarthest) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}relative_attention_max_distance: expected at most {}, found {}",
                            where, kFarthest, buckets.most_distance));
  }
}

Model read_encoder_decoder(const Traits& encoder, const Traits& decoder, WeightReader weights) {
  auto reader = std::make_shared<Model>(read_transformer(encoder, weights));
  reader->config.kind = ModelKind::kTransformer;
  Model model = read_transformer(decoder, std::move(weights));  // owns what both have used
  model.encoder = std::move(reader);
  return model;
}

}  // namespace attnviz
