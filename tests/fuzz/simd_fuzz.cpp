// A kernel, shapes and numbers taken from any bytes: every SIMD target agrees with the first one,
// up to rounding.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/kernels/products.h"
#include "attnviz/kernels/row_kernels.h"
#include "attnviz/kernels/simd.h"
#include "attnviz/kernels/unpack.h"
#include "fuzz/fuzz_checks.h"
#include "fuzz/fuzz_target.h"

namespace attnviz {

namespace {

using test::require;
using Floats = std::vector<float>;

// Arguments of kernels: the input's bytes in order, repeated when they are used up.
class Source {
 public:
  explicit Source(std::string_view bytes) : bytes_(bytes.empty() ? "x" : bytes) {}

  unsigned char byte() { return static_cast<unsigned char>(bytes_[at_++ % bytes_.size()]); }
  std::size_t up_to(std::size_t most) { return 1 + (byte() + 256u * byte()) % most; }
  // In [-8, 8).
  float number() {
    const int word = byte() + 256 * byte();
    return static_cast<float>(word - 32768) / 4096.0f;
  }
  Floats numbers(std::size_t n) {
    Floats all(n);
    for (float& one : all) {
      one = number();
    }
    return all;
  }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
};

ConstMatrix rows_of(const Floats& numbers, std::size_t cols) {
  return {numbers.data(), numbers.size() / cols, cols, cols};
}
Matrix rows_of(Floats& numbers, std::size_t cols) {
  return {numbers.data(), numbers.size() / cols, cols, cols};
}

// The largest allowed difference between results of a target and those of the first.
void compare(const std::function<Floats()>& run,
             const std::function<double(std::size_t i, double value)>& bound) {
  Floats first;
  for (const std::string& target : kernels::simd_targets()) {
    const kernels::ScopedSimdTarget forced(target);
    const Floats found = run();
    if (first.empty()) {
      first = found;
    }
    require(found.size() == first.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      const bool same =
          std::bit_cast<std::uint32_t>(found[i]) == std::bit_cast<std::uint32_t>(first[i]);
      const auto a = static_cast<double>(found[i]);
      const auto b = static_cast<double>(first[i]);
      require(same || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= bound(i, b));
    }
  }
}

double exactly(std::size_t /*i*/, double /*value*/) {
  return 0.0;
}

// How far sums of that many products may differ if their absolute values add up to `sizes` and
// every step of both is rounded in the same direction, as an input may achieve.
double rounding(std::size_t n_terms, double sizes) {
  return 1.2e-7 * static_cast<double>(n_terms + 4) * sizes;
}

double sum_of_products(ConstMatrix x, std::size_t row, std::span<const float> column) {
  double sum = 0.0;
  for (std::size_t i = 0; i < column.size(); ++i) {
    sum += std::abs(static_cast<double>(x(row, i)) * static_cast<double>(column[i]));
  }
  return sum;
}

void matmul(Source& source) {
  const std::size_t n = source.up_to(14), d_in = source.up_to(130), d_out = source.up_to(70);
  const bool transposed = source.byte() % 2 == 0;
  const Floats x = source.numbers(n * d_in);
  const Floats w = source.numbers(d_in * d_out);
  const Floats bias = source.numbers(source.byte() % 2 == 0 ? d_out : 0);
  const StoredMatrix weights(w.data(), d_in, d_out, transposed ? d_in : d_out, StoredType::kF32,
                             transposed);
  const auto column = [&](std::size_t c) {
    Floats values(d_in);
    for (std::size_t r = 0; r < d_in; ++r) {
      values[r] = transposed ? w[c * d_in + r] : w[r * d_out + c];
    }
    return values;
  };
  compare(
      [&] {
        Floats out(n * d_out, NAN);
        kernels::matmul(rows_of(x, d_in), weights, bias, rows_of(out, d_out));
        kernels::matmul_add(rows_of(x, d_in), weights, rows_of(out, d_out));
        return out;
      },
      [&](std::size_t i, double) {
        const double sizes = sum_of_products(rows_of(x, d_in), i / d_out, column(i % d_out));
        return rounding(2 * d_in, 8.0 + 2.0 * sizes);
      });
}

void quantised(Source& source) {
  constexpr auto kFirst = static_cast<std::size_t>(StoredType::kQ4_0);
  constexpr auto kLast = static_cast<std::size_t>(kLastStoredType);
  const auto type = static_cast<StoredType>(kFirst + source.byte() % (kLast - kFirst + 1));
  const BlockShape block = stored_block(type);
  const std::size_t n_blocks = source.up_to(5);
  std::vector<std::uint8_t> bytes(n_blocks * block.bytes);
  std::ranges::generate(bytes, [&] { return source.byte(); });
  const std::size_t first = source.up_to(n_blocks * block.numbers) - 1;
  const std::size_t count = source.up_to(n_blocks * block.numbers - first);
  compare(
      [&] {
        Floats out(count);
        kernels::dequantise(type, bytes.data(), first, out);
        return out;
      },
      exactly);
}

void softmax(Source& source) {
  const std::size_t n = source.up_to(200);
  const Floats scores = source.numbers(n);
  const float factor = std::abs(source.number()) / 8.0f + 0.01f;
  kernels::SoftmaxSink sink;
  if (source.byte() % 2 == 0) {
    sink.logit = source.number();
  }
  // The rounding error of an exponent of 16 is 1e-6.
  const auto bound = [n](std::size_t, double value) {
    return (6e-6 + rounding(n, 1.0)) * value + 1e-30;
  };
  compare(
      [&] {
        Floats weights = scores;
        require(kernels::softmax(weights.data(), n, factor, sink));
        return weights;
      },
      bound);
  const std::size_t cols = kernels::KeyPanels::rounded_up(n);
  const std::size_t begin = source.up_to(n) - 1;
  const std::array ranges = {kernels::KeyRange{16, 16 + n}, kernels::KeyRange{16 + begin, 16 + n}};
  compare(
      [&] {
        MatrixBuffer rows(2, cols);
        for (std::size_t row = 0; row < 2; ++row) {
          std::ranges::copy(scores, rows.view().row_data(row));
        }
        require(kernels::softmax_rows(rows.view(), ranges, 16, factor, {}, sink) == 2);
        return Floats(rows.view().data, rows.view().data + 2 * cols);
      },
      bound);
}

void norms(Source& source) {
  const std::size_t d = source.up_to(140), n = source.up_to(4);
  const Floats x = source.numbers(n * d);
  const Floats weight = source.numbers(d);
  const Floats bias = source.numbers(source.byte() % 2 == 0 ? d : 0);
  // Rows are at most √d away from their mean, in deviations.
  const double bound = 2e-6 * (8.0 + 9.0 * std::sqrt(static_cast<double>(d)));
  compare(
      [&] {
        Floats out(n * d), rms(n * d);
        kernels::layer_norm(rows_of(x, d), weight, bias, 1e-5, rows_of(out, d));
        kernels::rms_norm(rows_of(x, d), weight, 1.0f, 1e-6, rows_of(rms, d));
        out.insert(out.end(), rms.begin(), rms.end());
        return out;
      },
      [&](std::size_t, double) { return bound; });
}

void activations(Source& source) {
  const std::size_t n = source.up_to(140);
  const auto activation = static_cast<kernels::Activation>(source.byte() % 7);
  const Floats x = source.numbers(n);
  const Floats up = source.numbers(n);
  compare(
      [&] {
        Floats out = x;
        kernels::activate(activation, rows_of(out, n));
        Floats gate = x;
        kernels::activate_gated(activation, rows_of(up, n), rows_of(gate, n));
        for (std::size_t i = 0; i < n; ++i) {
          require(gate[i] == out[i] * up[i]);
        }
        return out;
      },
      [](std::size_t, double value) { return 4e-6 * std::max(1.0, std::abs(value)); });
  compare(
      [&] {
        Floats gate = x;
        kernels::activate_limited(5.0f, rows_of(up, n), rows_of(gate, n));
        return gate;
      },
      [](std::size_t, double value) { return 4e-6 * std::max(8.0, std::abs(value)); });
  compare(
      [&] {
        Floats scores = x;
        kernels::soft_cap(scores, 4.0f, 0.5f);
        return scores;
      },
      [](std::size_t, double value) { return 2e-6 * std::abs(value) + 1e-30; });
}

void rope(Source& source) {
  const std::size_t n_pairs = source.up_to(70), n = source.up_to(4), position = source.up_to(9000);
  const std::size_t d_head = 2 * n_pairs + source.byte() % 4u;
  const auto pairing = static_cast<kernels::RopePairing>(source.byte() % 2);
  const Floats x = source.numbers(n * d_head);
  std::vector<double> frequencies(n_pairs);
  for (double& one : frequencies) {
    one = static_cast<double>(source.number());
  }
  compare(
      [&] {
        Floats table(n * 2 * n_pairs), turned = x;
        kernels::rope_table(position, frequencies, 1.0, rows_of(table, 2 * n_pairs));
        kernels::rope_rotate(rows_of(table, 2 * n_pairs), pairing, rows_of(turned, d_head));
        return turned;
      },
      [](std::size_t, double) { return 1e-5; });
}

void attend(Source& source) {
  const std::size_t n = source.up_to(60), n_rows = source.up_to(9);
  const std::size_t d_head = source.up_to(70), d_value = source.up_to(70);
  const Floats query = source.numbers(n_rows * d_head), key = source.numbers(n * d_head);
  const Floats value = source.numbers(n * d_value);
  const std::size_t cols = kernels::KeyPanels::rounded_up(n);
  std::vector<kernels::KeyRange> ranges;
  for (std::size_t row = 0; row < n_rows; ++row) {
    ranges.push_back({0, source.up_to(n)});
  }
  const auto is_seen = [&](std::size_t i) { return i % cols < ranges[i / cols].end; };
  compare(
      [&] {
        kernels::KeyPanels keys(n, d_head);
        keys.pack(rows_of(key, d_head), 0);
        Floats scores(n_rows * cols);
        kernels::attention_scores(rows_of(query, d_head), keys, ranges, 0, rows_of(scores, cols));
        for (std::size_t i = 0; i < scores.size(); ++i) {
          scores[i] = is_seen(i) ? scores[i] : 0.0f;
        }
        return scores;
      },
      [&](std::size_t i, double) {
        const std::span<const float> one_key = rows_of(key, d_head).row(i % cols);
        return is_seen(i)
                   ? rounding(d_head, sum_of_products(rows_of(query, d_head), i / cols, one_key))
                   : 0.0;
      });
  Floats weights = source.numbers(n_rows * cols);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    weights[i] = is_seen(i) ? std::abs(weights[i]) : 0.0f;
  }
  compare(
      [&] {
        Floats context(n_rows * d_value);
        kernels::mix_values(rows_of(weights, cols), rows_of(value, d_value), ranges, 0,
                            rows_of(context, d_value));
        return context;
      },
      [&](std::size_t, double) { return rounding(n, 64.0 * static_cast<double>(n)); });
}

void states(Source& source) {
  const std::size_t n = source.up_to(40), m = source.up_to(70);
  const Floats numbers = source.numbers(n * m), k = source.numbers(n), q = source.numbers(n);
  const Floats w = source.numbers(m);
  compare(
      [&] {
        Floats state = numbers, out(m), read(m);
        kernels::read_state(rows_of(state, m), k, read);
        kernels::write_state(0.75f, k, w, q, rows_of(state, m), out);
        state.insert(state.end(), read.begin(), read.end());
        state.insert(state.end(), out.begin(), out.end());
        return state;
      },
      [&](std::size_t, double) { return rounding(n, 600.0 * static_cast<double>(n)); });
}

void pools(Source& source) {
  const std::size_t n = source.up_to(200), n_rows = source.up_to(4);
  const std::size_t first = source.up_to(50) - 1, keys_per_cell = source.up_to(40);
  const std::size_t n_cells = (first + n + keys_per_cell - 1) / keys_per_cell;
  Floats rows = source.numbers(n_rows * n);
  std::ranges::for_each(rows, [](float& one) { one = std::abs(one); });
  compare(
      [&] {
        Floats cells(n_cells);
        std::vector<double> sums(n_cells);
        kernels::pool_largest(rows_of(rows, n), first, keys_per_cell, cells);
        kernels::pool_sums(rows_of(rows, n), first, keys_per_cell, sums);
        cells.insert(cells.end(), sums.begin(), sums.end());
        return cells;
      },
      exactly);
}

void entropies(Source& source) {
  const std::size_t n = source.up_to(200);
  const Floats x = source.numbers(n), y = source.numbers(n);
  std::vector<double> shares(x.begin(), x.end());
  std::ranges::for_each(shares, [](double& one) { one = one < 0.0 ? 0.0 : one / 8.0; });
  compare(
      [&] {
        const kernels::EntropySums sums = kernels::entropy_sums(shares, 0.01);
        const double log_x = kernels::log_sum_exp(x), log_y = kernels::log_sum_exp(y);
        return Floats{static_cast<float>(sums.bits), static_cast<float>(sums.mixed_bits),
                      static_cast<float>(sums.count), static_cast<float>(log_x),
                      static_cast<float>(kernels::divergence(x, log_x, y, log_y))};
      },
      [](std::size_t, double value) { return 1e-6 * std::abs(value) + 1e-6; });
}

void fills(Source& source) {
  const std::size_t n = source.up_to(200);
  const std::uint64_t seed = source.byte();
  compare(
      [&] {
        Floats out(n);
        kernels::fill_uniform(RandomBits({seed, n}), 0.5f, out);
        kernels::scale(out, 0.3f);
        require(kernels::all_finite(out));
        return out;
      },
      exactly);
}

constexpr std::array kChecks = {matmul, quantised, softmax, norms,     activations, rope,
                                attend, states,    pools,   entropies, fills};

}  // namespace

namespace test {

std::vector<std::string> fuzz_seeds() {
  std::vector<std::string> seeds;
  for (std::size_t check = 0; check < kChecks.size(); ++check) {
    for (const char* rest : {"\x01\x02", "abcdefghijklmnopqrstuvwxyz", "\x80\x7F\xFF\x0F\x33"}) {
      seeds.push_back(static_cast<char>(check) + std::string(rest));
    }
  }
  return seeds;
}

void fuzz_input(std::string_view bytes) {
  Source source(bytes);
  const std::size_t check = source.byte();
  kChecks[check % kChecks.size()](source);
}

}  // namespace test

}  // namespace attnviz
