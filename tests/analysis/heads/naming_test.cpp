// Names of heads: measured ones, and the known ones of the embedded model.
#include "attnviz/analysis/heads/head_names.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "attnviz/model/random_model.h"
#include "attnviz/model/stored_model.h"
#include "attnviz/text/files/load_tokenizer.h"
#include "support/sample_heads.h"

namespace attnviz {
namespace {

std::string joined(const std::vector<NamedHead>& named) {
  std::string all;
  for (const NamedHead& one : named) {
    all += std::to_string(one.layer) + "." + std::to_string(one.head) + " " + one.name + "\n";
  }
  return all;
}

}  // namespace

TEST_CASE("naming: the embedded model's known heads are those that are measured") {
  const Model model = demo_model();
  const auto tokenizer = demo_tokenizer();
  AttentionRequest request;
  std::vector<double> done;
  request.report = [&done](double share) { done.push_back(share); };
  CHECK(joined(measured_names(model, tokenizer.get(), request)) ==
        joined(*model.config.named_heads));
  CHECK(done == std::vector{0.25, 0.5, 0.75, 1.0});
}

TEST_CASE("naming: random heads have no name, nor do they with a narrow window") {
  RandomShape shape;
  shape.n_layers = 2;
  shape.n_heads = 4;
  const Model model = random_model(shape, 1, Positions::kNone);
  AttentionRequest request;
  CHECK(measured_names(model, nullptr, request).empty());
  request.mask = Mask{MaskKind::kWindow, 2};
  CHECK(measured_names(model, nullptr, request).empty());
}

TEST_CASE(
    "naming: what is judged depends on the probe, and on the score of uniform attention there") {
  TokenizedText probe;
  probe.tokens.resize(100);
  const HeadName& induction = *head_name_called("induction");
  const auto judged = [&](double uniform) {
    return is_judged(induction, {&probe, 1}, test::score_values({{Score::kInduction, uniform}}));
  };
  CHECK(judged(0.078));
  CHECK_FALSE(judged(0.079));
  CHECK(is_judged(induction, {&probe, 1}, {}));
  probe.tokens.resize(99);
  CHECK_FALSE(judged(0.01));
}

}  // namespace attnviz
