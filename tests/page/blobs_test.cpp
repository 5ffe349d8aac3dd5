#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "attnviz/page/page_file.h"
#include "page/page_data.h"
#include "support/naive.h"
#include "support/sample_inspection.h"

namespace attnviz {

namespace {

using Bytes = std::vector<std::uint8_t>;

// The data of a page with this single part.
Bytes unpacked(const auto& numbers) {
  Blobs blobs;
  REQUIRE(blobs.add(std::span(numbers)) == 0);
  return test::blob_bytes(blobs.texts().front());
}

}  // namespace

TEST_CASE("Blobs: parts are numbered in their order") {
  Blobs blobs;
  const std::vector<std::uint8_t> one = {1};
  const std::vector<std::uint8_t> two = {2, 2};
  CHECK(blobs.add(std::span(one)) == 0);
  CHECK(blobs.add(std::span(two)) == 1);
  REQUIRE(blobs.texts().size() == 2);
  CHECK(test::blob_bytes(blobs.texts()[0]) == one);
  CHECK(test::blob_bytes(blobs.texts()[1]) == two);
}

TEST_CASE("Blobs: any number of bytes is read back") {
  for (const std::size_t size : {0U, 1U, 2U, 3U, 255U, 70'000U}) {
    CAPTURE(size);
    Bytes same(size, 7);
    CHECK(unpacked(same) == same);
    Bytes mixed;
    for (const float value : test::random_values(size, /*seed=*/size)) {
      mixed.push_back(static_cast<std::uint8_t>(128.0f * value + 128.0f));
    }
    CHECK(unpacked(mixed) == mixed);
  }
}

TEST_CASE("Blobs: repetitive data is compressed") {
  Blobs blobs;
  const Bytes zeros(1'000'000);
  blobs.add(std::span(zeros));
  CHECK(blobs.texts().front().size() < 3000);
}

TEST_CASE("Blobs: for two-byte numbers all lower bytes come first") {
  const std::vector<std::uint16_t> numbers = {0x0000, 0x0102, 0xFFFE, 0x8000};
  CHECK(unpacked(numbers) == Bytes{0x00, 0x02, 0xFE, 0x00, 0x00, 0x01, 0xFF, 0x80});
}

TEST_CASE("Blobs: floats are IEEE 754 single precision, the lowest byte first") {
  const std::vector<float> numbers = {1.0f,
                                      -2.5f,
                                      0.1f,
                                      -0.0f,
                                      std::numeric_limits<float>::infinity(),
                                      std::numeric_limits<float>::denorm_min()};
  CHECK(unpacked(numbers) == Bytes{0x00, 0x00, 0x80, 0x3F, 0x00, 0x00, 0x20, 0xC0,
                                   0xCD, 0xCC, 0xCC, 0x3D, 0x00, 0x00, 0x00, 0x80,
                                   0x00, 0x00, 0x80, 0x7F, 0x01, 0x00, 0x00, 0x00});
  const std::vector<float> nan = {std::numeric_limits<float>::quiet_NaN()};
  CHECK(std::isnan(test::floats_of(unpacked(nan)).at(0)));
}

TEST_CASE("Blobs: colours are red, green, blue") {
  const std::vector<Rgb> colors = {{1, 2, 3}, {255, 0, 128}};
  CHECK(unpacked(colors) == Bytes{1, 2, 3, 255, 0, 128});
}

namespace {

using Floats = std::vector<float>;
using Shorts = std::vector<std::uint16_t>;
using Bytes = std::vector<std::uint8_t>;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

PackedPattern packed_row(const Floats& weights, WeightCode code) {
  return packed_pattern(test::matrix_over(weights, 1, weights.size()), /*triangle=*/false, code);
}

// The values of codes, as defined in packed_pattern.h.
Floats decoded(const PackedPattern& pattern) {
  const auto of_codes = [&pattern](const auto& codes, double largest) {
    Floats all;
    for (const auto code : codes) {
      const double t = code / (largest - 1.0);
      const double share = pattern.squares ? t * t : t;
      const double low = static_cast<double>(pattern.low);
      all.push_back(code == largest ? kNan
                                    : static_cast<float>(
                                          low + share * (static_cast<double>(pattern.high) - low)));
    }
    return all;
  };
  if (const auto* floats = std::get_if<Floats>(&pattern.values)) {
    return *floats;
  }
  if (const auto* shorts = std::get_if<Shorts>(&pattern.values)) {
    return of_codes(*shorts, 65535.0);
  }
  return of_codes(std::get<Bytes>(pattern.values), 255.0);
}

}  // namespace

TEST_CASE("packed_pattern: 8-bit codes are quadratic and 16-bit codes linear, computed by hand") {
  // Shares 0, 1/4, 1 have the roots 0, 1/2, 1 in 254 steps; NaN is the code after them.
  const PackedPattern bytes = packed_row({0.0f, 0.125f, 0.5f, kNan}, WeightCode::k8);
  CHECK(bytes.low == 0.0f);
  CHECK(bytes.high == 0.5f);
  CHECK(bytes.squares);
  CHECK(std::get<Bytes>(bytes.values) == Bytes{0, 127, 254, 255});
  const PackedPattern shorts = packed_row({0.0f, 0.125f, 0.5f, kNan}, WeightCode::k16);
  CHECK_FALSE(shorts.squares);
  CHECK(std::get<Shorts>(shorts.values) == Shorts{0, 16384, 65534, 65535});  // 16383.5 rounded up
}

TEST_CASE("packed_pattern: codes of a range with negative values are linear, computed by hand") {
  const PackedPattern bytes = packed_row({-0.5f, 0.0f, 0.5f, 0.25f}, WeightCode::k8);
  CHECK(bytes.low == -0.5f);
  CHECK(bytes.high == 0.5f);
  CHECK_FALSE(bytes.squares);
  CHECK(std::get<Bytes>(bytes.values) == Bytes{0, 127, 254, 191});  // 190.5 is rounded up
  const PackedPattern shorts = packed_row({-0.5f, 0.0f, 0.5f}, WeightCode::k16);
  CHECK(std::get<Shorts>(shorts.values) == Shorts{0, 32767, 65534});
}

TEST_CASE("packed_pattern: floats are stored unchanged") {
  const Floats weights = {0.1f, -3.0f, kInfinity, 1e-40f};
  const PackedPattern pattern = packed_row(weights, WeightCode::kFloat);
  CHECK(std::get<Floats>(pattern.values) == weights);
}

TEST_CASE("packed_pattern: codes are within the stated error") {
  for (const WeightCode code : {WeightCode::k16, WeightCode::k8}) {
    for (const bool negative : {false, true}) {
      for (const float size : {1e-6f, 1.0f, 1e6f}) {
        CAPTURE(negative);
        CAPTURE(size);
        Floats weights = test::random_values(2000, /*seed=*/3);
        for (float& weight : weights) {
          weight = size * (negative ? weight : weight * weight);
        }
        const PackedPattern pattern = packed_row(weights, code);
        CHECK(pattern.squares == (!negative && code == WeightCode::k8));
        const double steps = code == WeightCode::k16 ? 65534.0 : 254.0;
        const double step =
            (static_cast<double>(pattern.high) - static_cast<double>(pattern.low)) / steps;
        const double most = (pattern.squares ? step : step / 2) * (1 + 1e-3) +
                            static_cast<double>(size) * 1e-7;  // error of the float that is read
        const Floats read = decoded(pattern);
        REQUIRE(read.size() == weights.size());
        for (std::size_t i = 0; i < read.size(); ++i) {
          REQUIRE(std::abs(static_cast<double>(read[i]) - static_cast<double>(weights[i])) <= most);
        }
      }
    }
  }
}

TEST_CASE("packed_pattern: quadratic codes are more exact for small weights than linear ones") {
  const Floats read = decoded(packed_row({0.001f, 1.0f}, WeightCode::k8));
  CHECK(std::abs(read[0] - 0.001f) < 0.0003f);  // half a step is 0.002
}

TEST_CASE("packed_pattern: values that are not finite become NaN, and do not widen the range") {
  for (const WeightCode code : {WeightCode::k16, WeightCode::k8}) {
    const PackedPattern pattern = packed_row({kInfinity, 0.25f, -kInfinity, kNan}, code);
    CHECK(pattern.low == 0.0f);
    const Floats read = decoded(pattern);
    CHECK(std::isnan(read[0]));
    CHECK(read[1] == doctest::Approx(0.25).epsilon(0.01));
    CHECK(std::isnan(read[2]));
    CHECK(std::isnan(read[3]));
    const Floats nothing = decoded(packed_row({kNan, kNan}, code));
    CHECK(std::isnan(nothing[0]));
    CHECK(std::isnan(nothing[1]));
  }
}

TEST_CASE("packed_pattern: a constant matrix is read back") {
  for (const WeightCode code : {WeightCode::k16, WeightCode::k8}) {
    for (const float value : {0.0f, 0.25f, 1.0f, 7.0f, -0.5f, -7.0f, 1e30f, -1e30f}) {
      CAPTURE(value);
      const PackedPattern pattern = packed_row({value, value, value}, code);
      REQUIRE(pattern.low < pattern.high);
      for (const float read : decoded(pattern)) {
        const double off = static_cast<double>(read) - static_cast<double>(value);
        const double span = static_cast<double>(pattern.high) - static_cast<double>(pattern.low);
        CHECK(std::abs(off) <= span / 254.0);
      }
    }
  }
}

TEST_CASE("packed_pattern: the widest range of floats does not overflow") {
  constexpr float kMost = std::numeric_limits<float>::max();
  const PackedPattern pattern = packed_row({-kMost, 0.0f, kMost}, WeightCode::k16);
  CHECK(std::get<Shorts>(pattern.values) == Shorts{0, 32767, 65534});
}

TEST_CASE("packed_pattern: a triangle has the keys up to each query, in rows") {
  const Floats weights = {1, 9, 9, 2, 3, 9, 4, 5, 6};
  const ConstMatrix matrix = test::matrix_over(weights, 3, 3);
  CHECK(packed_size(3, 3, true) == 6);
  CHECK(std::get<Floats>(packed_pattern(matrix, true, WeightCode::kFloat).values) ==
        Floats{1, 2, 3, 4, 5, 6});
  const PackedPattern pattern = packed_pattern(matrix, true, WeightCode::k8);
  CHECK(pattern.high == 6.0f);  // omitted weights do not count
  CHECK(std::get<Bytes>(pattern.values).size() == 6);
}

TEST_CASE("packed_pattern: rows of all keys, regardless of memory between them") {
  test::PoisonedMatrix poisoned(2, 3);
  const Matrix view = poisoned.view();
  for (std::size_t i = 0; i < 6; ++i) {
    view(i / 3, i % 3) = static_cast<float>(i);
  }
  CHECK(packed_size(2, 3, false) == 6);
  CHECK(std::get<Floats>(packed_pattern(view, false, WeightCode::kFloat).values) ==
        Floats{0, 1, 2, 3, 4, 5});
  CHECK(packed_pattern(view, false, WeightCode::k16).high == 5.0f);
}

namespace {

using nlohmann::json;
using test::PageData;

// The softmax of the queries and keys stored in a page.
std::vector<double> weights_of_steps(const PageData& data, std::size_t which,
                                     const std::vector<bool>& seen) {
  const json& steps = data["steps"];
  const json& head = steps["heads"].at(which);
  const auto q = data.floats(head["q"]);
  const auto k = data.floats(head["k"]);
  const auto d = head["d_head"].get<std::size_t>();
  const std::size_t n = q.size() / d;
  const auto bias = head["bias"].is_null() ? std::vector<float>(n * n) : data.floats(head["bias"]);
  const auto cap = head["soft_cap"].get<double>();
  REQUIRE(bias.size() == n * n);
  REQUIRE(k.size() == q.size());
  std::vector<double> weights(n * n);
  for (std::size_t query = 0; query < n; ++query) {
    double sum = 0.0;
    for (std::size_t key = 0; key < n; ++key) {
      double score = 0.0;
      for (std::size_t i = 0; i < d; ++i) {
        score += static_cast<double>(q[query * d + i]) * static_cast<double>(k[key * d + i]);
      }
      score *= head["scale"].get<double>();
      score = cap > 0.0 ? cap * std::tanh(score / cap) : score;
      score =
          (score + static_cast<double>(bias[query * n + key])) / steps["temperature"].get<double>();
      weights[query * n + key] = seen[query * n + key] ? std::exp(score) : 0.0;
      sum += weights[query * n + key];
    }
    for (std::size_t key = 0; key < n; ++key) {
      weights[query * n + key] /= sum;
    }
  }
  return weights;
}

// Checks that the steps of these heads lead to the weights of the page.
void check_steps(const test::SampleInspection& sample) {
  const std::span<const Inspection> heads = sample.page.heads;
  AttentionDocument document;
  for (const std::string_view token : sample.page.tokens) {
    document.query_tokens.emplace_back(token);
  }
  document.key_tokens = document.query_tokens;
  document.run.mask = heads.front().mask;
  for (const Inspection& head : heads) {
    document.patterns.push_back({head.head, head.all->weights.view()});
  }
  const PageData data = test::data_of(document, {.followed = heads});
  REQUIRE(data["steps"]["heads"].size() == heads.size());
  // The page's softmax knows no learned sink.
  AttentionDocument with_sink = document;
  with_sink.patterns.front().sink.assign(document.query_tokens.size(), 0.5f);
  const PageData without_steps = test::data_of(with_sink, {.followed = heads});
  CHECK(without_steps["steps"].is_null());
  CHECK(without_steps["notes"].dump().find("no steps are shown") != std::string::npos);
  for (std::size_t i = 0; i < heads.size(); ++i) {
    CHECK(data["steps"]["heads"].at(i)["head"] == heads[i].head.head);
    const std::vector<bool> seen =
        data.mask(data["documents"].at(0)["heads"].at(i)["mask"].get<std::size_t>());
    const std::vector<double> computed = weights_of_steps(data, i, seen);
    const std::vector<float> shown = data.weights(0, i);
    REQUIRE(computed.size() == shown.size());
    for (std::size_t cell = 0; cell < shown.size(); ++cell) {
      CAPTURE(cell);
      REQUIRE(std::abs(computed[cell] - static_cast<double>(shown[cell])) < 1e-5);
    }
    const auto v = data.floats(data["steps"]["heads"].at(i)["v"]);
    CHECK(v.size() == heads[i].n_tokens() * heads[i].d_value());
    CHECK(data["steps"]["heads"].at(i)["d_value"] == heads[i].d_value());
  }
}

}  // namespace

TEST_CASE("page_steps: queries and keys of a head give its weights") {
  check_steps({test::model_by_hand(), {"The", " cat", " sat"}, 2});
  check_steps({test::random_head(7), test::numbered_tokens(7), 3});
  check_steps({test::random_head(7, Positions::kRope), test::numbered_tokens(7), 0});
  check_steps({test::whole_layer(5), test::numbered_tokens(5), 4, {}, {{0, 0}, {0, 1}}});
}

TEST_CASE("page_steps: also at other temperatures, and with ALiBi from any query") {
  AttentionRequest warm;
  warm.temperature = 0.5f;
  check_steps({test::random_head(6), test::numbered_tokens(6), 2, warm});
  check_steps({test::whole_layer(5), test::numbered_tokens(5), 4, warm, {{0, 1}}});
  for (const std::size_t query : {0U, 1U, 5U}) {
    CAPTURE(query);
    check_steps({test::random_head(6, Positions::kAlibi), test::numbered_tokens(6), query});
    check_steps({test::random_head(6, Positions::kAlibi), test::numbered_tokens(6), query, warm});
  }
}

}  // namespace attnviz
