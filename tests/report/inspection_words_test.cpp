// The sentences for each step of an inspection must be true for the numbers of the head and query.

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/report/steps/step_table.h"
#include "attnviz/report/words/words.h"
#include "support/sample_inspection.h"

namespace attnviz {
namespace {

using test::SampleInspection;
using Step = InspectionStep;

std::string sentence(const SampleInspection& sample, Step step, bool ascii = false) {
  const std::string text = test::inspected_step(sample, step, ascii).sentence;
  return ascii ? in_ascii(text) : text;
}

SampleInspection by_hand(std::size_t query = 2, const AttentionRequest& request = {}) {
  return SampleInspection(test::model_by_hand(), {"The", "cat", "sat"}, query, request);
}

// A head whose scores are all 0: every visible key has the same weight.
SampleInspection uniform(std::size_t n_tokens, std::size_t query) {
  test::ModelBuilder builder(n_tokens, 2);
  builder.model.layers.push_back({{{{builder.keep({0, 0}, 2, 1), {}},
                                    {builder.random(2, 1), {}},
                                    {builder.random(2, 1), {}},
                                    {}}},
                                  {}});
  return SampleInspection(builder.model, test::numbered_tokens(n_tokens), query);
}

// d_head 1 and the given scores: q is 1, keys are the scores, values 1.
SampleInspection with_scores(const std::vector<float>& scores,
                             const AttentionRequest& request = {}) {
  test::ModelBuilder builder(scores.size(), 2);
  std::vector<float> inputs;
  for (const float score : scores) {
    inputs.insert(inputs.end(), {1.0f, score});
  }
  builder.model.inputs = builder.keep(inputs, scores.size(), 2);
  builder.model.layers.push_back({{{{builder.keep({1, 0}, 2, 1), {}},
                                    {builder.keep({0, 1}, 2, 1), {}},
                                    {builder.keep({1, 0}, 2, 1), {}},
                                    {}}},
                                  {}});
  return SampleInspection(builder.model, test::numbered_tokens(scores.size()), scores.size() - 1,
                          request);
}

}  // namespace

TEST_CASE("words: formulas and shapes are those of the head") {
  const SampleInspection sample = by_hand();
  const auto heading = [&](Step step, bool ascii = false) {
    const InspectedStep words = test::inspected_step(sample, step, ascii);
    const std::string text =
        std::to_string(words.number) + " " + words.formula + " | " + words.shape;
    return ascii ? in_ascii(text) : text;
  };
  CHECK(heading(Step::kX) == "1 x, the vector that enters layer 0 | [3]");
  CHECK(heading(Step::kQuery) == "2 q = x · W_Q | [3] · [3, 4] → [4]");
  CHECK(heading(Step::kScores) == "4 scores = q · k for each key | [4] · [4, 3] → [3]");
  CHECK(heading(Step::kScale) == "5 scaled = q · k ÷ √d_head, √4 = 2.0000 | [3]");
  CHECK(heading(Step::kScale, true) == "5 scaled = q * k / sqrt(d_head), sqrt(4) = 2.0000 | [3]");
  CHECK(heading(Step::kMask, true) == "6 mask causal: -inf for keys after the query | [3]");
  CHECK(heading(Step::kValues) == "8 v = x · W_V; share = weight · v | [3, 3] · [3, 2] → [3, 2]");
  CHECK(heading(Step::kOutput) == "10 output = context · W_O | [2] · [2, 3] → [3]");
  CHECK(heading(Step::kResidual) == "11 result = x + output | [3]");
}

TEST_CASE("words: the requested options appear in the formulas") {
  AttentionRequest request;
  request.scale = false;
  request.temperature = 0.5f;
  request.dropout = 0.25f;
  request.mask = parse_mask("window:2");
  const SampleInspection sample(test::random_head(4, Positions::kRope), test::numbered_tokens(4), 3,
                                request);
  const auto formula = [&](Step step) { return test::inspected_step(sample, step).formula; };
  CHECK(formula(Step::kQuery) == "q = x · W_Q + b_Q");
  CHECK(formula(Step::kKeys) == "k = x · W_K + b_K for each token");
  CHECK(formula(Step::kRope) == "q rotated for position 3, each k for its own (RoPE)");
  CHECK(formula(Step::kScale) == "scaled = q · k ÷ 0.5, temperature 0.5, not divided by √d_head");
  CHECK(formula(Step::kMask) ==
        "mask window:2: −∞ for keys after the query, or 2 or more before it");
  CHECK(formula(Step::kSoftmax) == "weight = exp(s − max) ÷ sum, then dropout 0.25");
  CHECK(formula(Step::kResidual) == "result = x + output + b_O");
}

TEST_CASE("sentences: a head computed by hand") {
  const SampleInspection sample = by_hand();
  CHECK(sentence(sample, Step::kX) ==
        "x is the vector for \"sat\" before it attends to anything: 3 numbers.");
  CHECK(sentence(sample, Step::kScores) == "Among all 3 keys, q matches that of \"cat\" best.");
  CHECK(sentence(sample, Step::kMask) == "Nothing is masked: \"sat\" sees all 3 tokens.");
  // e / (e + 2) = 0.576, 1 / (e + 2) = 0.212
  CHECK(sentence(sample, Step::kSoftmax) ==
        "\"sat\" looks mostly at \"cat\": 58 %, then at \"The\" and itself: 21 % each.");
  CHECK(sentence(sample, Step::kValues) ==
        "Each value is multiplied by its weight; the longest share is that of \"cat\", with length "
        "1.152.");
  CHECK(sentence(sample, Step::kContext) ==
        "The context is a mixture of values: 58 % of \"cat\", 21 % of \"The\" and 21 % of "
        "\"sat\".");
  CHECK(sentence(sample, Step::kOutput) ==
        "W_O maps the 2 numbers of the context to 3 numbers, as many as x has.");
  // |(1.0597, 0.5761, 0)| = 1.206
  CHECK(sentence(sample, Step::kResidual) ==
        "The head adds a vector of length 1.21 to x, whose length is 1.");
}

TEST_CASE("sentences: the textbook's 46 %") {
  // The scores 2.1, 8.7, 3.2 over √128: softmax 0.2568, 0.4602, 0.2830.
  const float root = 11.313708f;
  const SampleInspection sample = with_scores({2.1f / root, 8.7f / root, 3.2f / root});
  CHECK(sentence(sample, Step::kSoftmax) ==
        "\"t2\" looks mostly at \"t1\": 46 %, then at itself: 28 %.");
}

TEST_CASE("sentences: equal numbers are said to be equal") {
  CHECK(sentence(uniform(4, 3), Step::kSoftmax) ==
        "\"t3\" attends to all 4 keys equally: 25 % each.");
  CHECK(sentence(uniform(4, 3), Step::kScores).starts_with("q matches all 4 keys equally well."));
  CHECK(sentence(with_scores({3, 3, 1}), Step::kSoftmax) ==
        "\"t2\" looks most at \"t0\" and \"t1\": 47 % each.");
  CHECK(sentence(with_scores({2, 2, 2, 2, 2, 2, 1}), Step::kSoftmax) ==
        "\"t6\" looks most at \"t0\", \"t1\", \"t2\" and 3 others: 16 % each.");
  CHECK(sentence(with_scores({1.0f, 1.1f, 0.9f}), Step::kSoftmax) ==
        "\"t2\" looks most at \"t1\": 37 %, then at \"t0\": 33 %.");
}

TEST_CASE("sentences: one token, and the first of several") {
  const SampleInspection one(test::random_head(1), {"The"}, 0);
  CHECK(sentence(one, Step::kKeys) ==
        "k is the key by which \"The\", the only token, can be found.");
  CHECK(sentence(one, Step::kScores) == "There is one key to compare q with.");
  CHECK(sentence(one, Step::kMask) == "Nothing is masked: \"The\" is the only token.");
  CHECK(sentence(one, Step::kSoftmax) == "\"The\" can only attend to itself: 100 %.");
  CHECK(sentence(one, Step::kContext) == "The context is a mixture of values: 100 % of \"The\".");
  const SampleInspection first = by_hand(0);
  CHECK(sentence(first, Step::kMask) ==
        "\"The\" does not see \"cat\" and \"sat\": their scores become −∞, and their weights 0.");
  CHECK(sentence(first, Step::kSoftmax) == "\"The\" can only attend to itself: 100 %.");
}

TEST_CASE("sentences: products of short vectors are written out with the numbers shown") {
  CHECK(sentence(with_scores({3, 5, 1}), Step::kScores) ==
        "Among all 3 keys, q matches that of \"t1\" best. For \"t1\": 1 · 5 = 5.");
  CHECK(sentence(with_scores({3, 5, 1}), Step::kScores, true) ==
        "Among all 3 keys, q matches that of \"t1\" best. For \"t1\": 1 * 5 = 5.");
}

TEST_CASE("sentences: temperature and dropout are reported") {
  AttentionRequest request;
  request.temperature = 2.0f;
  CHECK(sentence(by_hand(2, request), Step::kScale)
            .ends_with("The temperature 2 makes the weights more alike."));
  request.temperature = 0.5f;
  request.scale = false;
  CHECK(sentence(by_hand(2, request), Step::kScale) ==
        "The scores are not divided by √4: large ones make the softmax sharp. The temperature 0.5 "
        "makes the weights more different.");
  request.temperature = 1.0f;
  CHECK(sentence(by_hand(2, request), Step::kScale) ==
        "The scores are not scaled: large ones make the softmax sharp.");
  request = {};
  request.dropout = 0.5f;
  request.dropout_seed = 1;
  const SampleInspection dropped = uniform(8, 7);
  CHECK(sentence(dropped, Step::kSoftmax) == "\"t7\" attends to all 8 keys equally: 12 % each.");
  const SampleInspection some = with_scores({0, 0, 0, 0, 0, 0, 0, 0}, request);
  std::size_t n_dropped = 0;
  for (const float weight : some.head().weights) {
    n_dropped += weight == 0.0f ? 1u : 0u;
  }
  CHECK(sentence(some, Step::kSoftmax) ==
        "\"t7\" attends to all 8 keys equally: 12 % each. Dropout then sets " +
            std::to_string(n_dropped) + " of 8 weights to 0 and multiplies the others by 2.");
}

TEST_CASE("sentences: a temperature that changes no weight is said to change none") {
  AttentionRequest request;
  request.temperature = 2.0f;
  CHECK(sentence(by_hand(0, request), Step::kScale)
            .ends_with(" The temperature 2 changes no weight: \"The\" sees one key only."));
  CHECK(sentence(with_scores({3, 3, 3}, request), Step::kScale)
            .ends_with(" The temperature 2 changes no weight: the scores are equal."));
  // Of the different scores only two equal ones are visible.
  request.mask = parse_mask("window:2");
  CHECK(sentence(with_scores({5, 1, 1}, request), Step::kScale)
            .ends_with(" The temperature 2 changes no weight: the scores are equal."));
  const SampleInspection alibi(test::random_head(4, Positions::kAlibi), test::numbered_tokens(4), 3,
                               request);
  CHECK(sentence(alibi, Step::kScale)
            .ends_with(" The temperature 2 makes the scores differ less; the bias of ALiBi does "
                       "not change."));
}

TEST_CASE("sentences: a root of 1 is not said to scale") {
  CHECK(sentence(with_scores({3, 5, 1}), Step::kScale) ==
        "Dividing by √1 changes nothing: q and k are one number each.");
}

TEST_CASE("scale_root: the whole number under the root of a scale, if there is one") {
  Inspection head;
  head.own_scale = 0.125;
  CHECK(scale_root(head) == 64);
  head.own_scale = 0.3;
  CHECK(scale_root(head) == 0);
  for (const double scale : {1e-9, 1e-12, 1e-160}) {  // a number this large is always whole
    head.own_scale = scale;
    CHECK(scale_root(head) == 0);
  }
}

TEST_CASE("sentences: q is a sum over x, plus the head's bias") {
  CHECK(sentence(by_hand(), Step::kQuery) ==
        "q is what \"sat\" looks for: each of its 4 numbers is the dot product of x with a column "
        "of W_Q.");
  CHECK(sentence(with_scores({3, 5, 1}), Step::kQuery) ==
        "q is what \"t2\" looks for: its 1 number is the dot product of x with a column of W_Q.");
  const SampleInspection biased(test::random_head(3), test::numbered_tokens(3), 2);
  REQUIRE(!biased.head().weights_in.query.bias.empty());
  CHECK(sentence(biased, Step::kQuery) ==
        "q is what \"t2\" looks for: each of its 6 numbers is a number of b_Q plus the dot product "
        "of x with a column of W_Q.");
}

TEST_CASE("sentences: dropout counts what it drops and what it leaves") {
  const auto after_dropout = [](const std::vector<float>& scores, float rate, std::uint64_t seed) {
    AttentionRequest request;
    request.dropout = rate;
    request.dropout_seed = seed;
    const SampleInspection sample = with_scores(scores, request);
    const std::string text = sentence(sample, Step::kSoftmax);
    std::size_t kept = 0;
    for (const float weight : sample.head().weights) {
      kept += weight > 0.0f ? 1u : 0u;
    }
    return std::pair(kept, text.substr(text.find("Dropout")));
  };
  std::map<std::size_t, std::string> sentences;  // by the number of weights kept
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto [kept, text] = after_dropout({1, 1, 1}, 0.5f, seed);
    sentences.emplace(kept, text);
    CHECK(sentences[kept] == text);
  }
  const std::map<std::size_t, std::string> expected = {
      {0, "Dropout then sets all 3 weights to 0."},
      {1, "Dropout then sets 2 of 3 weights to 0 and multiplies the other by 2."},
      {2, "Dropout then sets 1 of 3 weights to 0 and multiplies the others by 2."},
      {3, "Dropout then sets no weight to 0 and multiplies all 3 by 2."}};
  CHECK(sentences == expected);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto [kept, text] = after_dropout({1}, 0.5f, seed);
    CHECK(text == (kept == 0 ? "Dropout then sets the only weight to 0."
                             : "Dropout then sets no weight to 0 and multiplies the only one by "
                               "2."));
    // exp(-200) underflows: that weight is 0 before dropout, too.
    CHECK(after_dropout({201, 1, 201}, 0.5f, seed).second.find("3") == std::string::npos);
  }
}

TEST_CASE("sentences: the outputs of several heads replace x together") {
  Model model = test::random_head(2);
  model.config.residual = false;
  CHECK(sentence(SampleInspection(model, {"a", "b"}, 1), Step::kResidual) ==
        "This model does not add x: the output takes the place of \"b\".");
  model.layers[0].heads.push_back(model.layers[0].heads[0]);
  CHECK(sentence(SampleInspection(model, {"a", "b"}, 1), Step::kResidual) ==
        "This model does not add x: the outputs of 2 heads together take the place of \"b\".");
}

TEST_CASE("sentences: a token that occurs several times is identified by its position") {
  const SampleInspection sample(test::model_by_hand(), {"the", "the", "cat"}, 2);
  CHECK(sentence(sample, Step::kSoftmax) ==
        "\"cat\" looks mostly at \"the\" (1): 58 %, then at \"the\" (0) and itself: "
        "21 % each.");
}

TEST_CASE("sentences in ascii are 7-bit, for any tokens") {
  const SampleInspection sample(test::model_by_hand(), {"猫", "\x1b[31m", "é"}, 2);
  for (const StepDefinition& step : step_definitions()) {
    for (const char c : sentence(sample, step.step, true)) {
      CHECK(c >= ' ');
      CHECK(c <= '~');
    }
    CHECK(sentence(sample, step.step).find('\x1b') == std::string::npos);
  }
}

TEST_CASE("formulas in ascii keep the terms under a root together") {
  CHECK(in_ascii("q · k ÷ √d_head → [2]") == "q * k / sqrt(d_head) -> [2]");
  CHECK(in_ascii("√64 − ∞ ≥ …") == "sqrt(64) - inf >= ..");
  CHECK(in_ascii("√(mean of x² + 1)") == "sqrt(mean of x^2 + 1)");
}

}  // namespace attnviz
