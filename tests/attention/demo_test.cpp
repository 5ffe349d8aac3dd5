// The embedded model against an independent float64 pass: tests/reference/demo/README.md.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "attnviz/attention/engine.h"
#include "attnviz/model/stored_model.h"
#include "attnviz/text/files/load_tokenizer.h"
#include "support/json.h"
#include "support/model_run.h"

namespace attnviz {

namespace {

using nlohmann::json;
using test::TokenIds;

json reference(const std::string& name) {
  return test::read_json(ATTNVIZ_SOURCE_DIR "/tests/reference/demo/" + name);
}

// Nested lists, the last index fastest.
void append(const json& numbers, std::vector<float>& all) {
  if (numbers.is_number()) {
    all.push_back(numbers.get<float>());
  }
  for (std::size_t i = 0; numbers.is_array() && i < numbers.size(); ++i) {
    append(numbers[i], all);
  }
}

// -log p of the token at `target`.
double loss_of(std::span<const float> logits, std::size_t target) {
  double most = logits[0];
  for (const float logit : logits) {
    most = std::max(most, static_cast<double>(logit));
  }
  double sum = 0.0;
  for (const float logit : logits) {
    sum += std::exp(static_cast<double>(logit) - most);
  }
  return std::log(sum) + most - static_cast<double>(logits[target]);
}

}  // namespace

TEST_CASE("the demo model: tokens, attention and logits of the reference file") {
  const json golden = reference("golden.json");
  const TokenizedText text = demo_tokenizer()->tokenize(golden["text"].get<std::string>());
  TokenIds input;
  for (const Token& token : text.tokens) {
    input.ids.push_back(token.id);
  }
  CHECK(json(input.ids) == golden["ids"]);
  const Model model = demo_model();
  const test::ModelRun run = test::run_model(model, input);
  std::vector<float> expected_attention;
  append(golden["attention"], expected_attention);
  CHECK(test::largest_difference(run.attention, expected_attention) < 1e-4);
  const MatrixBuffer logits = run_output_head(model, run.stream.view(), 1);
  const std::span<const float> last = logits.view().row(logits.rows() - 1);
  for (const json& expected : golden["last_logits_top5"]) {
    CHECK(std::abs(static_cast<double>(last[expected[0].get<std::size_t>()]) -
                   expected[1].get<double>()) < 2e-4);
  }
}

TEST_CASE("the demo model: the perplexity of held-out text is that given in its model card") {
  const json heldout = reference("heldout.json");
  const Model model = demo_model();
  double loss = 0.0;
  std::size_t n_targets = 0;
  for (const json& row : heldout["rows"]) {
    TokenIds input;
    input.ids = row.get<std::vector<std::uint32_t>>();
    const std::vector<std::uint32_t> targets(input.ids.begin() + 1, input.ids.end());
    input.ids.pop_back();
    const test::ModelRun run = test::run_model(model, input, 2);
    const MatrixBuffer logits = run_output_head(model, run.stream.view(), 2);
    for (std::size_t i = 0; i < targets.size(); ++i) {
      loss += loss_of(logits.view().row(i), targets[i]);
    }
    n_targets += targets.size();
  }
  CHECK(n_targets == std::size_t{64} * 128);
  const double perplexity = std::exp(loss / static_cast<double>(n_targets));
  CHECK(perplexity == doctest::Approx(heldout["perplexity"].get<double>()).epsilon(1e-4));
  CHECK(perplexity <= 7.4);
}

}  // namespace attnviz
