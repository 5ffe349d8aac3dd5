// Attention of given queries, keys and values on one thread, patterns kept, compared with what a
// program could call instead.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/attention/head_math.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/kernels/products.h"
#include "attnviz/kernels/row_kernels.h"
#include "bench/peers.h"
#include "bench/suite.h"

namespace attnviz::bench {

namespace {

struct Shape {
  std::size_t heads;
  std::size_t n;
  std::size_t d_head;

  std::string name() const { return fmt::format("{}x{}x{}", heads, n, d_head); }
  // q·k and weight·v over the visible half.
  double operations() const { return 2.0 * static_cast<double>(heads * n * (n + 1) * d_head); }
  float factor() const { return 1.0f / std::sqrt(static_cast<float>(d_head)); }
};

constexpr Shape kShapes[] = {{12, 64, 64},   {12, 256, 64},  {12, 1000, 64}, {12, 1023, 64},
                             {12, 1024, 64}, {12, 4096, 64}, {32, 1024, 128}};
constexpr Shape kCurve[] = {{12, 16, 64},   {12, 128, 64}, {12, 512, 64}, {12, 2048, 64},
                            {1, 1024, 64},  {2, 1024, 64}, {4, 1024, 64}, {8, 1024, 64},
                            {16, 1024, 64}, {32, 1024, 64}};

// One head after another: [heads * n, d_head].
struct Problem {
  explicit Problem(const Shape& of)
      : shape(of),
        query(random_matrix(of.heads * of.n, of.d_head, 1)),
        key(random_matrix(of.heads * of.n, of.d_head, 2)),
        value(random_matrix(of.heads * of.n, of.d_head, 3)),
        context(of.heads * of.n, of.d_head) {}

  ConstMatrix of_head(const MatrixBuffer& matrix, std::size_t head) const {
    return matrix.view().row_block(head * shape.n, shape.n);
  }

  Shape shape;
  MatrixBuffer query, key, value, context;
};

void attnviz_attention(benchmark::State& state, const Shape& shape) {
  Problem problem(shape);
  std::vector<HeadId> heads;
  for (std::size_t head = 0; head < shape.heads; ++head) {
    heads.push_back({0, head});
  }
  PatternStore patterns(heads, shape.n);
  kernels::KeyPanels keys(shape.n, shape.d_head);
  BlockScratch scratch;
  const std::size_t rows = attending_rows(shape.n);
  repeat(state, [&] {
    for (const HeadId head : heads) {
      const RowRule rule{.head = head, .mask = {}, .factor = shape.factor()};
      keys.pack(problem.of_head(problem.key, head.head), 0);
      const HeadTensors tensors{problem.of_head(problem.query, head.head), &keys,
                                problem.of_head(problem.value, head.head)};
      for (std::size_t first = 0; first < shape.n; first += rows) {
        const std::size_t count = std::min(rows, shape.n - first);
        const Matrix context = problem.context.view().row_block(head.head * shape.n + first, count);
        const BlockWeights block = attend_block(tensors, rule, first, count, scratch, context,
                                                patterns.place(head, first, count));
        if (!block.stored) {
          patterns.rows(head, first, block.first_key, block.weights);
        }
      }
    }
  });
}

// The same blocks with another library's products, our softmax and our copy of the pattern. "All at
// once" means one block, as textbooks write it.
void attention_of_products(benchmark::State& state, const Shape& shape, Product product,
                           bool all_at_once) {
  Problem problem(shape);
  const std::size_t n = shape.n;
  const std::size_t rows_at_once = all_at_once ? n : attending_rows(n);
  MatrixBuffer scratch(rows_at_once, kernels::KeyPanels::rounded_up(n) + kernels::KeyPanels::kKeys);
  MatrixBuffer patterns(shape.heads * n, n);
  std::vector<KeyRange> ranges(n);
  for (std::size_t query = 0; query < n; ++query) {
    ranges[query] = {0, query + 1};
  }
  const bool is_large = shape.heads * n * n * sizeof(float) > (std::size_t{8} << 20);
  repeat(state, [&] {
    for (std::size_t head = 0; head < shape.heads; ++head) {
      for (std::size_t first = 0; first < n; first += rows_at_once) {
        const std::size_t count = std::min(rows_at_once, n - first);
        const std::size_t keys = first + count;
        const Matrix rows{scratch.view().data, count, kernels::KeyPanels::rounded_up(keys),
                          scratch.cols()};
        product(true, problem.of_head(problem.query, head).row_block(first, count),
                problem.of_head(problem.key, head).row_block(0, keys), rows.col_block(0, keys));
        kernels::softmax_rows(rows, std::span(ranges).subspan(first, count), 0, shape.factor());
        kernels::copy(rows.col_block(0, keys),
                      patterns.view().row_block(head * n + first, count).col_block(0, keys),
                      is_large);
        product(false, rows.col_block(0, keys),
                problem.of_head(problem.value, head).row_block(0, keys),
                problem.context.view().row_block(head * n + first, count));
      }
    }
  });
}

std::string ours(const Shape& shape) {
  return "core/attnviz/" + shape.name();
}
std::string theirs(const std::string& peer, const Shape& shape) {
  return "core/" + peer + "/" + shape.name();
}

void register_all() {
  for (const auto& shapes : {std::span<const Shape>(kShapes), std::span<const Shape>(kCurve)}) {
    for (const Shape& shape : shapes) {
      add(ours(shape), [shape](benchmark::State& state) { attnviz_attention(state, shape); });
    }
  }
  for (const Peer& peer : peers()) {
    for (const Shape& shape : kShapes) {
      add(theirs(peer.name, shape), [shape, &peer](benchmark::State& state) {
        attention_of_products(state, shape, peer.product, false);
      });
      if (shape.n >= 1024) {
        add(theirs(peer.name + " n x n", shape), [shape, &peer](benchmark::State& state) {
          attention_of_products(state, shape, peer.product, true);
        });
      }
    }
  }
}

void print_table(const Times& times) {
  const auto ran = [&times](const Shape& shape) { return times(ours(shape)) > 0.0; };
  if (std::none_of(std::begin(kShapes), std::end(kShapes), ran)) {
    return;
  }
  fmt::print("\n{:<16}{:>10}{:>12}", "core, causal", "ms", "% of peak");
  for (const Peer& peer : peers()) {
    fmt::print("{:>12}{:>16}", peer.name, peer.name + " n x n");
  }
  fmt::print("\n");
  for (const auto& shapes : {std::span<const Shape>(kShapes), std::span<const Shape>(kCurve)}) {
    for (const Shape& shape : shapes) {
      const std::string name = ours(shape);
      if (times(name) == 0.0) {
        continue;
      }
      fmt::print("{:<16}{:>10.3f}{:>12.1f}", shape.name(), times(name) * 1e3,
                 times.share_of_peak(name, shape.operations()));
      for (const Peer& peer : peers()) {
        fmt::print("{:>12.2f}{:>16.2f}", times.ratio(theirs(peer.name, shape), name),
                   times.ratio(theirs(peer.name + " n x n", shape), name));
      }
      fmt::print("\n");
    }
  }
}

void report(const Times& times, Figures& figures) {
  print_table(times);
  struct Wanted {
    Shape shape;
    double share;
  };
  constexpr Wanted kShares[] = {{{12, 64, 64}, 55},
                                {{12, 256, 64}, 72},
                                {{12, 1024, 64}, 76},
                                {{12, 4096, 64}, 76},
                                {{32, 1024, 128}, 80}};
  for (const auto& [shape, share] : kShares) {
    figures.at_least("core attention " + shape.name() + ", share of peak",
                     times.share_of_peak(ours(shape), shape.operations()), share, "%");
  }
  for (const Shape& shape : kShapes) {
    if (shape.n >= 256) {
      figures.at_least("oneDNN by blocks of rows, " + shape.name(),
                       times.ratio(theirs("oneDNN", shape), ours(shape)), 1.25, "x");
      figures.at_least("OpenBLAS by blocks of rows, " + shape.name(),
                       times.ratio(theirs("OpenBLAS", shape), ours(shape)), 1.5, "x");
    }
    if (shape.n >= 1024) {
      figures.at_least("OpenBLAS n x n, " + shape.name(),
                       times.ratio(theirs("OpenBLAS n x n", shape), ours(shape)), 2, "x");
    }
  }
  const Shape whole{12, 1024, 64};
  for (const Shape& odd : {Shape{12, 1000, 64}, Shape{12, 1023, 64}}) {
    figures.at_most(fmt::format("n = {} against 1024, time per operation", odd.n),
                    times.ratio(ours(odd), ours(whole)) * whole.operations() / odd.operations(),
                    1.12, "x");
  }
}

}  // namespace

Part core_part() {
  return {register_all, report};
}

}  // namespace attnviz::bench
