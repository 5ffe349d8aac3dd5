// Removed heads, MLPs and edges, against edited weights, masks and float64 numbers.
#include "attnviz/attention/interventions.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/attention/decoding.h"
#include "attnviz/attention/engine.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/core/error.h"
#include "attnviz/model/stored_model.h"
#include "support/json.h"
#include "support/model_builder.h"
#include "support/why_cases.h"

namespace attnviz {
namespace {

using nlohmann::json;
using Ids = std::vector<std::uint32_t>;
using test::ModelBuilder;
using test::OutputForm;

AttentionRequest with(Interventions interventions) {
  AttentionRequest request;
  request.interventions = std::make_shared<const Interventions>(std::move(interventions));
  return request;
}

Interventions hidden(std::vector<KnockOut> knock_outs) {
  return {{}, std::move(knock_outs)};
}

// ln p of every token as the next one at each position, [n][n_vocab].
std::vector<std::vector<double>> log_probabilities(const Model& model, const Ids& ids,
                                                   const AttentionRequest& request) {
  ModelInput input;
  input.ids = ids;
  OutputRows last(model, 0, ids.size());
  run(model, input, request, last);
  const MatrixBuffer logits = run_output_head(model, last.rows(), 1);
  std::vector<std::vector<double>> all;
  for (std::size_t row = 0; row < ids.size(); ++row) {
    const std::span<const float> numbers = logits.view().row(row);
    std::vector<double> logs(numbers.begin(), numbers.end());
    const double most = *std::ranges::max_element(logs);
    double sum = 0.0;
    for (const double one : logs) {
      sum += std::exp(one - most);
    }
    for (double& one : logs) {
      one -= most + std::log(sum);
    }
    all.push_back(std::move(logs));
  }
  return all;
}

double kl_bits(const std::vector<double>& base, const std::vector<double>& changed) {
  double sum = 0.0;
  for (std::size_t i = 0; i < base.size(); ++i) {
    sum += std::exp(base[i]) * (base[i] - changed[i]);
  }
  return sum / std::log(2.0);
}

// One reference file.
class Case {
 public:
  explicit Case(test::WhyCase given)
      : model_(std::move(given.model)),
        numbers_(std::move(given.numbers)),
        ids_(std::move(given.ids)),
        base_(log_probabilities(model_, ids_, {})) {}

  void check_sets() const {
    for (const bool by_mean : {false, true}) {
      CAPTURE(by_mean);
      for (const json& set : numbers_["ablation"][by_mean ? "mean" : "zero"]["sets"]) {
        Interventions several;
        for (const std::string name : set["heads"]) {
          const HeadId head = head_of(name);
          several.ablations.push_back({head.layer, head.head, false, by_mean});
        }
        check(several, set);
      }
    }
  }

  void check_knock_outs() const {
    for (const json& one : numbers_["knock_out"]) {
      CAPTURE(one["what"].get<std::string>());
      const Interventions changes = hidden(knock_outs_of(one));
      check(changes, one);
      const Ids shown = one["show"].get<Ids>();
      const HeadId head{shown[0], shown[1]};
      ModelInput input;
      input.ids = ids_;
      PatternStore store({head}, ids_.size());
      run(model_, input, with(changes), store);
      const auto row = store.pattern(head).row(shown[2]);
      const auto expected = one["row"].get<std::vector<double>>();
      for (std::size_t key = 0; key < expected.size(); ++key) {
        CHECK(static_cast<double>(row[key]) == doctest::Approx(expected[key]).epsilon(1e-4));
      }
    }
  }

 private:
  static HeadId head_of(const std::string& name) {
    const std::size_t dot = name.find('.');
    return {std::stoul(name.substr(0, dot)), std::stoul(name.substr(dot + 1))};
  }

  // Null: all there are.
  static std::vector<IndexRange> ranges_of(const json& numbers) {
    if (numbers.is_null()) {
      return {{}};
    }
    std::vector<IndexRange> all;
    for (const std::size_t number : numbers) {
      all.push_back({number, number + 1});
    }
    return all;
  }

  static std::vector<KnockOut> knock_outs_of(const json& one) {
    std::vector<KnockOut> all;
    for (const json& edge : one["edges"]) {
      const std::vector<IndexRange> ends = ranges_of(edge);
      for (const IndexRange layers : ranges_of(one["layers"])) {
        for (const IndexRange heads : ranges_of(one["heads"])) {
          all.push_back({ends[0], ends[1], layers, heads});
        }
      }
    }
    return all;
  }

  void check(const Interventions& changes, const json& expected) const {
    const auto changed = log_probabilities(model_, ids_, with(changes));
    double sum = 0.0;
    for (std::size_t i = 0; i < changed.size(); ++i) {
      sum += kl_bits(base_[i], changed[i]);
    }
    const std::size_t target = numbers_["target"];
    test::check_why(kl_bits(base_.back(), changed.back()), expected["kl_bits"]);
    test::check_why(sum / static_cast<double>(changed.size()), expected["kl_bits_mean"]);
    test::check_why(changed.back()[target] - base_.back()[target], expected["target_change_nats"]);
    const auto top = std::ranges::max_element(changed.back()) - changed.back().begin();
    CHECK(top == expected["top"].get<std::ptrdiff_t>());
  }

  Model model_;
  json numbers_;
  Ids ids_;
  std::vector<std::vector<double>> base_;
};

}  // namespace

TEST_CASE("interventions: the effects of removing several heads agree with float64 numbers") {
  for (const test::WhyCase& one : test::why_cases()) {
    Case(one).check_sets();
  }
}

TEST_CASE("interventions: the effects of hiding edges agree with float64 numbers") {
  for (const test::WhyCase& one : test::why_cases()) {
    Case(one).check_knock_outs();
  }
}

TEST_CASE("interventions: a text that grows sees what a text read at once sees") {
  const Model model = demo_model();
  const Ids ids = {0, 3991, 3877, 3969, 3758, 3523, 3873, 3310};
  const std::vector<Interventions> all = {
      {{{2, 1, false, false}, {1, {}, true, false}}, {}},
      hidden({{{5, 8}, {1, 3}, {1, 3}, {}}}),
      {{{0, {}, false, false}}, {{{}, {2, 3}, {}, {0, 2}}}},
  };
  for (const Interventions& changes : all) {
    const auto at_once = log_probabilities(model, ids, with(changes));
    Decoding decoding(model, with(changes), ids.size());
    const auto all_ids = std::span(ids);
    decoding.feed(all_ids.first(5));
    decoding.feed(all_ids.subspan(5, 1));
    const std::span<const float> logits = decoding.feed(all_ids.subspan(6));
    for (const std::size_t id : {0U, 777U, 3873U}) {
      const double found = static_cast<double>(logits[id]) - static_cast<double>(logits[1]);
      CHECK(std::abs(found - (at_once.back()[id] - at_once.back()[1])) < 1e-4);
    }
  }
}

TEST_CASE("interventions: in a text that grows, means are those of the tokens that came first") {
  const Model model = demo_model();
  const Ids ids = {0, 3991, 3877, 3969, 3758};
  const AttentionRequest request = with({{{1, 2, false, true}}, {}});
  Decoding decoding(model, request, ids.size());
  const std::span<const float> logits = decoding.feed(ids);
  const auto at_once = log_probabilities(model, ids, request);
  const double found = static_cast<double>(logits[9]) - static_cast<double>(logits[1]);
  CHECK(std::abs(found - (at_once.back()[9] - at_once.back()[1])) < 1e-4);
}

TEST_CASE("interventions: parts the model does not have are refused by name") {
  const Model model = demo_model();
  const auto refusal = [&](const Interventions& changes) {
    try {
      check_interventions(model, changes);
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::kUsage);
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(refusal({{{3, 3, false, false}, {3, {}, true, true}}, {}}).empty());
  CHECK(refusal({{{4, {}, false, false}}, {}}) ==
        "layer 4: expected at most 3, because the model has 4 layers");
  CHECK(refusal({{{0, 7, false, false}}, {}}) ==
        "head 7: expected at most 3, because the layer has 4 heads");
  CHECK(refusal(hidden({{{}, {}, {0, 4}, {3, 4}}, {}})).empty());
  CHECK(refusal(hidden({{{}, {}, {2, 6}, {}}})) ==
        "layer 5: expected at most 3, because the model has 4 layers");
  CHECK(refusal(hidden({{{}, {}, {}, {4}}})) ==
        "head 4: expected at most 3, because the layer has 4 heads");
  ModelBuilder builder(3, 8);
  builder.add_layer({{4, 4}}, OutputForm::kPerLayer);
  CHECK_THROWS_WITH_AS(check_interventions(builder.model, {{{0, {}, true, false}}, {}}),
                       doctest::Contains("has no MLPs"), Error);
}

}  // namespace attnviz
