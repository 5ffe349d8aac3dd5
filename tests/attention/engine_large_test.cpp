// Texts long enough to show memory or time that grows with the square of their length.

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <cmath>
#include <cstddef>
#include <numeric>

#include "attnviz/attention/engine.h"
#include "support/model_builder.h"
#include "support/sanitized.h"

namespace attnviz {
namespace {

using test::kSanitized;

// The peak memory of this process, in bytes.
std::size_t peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
}

// Keeps one row of one head, as a sink for few pixels would.
class LastRowSum : public PatternSink {
 public:
  bool wants(HeadId head) const override { return head == HeadId{0, 0}; }
  void rows(HeadId /*head*/, std::size_t first_query, std::size_t first_key,
            ConstMatrix weights) override {
    if (first_query + weights.rows == first_key + weights.cols) {
      const auto last = weights.row(weights.rows - 1);
      sum = std::accumulate(last.begin(), last.end(), 0.0);
    }
  }
  double sum = -1.0;
};

}  // namespace

TEST_CASE("engine: without observers ten thousand tokens take no memory for their square") {
  constexpr std::size_t kTokens = 10'000;
  constexpr std::size_t kSquare = kTokens * kTokens * sizeof(float);
  test::ModelBuilder builder(kTokens, 4);
  builder.add_layer({{4, 4}});
  const std::size_t before = peak_memory();
  const MatrixBuffer output = test::output_of(builder.model, test::Pieces(kTokens));
  CHECK(output.rows() == kTokens);
  CHECK((kSanitized || peak_memory() - before < kSquare / 8));

  LastRowSum sink;
  run(builder.model, test::Pieces(kTokens), {}, sink);
  CHECK(std::abs(sink.sum - 1.0) < 1e-5);
  CHECK((kSanitized || peak_memory() - before < kSquare / 8));
}

TEST_CASE("engine: a window over two hundred thousand tokens takes no time for their square") {
  constexpr std::size_t kTokens = 200'000;
  test::ModelBuilder builder(kTokens, 1);
  builder.add_layer({{1, 1}});
  for (const char* mask : {"window:8", "block:8"}) {
    AttentionRequest request;
    request.mask = parse_mask(mask);
    const MatrixBuffer output = test::output_of(builder.model, test::Pieces(kTokens), request);
    CHECK(output.rows() == kTokens);
  }
}

}  // namespace attnviz
