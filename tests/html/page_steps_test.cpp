#include "attnviz/html/page_steps.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "html/page_data.h"
#include "support/sample_inspection.h"

namespace attnviz {
namespace {

using nlohmann::json;
using test::PageData;

// The softmax of what a page says of queries and keys.
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

// That the steps of these heads lead to the weights of the page.
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

TEST_CASE("write_page_steps: queries and keys of a head make its weights") {
  check_steps({test::model_by_hand(), {"The", " cat", " sat"}, 2});
  check_steps({test::random_head(7), test::numbered_tokens(7), 3});
  check_steps({test::random_head(7, Positions::kRope), test::numbered_tokens(7), 0});
  check_steps({test::whole_layer(5), test::numbered_tokens(5), 4, {}, {{0, 0}, {0, 1}}});
}

TEST_CASE("write_page_steps: so they do at other temperatures, and with ALiBi from any query") {
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
