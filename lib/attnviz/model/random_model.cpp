// Every value is a pure function of (seed, purpose, layer, head, index): an integer hash yields 24
// bits, which become a float without rounding, scaled by one multiplication. The only library
// function used is the correctly rounded square root, so every machine computes the same bits.

#include "attnviz/model/random_model.h"

#include <fmt/core.h>

#include <cmath>
#include <string>

#include "attnviz/core/error.h"
#include "attnviz/core/random_bits.h"
#include "attnviz/kernels/row_kernels.h"

namespace attnviz {

namespace {

enum class Purpose : std::uint64_t { kQuery = 1, kKey, kValue, kOutput, kEmbedding };

// The bound of a uniform distribution with this variance, which is bound^2 / 3.
float bound_for(double variance) noexcept {
  return static_cast<float>(std::sqrt(3.0 * variance));
}

[[noreturn]] void fail(std::string_view parameter, const std::string& message) {
  throw Error(ErrorKind::kUsage, message, parameter);
}

// All matrices of one model, back to back; each is dense.
class Storage {
 public:
  explicit Storage(std::size_t n_floats) : floats_(1, n_floats) {}

  // The next [rows, cols] floats, filled from `random` with the given variance.
  ConstMatrix take(std::size_t rows, std::size_t cols, const RandomBits& random, double variance) {
    float* data = floats_.view().data + used_;
    used_ += rows * cols;
    kernels::fill_uniform(random, bound_for(variance), {data, rows * cols});
    return {data, rows, cols, cols};
  }

 private:
  MatrixBuffer floats_;
  std::size_t used_ = 0;
};

std::size_t count_floats(const RandomShape& shape) {
  constexpr std::string_view kWhat = "random weights";
  const std::size_t sizes[] = {
      checked_product({shape.n_layers, shape.n_heads, shape.d_model, shape.d_head}, kWhat),
      checked_product({shape.n_layers, shape.n_kv_heads, shape.d_model, shape.d_head}, kWhat),
      checked_product({shape.n_layers, shape.n_kv_heads, shape.d_model, shape.d_value}, kWhat),
      checked_product({shape.n_layers, shape.n_heads, shape.d_model, shape.d_value}, kWhat)};
  std::size_t sum = 0;
  for (const std::size_t size : sizes) {
    if (__builtin_add_overflow(sum, size, &sum)) {
      fail("", "random weights: the size is too large to count");
    }
  }
  return sum;
}

LayerWeights random_layer(const RandomShape& shape, std::uint64_t seed, std::size_t layer,
                          Storage& storage) {
  const std::size_t d_model = shape.d_model;
  const auto d_in = static_cast<double>(d_model);
  const auto random = [&](Purpose purpose, std::size_t head) {
    return RandomBits{seed, static_cast<std::uint64_t>(purpose), layer, head};
  };

  LayerWeights weights;
  weights.heads.resize(shape.n_heads);
  // With unit-variance inputs, a variance of 1/d_model gives unit-variance queries and keys; the
  // sum over d_head products, divided by sqrt(d_head), then has unit variance too.
  for (std::size_t h = 0; h < shape.n_heads; ++h) {
    weights.heads[h].query.weight =
        storage.take(d_model, shape.d_head, random(Purpose::kQuery, h), 1.0 / d_in);
  }
  const std::size_t group = shape.n_heads / shape.n_kv_heads;
  for (std::size_t kv = 0; kv < shape.n_kv_heads; ++kv) {
    const ConstMatrix key =
        storage.take(d_model, shape.d_head, random(Purpose::kKey, kv), 1.0 / d_in);
    const ConstMatrix value =
        storage.take(d_model, shape.d_value, random(Purpose::kValue, kv), 1.0 / d_in);
    for (std::size_t h = kv * group; h < (kv + 1) * group; ++h) {
      weights.heads[h].key.weight = key;
      weights.heads[h].value.weight = value;
    }
  }
  // GPT-2 divides the additions to the residual stream by the square root of their number (Radford
  // et al. 2019, section 2.3). Without normalisation nothing undoes growth here, so half of that
  // variance keeps the scores of the last layer close to those of the first.
  const auto d_contexts = static_cast<double>(shape.n_heads * shape.d_value);
  const auto n_layers = static_cast<double>(shape.n_layers);
  weights.output.weight = storage.take(shape.n_heads * shape.d_value, d_model,
                                       random(Purpose::kOutput, 0), 0.5 / (d_contexts * n_layers));
  return weights;
}

}  // namespace

RandomShape completed(RandomShape shape) {
  if (shape.n_layers == 0) {
    fail("n_layers", "n_layers 0: expected at least 1");
  }
  if (shape.n_heads == 0) {
    fail("n_heads", "n_heads 0: expected at least 1");
  }
  if (shape.n_kv_heads == 0) {
    shape.n_kv_heads = shape.n_heads;
  }
  if (shape.n_heads % shape.n_kv_heads != 0) {
    fail("n_kv_heads", fmt::format("n_kv_heads {}: expected a number that divides n_heads {}",
                                   shape.n_kv_heads, shape.n_heads));
  }
  constexpr std::size_t kDefaultHeadSize = 16;
  if (shape.d_head == 0 && shape.d_model == 0) {
    shape.d_head = kDefaultHeadSize;
  } else if (shape.d_head == 0) {
    if (shape.d_model % shape.n_heads != 0) {
      fail("d_model",
           fmt::format("d_model {}: expected a multiple of n_heads {}, or d_head beside it",
                       shape.d_model, shape.n_heads));
    }
    shape.d_head = shape.d_model / shape.n_heads;
  }
  if (shape.d_model == 0) {
    shape.d_model = checked_product({shape.n_heads, shape.d_head}, "n_heads times d_head");
  }
  if (shape.d_value == 0) {
    shape.d_value = shape.d_head;
  }
  return shape;
}

Model random_model(const RandomShape& shape, std::uint64_t seed, Positions positions) {
  const RandomShape full = completed(shape);
  const auto storage = std::make_shared<Storage>(count_floats(full));

  Model model;
  model.config.name = "random";
  model.config.d_model = full.d_model;
  model.config.positions = positions;
  model.config.random_weights = true;
  model.config.seed = seed;
  model.layers.reserve(full.n_layers);
  for (std::size_t layer = 0; layer < full.n_layers; ++layer) {
    model.layers.push_back(random_layer(full, seed, layer, *storage));
  }
  model.storage = storage;
  return model;
}

void random_embedding(std::uint64_t seed, std::string_view piece, std::span<float> out) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a, 64 bits
  for (const char c : piece) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  const RandomBits random{seed, static_cast<std::uint64_t>(Purpose::kEmbedding), hash};
  kernels::fill_uniform(random, bound_for(1.0), out);
}

}  // namespace attnviz
