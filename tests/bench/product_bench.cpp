// Products with weights of d_model 2048 on one thread, quantised or as plain numbers, stored as
// [d_out, d_in] as models store them.
#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "attnviz/core/stored_matrix.h"
#include "attnviz/kernels/products.h"
#include "attnviz/kernels/unpack.h"
#include "bench/suite.h"

namespace attnviz::bench {

namespace {

constexpr std::size_t kWidth = 2048;
constexpr std::size_t kRowCounts[] = {1, 4, 64, 512};
constexpr StoredType kTypes[] = {StoredType::kF32,   StoredType::kF16,     StoredType::kQ8_0,
                                 StoredType::kQ6_K,  StoredType::kQ5_K,    StoredType::kQ4_K,
                                 StoredType::kQ4_0,  StoredType::kIQ4_XS,  StoredType::kQ3_K,
                                 StoredType::kQ2_K,  StoredType::kIQ3_XXS, StoredType::kIQ2_XS,
                                 StoredType::kIQ1_S, StoredType::kTQ1_0};

// Random bits; where a half, a float or an exponent may be, they are of the size of weights.
class Weights {
 public:
  explicit Weights(StoredType type)
      : bytes_(stored_bytes(type, kWidth * kWidth)),
        view_(bytes_.data(), kWidth, kWidth, kWidth, type, true) {
    std::uint32_t state = 1;
    for (std::uint8_t& byte : bytes_) {
      state = state * 1664525u + 1013904223u;
      byte = static_cast<std::uint8_t>(state >> 24);
    }
    const BlockShape block = stored_block(type);
    for (std::size_t end = block.bytes; end <= bytes_.size(); end += block.bytes) {
      const std::uint8_t exponent = type == StoredType::kF32 ? 0x3C : 0x20;
      for (const std::size_t back :
           {std::size_t{0}, std::size_t{2}, block.bytes - 4, block.bytes - 2}) {
        if (back < block.bytes && (block.numbers > 1 || back == 0)) {
          std::uint8_t& byte = bytes_[end - 1 - back];
          byte = static_cast<std::uint8_t>((byte & 0x83) | exponent);
        }
      }
    }
  }

  const StoredMatrix& view() const { return view_; }

 private:
  std::vector<std::uint8_t> bytes_;
  StoredMatrix view_;
};

std::string name_of(const char* what, StoredType type, std::size_t n) {
  return fmt::format("product/{}/{}/{}", what, stored_type_name(type), n);
}
std::string whole(StoredType type, std::size_t n) {
  return name_of("whole", type, n);
}

void product(benchmark::State& state, StoredType type, std::size_t n) {
  const Weights weights(type);
  const MatrixBuffer x = random_matrix(n, kWidth, 1);
  MatrixBuffer out(n, kWidth);
  repeat(state, [&] { kernels::matmul(x.view(), weights.view(), {}, out.view()); });
}

// The alternative without a quantised product: some rows as floats, which stay in the caches, and a
// product with these.
void dequantised_product(benchmark::State& state, StoredType type, std::size_t n) {
  constexpr std::size_t kRows = 32;
  const Weights weights(type);
  const MatrixBuffer x = random_matrix(n, kWidth, 1);
  MatrixBuffer out(n, kWidth);
  MatrixBuffer floats(kRows, kWidth);
  const StoredMatrix part(floats.view().data, kWidth, kRows, kWidth, StoredType::kF32, true);
  repeat(state, [&] {
    for (std::size_t first = 0; first < kWidth; first += kRows) {
      const StoredMatrix rows = weights.view().col_block(first, kRows);
      for (std::size_t row = 0; row < kRows; ++row) {
        kernels::dequantise(type, rows.col_block(row, 1).data, 0, floats.view().row(row));
      }
      kernels::matmul(x.view(), part, {}, out.view().col_block(first, kRows));
    }
  });
}

// As heads of 64 numbers use their part of the output's weights: rows that begin within blocks.
void product_by_heads(benchmark::State& state, StoredType type, std::size_t n) {
  constexpr std::size_t kHead = 64;
  const Weights weights(type);
  const MatrixBuffer x = random_matrix(n, kWidth, 1);
  MatrixBuffer out(n, kWidth);
  repeat(state, [&] {
    for (std::size_t first = 0; first < kWidth; first += kHead) {
      kernels::matmul_add(x.view().col_block(first, kHead), weights.view().row_block(first, kHead),
                          out.view());
    }
  });
}

void register_all() {
  for (const StoredType type : kTypes) {
    for (const std::size_t n : kRowCounts) {
      add(whole(type, n), [type, n](benchmark::State& state) { product(state, type, n); });
    }
    add(name_of("by heads", type, 64),
        [type](benchmark::State& state) { product_by_heads(state, type, 64); });
    if (is_quantised(type)) {
      add(name_of("dequantised", type, 1),
          [type](benchmark::State& state) { dequantised_product(state, type, 1); });
    }
  }
}

// How many times as fast as the alternative.
std::string times_as_fast(const Times& times, const std::string& other, const std::string& name) {
  const double ratio = times.ratio(other, name);
  return ratio == 0.0 ? "" : fmt::format("{:.2f}", ratio);
}

void print_table(const Times& times) {
  if (std::none_of(std::begin(kTypes), std::end(kTypes),
                   [&times](StoredType type) { return times(whole(type, 64)) > 0.0; })) {
    return;
  }
  fmt::print("\n{:<28}", "rate over F32's, rows:");
  for (const std::size_t n : kRowCounts) {
    fmt::print("{:>8}", n);
  }
  fmt::print("{:>16}{:>24}\n", "64, by heads", "1, over dequantising");
  for (const StoredType type : kTypes) {
    fmt::print("{:<28}", stored_type_name(type));
    for (const std::size_t n : kRowCounts) {
      fmt::print("{:>8}", times_as_fast(times, whole(StoredType::kF32, n), whole(type, n)));
    }
    fmt::print("{:>16}{:>24}\n",
               times_as_fast(times, name_of("by heads", StoredType::kF32, 64),
                             name_of("by heads", type, 64)),
               times_as_fast(times, name_of("dequantised", type, 1), whole(type, 1)));
  }
}

void report(const Times& times, Figures& figures) {
  print_table(times);
  for (const StoredType type :
       {StoredType::kQ4_K, StoredType::kQ8_0, StoredType::kQ6_K, StoredType::kQ4_0}) {
    const auto over_floats = [&](std::size_t n) {
      return times.ratio(whole(StoredType::kF32, n), whole(type, n));
    };
    for (const std::size_t n : {std::size_t{64}, std::size_t{512}}) {
      figures.at_least(
          fmt::format("product with {}, {} rows, rate over F32's", stored_type_name(type), n),
          over_floats(n), 0.5, "x");
    }
    figures.at_least(
        fmt::format("product with {}, 1 row, rate over dequantising first", stored_type_name(type)),
        times.ratio(name_of("dequantised", type, 1), whole(type, 1)), 1, "x");
  }
}

}  // namespace

Part product_part() {
  return {register_all, report};
}

}  // namespace attnviz::bench
