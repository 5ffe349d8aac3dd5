// The texts for heads with more than attention: norms, rotation, caps, windows, shared keys.

#include <doctest/doctest.h>

#include <string>

#include "attnviz/core/utf8.h"
#include "attnviz/report/words/words.h"
#include "attnviz/terminal/inspection_text.h"
#include "support/sample_inspection.h"

namespace attnviz {
namespace {

using test::SampleInspection;
using Step = InspectionStep;

SampleInspection whole_sample(std::size_t query = 5, const AttentionRequest& request = {}) {
  return SampleInspection(test::whole_layer(7), test::numbered_tokens(7), query, request, {{0, 1}});
}

std::string formula(const SampleInspection& made, Step step) {
  const InspectedStep words = test::inspected_step(made, step);
  return std::to_string(words.number) + " " + words.formula;
}

std::string sentence_of(const SampleInspection& made, Step step) {
  return test::inspected_step(made, step).sentence;
}

std::string note(const SampleInspection& made, Step step) {
  return test::inspected_step(made, step).note;
}

}  // namespace

TEST_CASE("words of whole models: each step is counted and has its formula") {
  const SampleInspection made = whole_sample();
  CHECK(formula(made, Step::kNorm) == "2 y = RMSNorm(x) = x ÷ √(mean of x² + 1e-05) · (1 + w)");
  CHECK(formula(made, Step::kQuery) == "3 q = y · W_Q + b_Q");
  CHECK(formula(made, Step::kQueryKeyNorm) ==
        "5 q and each k through RMSNorm: q ÷ √(mean of q² + 1e-05) · (1 + w)");
  CHECK(formula(made, Step::kRope) == "6 q rotated for position 5, each k for its own (RoPE)");
  CHECK(formula(made, Step::kScale) == "8 scaled = q · k ÷ √16, √16 = 4.0000 (the model's own)");
  CHECK(formula(made, Step::kCap) == "9 capped = 2 · tanh(scaled ÷ 2)");
  CHECK(formula(made, Step::kMask) ==
        "10 mask window:3: −∞ for keys after the query, or 3 or more before it");
  CHECK(formula(made, Step::kResidual) == "15 result = x + RMSNorm(output + other heads)");
  CHECK(in_ascii(test::inspected_step(made, Step::kNorm).formula) ==
        "y = RMSNorm(x) = x / sqrt(mean of x^2 + 1e-05) * (1 + w)");
}

TEST_CASE("words of whole models: with a cap the temperature comes after it") {
  AttentionRequest request;
  request.temperature = 0.5f;
  const SampleInspection made = whole_sample(5, request);
  CHECK(formula(made, Step::kScale) == "8 scaled = q · k ÷ √16, √16 = 4.0000 (the model's own)");
  CHECK(formula(made, Step::kCap) ==
        "9 capped = 2 · tanh(scaled ÷ 2), then ÷ 0.5, the temperature");
}

TEST_CASE("words of whole models: a scale that is not a root is given as a number") {
  Model model = test::whole_layer(3);
  model.layers[0].score_scale = 0.3;
  const SampleInspection made(model, test::numbered_tokens(3), 2);
  CHECK(formula(made, Step::kScale) == "8 scaled = q · k · 0.3 (the model's own scale)");
  model.layers[0].score_scale = 0.0;
  const SampleInspection usual(model, test::numbered_tokens(3), 2);
  CHECK(formula(usual, Step::kScale) == "8 scaled = q · k ÷ √d_head, √6 = 2.4495");
}

TEST_CASE("words of whole models: layer norms, norms after the sum") {
  Model model = test::random_head(3);
  model.config.order = LayerOrder::kPostNorm;
  Norm norm;
  norm.weight = model.inputs.row(0);
  norm.bias = model.inputs.row(1);
  norm.epsilon = 1e-12;
  model.layers[0].attention_norm = norm;
  model.layers[0].mlp_norm = norm;
  const StoredMatrix square(model.inputs.data, 8, 1, 1);
  model.layers[0].mlp.up = {square, {}};
  model.layers[0].mlp.down = {StoredMatrix(model.inputs.data, 1, 8, 8), {}};
  const SampleInspection bert(model, test::numbered_tokens(3), 2);
  CHECK(formula(bert, Step::kQuery) == "2 q = x · W_Q + b_Q");
  CHECK(formula(bert, Step::kResidual) == "11 result = LayerNorm(x + output + b_O)");
  CHECK(note(bert, Step::kResidual) ==
        "The layer's MLP, which works on each token alone, comes next.");
  model.config.order = LayerOrder::kPreNorm;
  const SampleInspection gpt2(model, test::numbered_tokens(3), 2);
  CHECK(formula(gpt2, Step::kNorm) ==
        "2 y = LayerNorm(x) = (x − mean) ÷ √(variance + 1e-12) · w + b");
}

TEST_CASE("notes of whole models: the origin of the numbers") {
  const SampleInspection made = whole_sample();
  CHECK(note(made, Step::kRope) ==
        "2 pairs of dimensions (i, i + 2) are rotated, each by position · its frequency; "
        "dimensions 4 to 5 do not change; scaling linear, factor 4.");
  CHECK(note(made, Step::kMask) ==
        "Hidden: 3 keys before the window of 3 tokens and 1 key after the query.");
  CHECK(note(made, Step::kKeys) == "Both heads of the layer share W_K and W_V.");
  CHECK(in_ascii(note(made, Step::kNorm)).starts_with("Mean of x^2 = "));
  CHECK(note(whole_sample(2), Step::kMask) == "Hidden: 4 keys after the query.");
  CHECK(note(whole_sample(6), Step::kScores).empty());
}

TEST_CASE("sentences of whole models are true for the window, the cap and the rotation") {
  const SampleInspection made = whole_sample();
  CHECK(sentence_of(made, Step::kMask) ==
        "\"t5\" does not see \"t0\", \"t1\" and \"t2\", before its window of 3 tokens, nor \"t6\", "
        "after it: their scores become −∞, and their weights 0.");
  CHECK(sentence_of(whole_sample(2), Step::kMask) ==
        "\"t2\" does not see \"t3\", \"t4\", \"t5\" and \"t6\", after it: their scores become −∞, "
        "and their weights 0.");
  CHECK(
      sentence_of(made, Step::kRope)
          .starts_with(
              "At position 5, the first pair of q is rotated by 5 radians and the last by 0.625."));
  CHECK(
      sentence_of(whole_sample(1), Step::kRope)
          .starts_with(
              "At position 1, the first pair of q is rotated by 1 radian and the last by 0.125."));
  CHECK(sentence_of(whole_sample(0), Step::kRope).starts_with("At position 0, q is not rotated."));
  CHECK(sentence_of(made, Step::kCap).starts_with("No score can rise above 2 or fall below -2: "));
  CHECK(sentence_of(made, Step::kNorm).starts_with("Attention uses y instead of x: "));
  CHECK(sentence_of(made, Step::kResidual).find(", and 1 other head adds its own; ") !=
        std::string::npos);
}

TEST_CASE("inspection screen: the steps of a whole layer, no line too wide, 7-bit in ascii") {
  SampleInspection made = whole_sample();
  made.page.explain = true;
  for (const bool full : {false, true}) {
    made.page.full = full;
    for (std::size_t columns = 20; columns <= 200; columns += 7) {
      const std::string screen =
          render_inspection(made.page, {TerminalStyle::kAscii, ColorDepth::kNone, columns});
      std::size_t begin = 0;
      for (std::size_t end = screen.find('\n'); end != std::string::npos;
           begin = end + 1, end = screen.find('\n', begin)) {
        REQUIRE(display_width(screen.substr(begin, end - begin)) <= columns);
      }
      for (const char c : screen) {
        const bool is_plain = c == '\n' || (c >= ' ' && c <= '~');
        REQUIRE(is_plain);
      }
    }
  }
}

TEST_CASE("inspection screen: a rotation by hand, pair by pair") {
  SampleInspection made = whole_sample(0);
  made.page.steps = {Step::kRope};
  const std::string screen =
      render_inspection(made.page, {TerminalStyle::kAscii, ColorDepth::kNone, 80});
  CHECK(screen.find("\n   pair  frequency  angle  q before") != std::string::npos);
  CHECK(screen.find("\n   0, 2          1      0  ") != std::string::npos);
  CHECK(screen.find("\n   1, 3      0.125      0  ") != std::string::npos);
}

}  // namespace attnviz
