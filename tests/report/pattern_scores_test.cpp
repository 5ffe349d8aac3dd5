#include <doctest/doctest.h>

#include <cstddef>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/report/patterns/step_patterns.h"
#include "support/naive.h"

namespace attnviz {

namespace {

// Each query of a causal head puts all its weight on one key, or attends uniformly.
class CausalHeads {
 public:
  explicit CausalHeads(std::size_t n_tokens) : n_(n_tokens) {
    document.run.mask = Mask{MaskKind::kCausal};
    for (std::size_t i = 0; i < n_tokens; ++i) {
      document.query_tokens.push_back(" t" + std::to_string(i));
    }
    document.key_tokens = document.query_tokens;
  }

  template <class KeyOf>
  void add(const KeyOf& key_of) {
    std::vector<float> weights(n_ * n_);
    for (std::size_t query = 0; query < n_; ++query) {
      weights[query * n_ + key_of(query)] = 1.0f;
    }
    add_weights(std::move(weights));
  }

  void add_alike() {
    std::vector<float> weights(n_ * n_);
    for (std::size_t query = 0; query < n_; ++query) {
      for (std::size_t key = 0; key <= query; ++key) {
        weights[query * n_ + key] = 1.0f / static_cast<float>(query + 1);
      }
    }
    add_weights(std::move(weights));
  }

  AttentionDocument document;

 private:
  void add_weights(std::vector<float> weights) {
    const std::size_t head = document.patterns.size();
    kept_.push_back(std::move(weights));
    document.patterns.push_back({{0, head}, test::matrix_over(kept_.back(), n_, n_)});
  }

  std::size_t n_;
  std::deque<std::vector<float>> kept_;
};

}  // namespace

TEST_CASE("habits_sentence: heads that do the same for any words") {
  CausalHeads heads(8);
  heads.add([](std::size_t query) { return query == 0 ? 0 : query - 1; });
  heads.add([](std::size_t) { return std::size_t{0}; });
  heads.add([](std::size_t query) { return query; });
  heads.add([](std::size_t query) { return query / 2; });
  heads.add_alike();
  const std::string sentence = habits_sentence(heads.document);
  CHECK(sentence.starts_with("L0H0 looks at the "));
  CHECK(sentence.ends_with(
      " (100 %); L0H1 at the first token (100 %); L0H2 at the token itself (100 %); L0H4 at all "
      "tokens equally"));
}

TEST_CASE("pattern_scores: masked weights count as 0, regardless of the file's values") {
  for (const Mask mask :
       {Mask{MaskKind::kCausal}, Mask{MaskKind::kWindow, 2}, Mask{MaskKind::kStrided, 3}}) {
    constexpr std::size_t kTokens = 8;
    std::vector<float> clean(kTokens * kTokens), odd(kTokens * kTokens, 0.5f);
    for (std::size_t query = 0; query < kTokens; ++query) {
      for (std::size_t key = 0; key < kTokens; ++key) {
        if (mask.visible(query, key)) {
          clean[query * kTokens + key] = odd[query * kTokens + key] = 0.25f;
        }
      }
    }
    AttentionDocument document;
    document.run.mask = mask;
    document.query_tokens = document.key_tokens = std::vector<std::string>(kTokens, "a");
    document.patterns.push_back({{0, 0}, test::matrix_over(clean, kTokens, kTokens)});
    const ScoredTokens tokens(kTokens, ScoredTokens::Options());
    const ScoreValues expected = pattern_scores(document, tokens).heads.front();
    document.patterns.front().weights = test::matrix_over(odd, kTokens, kTokens);
    const ScoreValues found = pattern_scores(document, tokens).heads.front();
    for (const auto& choice : kScoreNames) {
      CAPTURE(choice.word);
      CHECK(found[choice.value] == expected[choice.value]);
    }
    CHECK(found[Score::kJsUniform].value() < 1.0);
  }
}

TEST_CASE("habits_sentence: without a habit the clearest look is reported, if one is clear") {
  CausalHeads one(8);
  one.add([](std::size_t query) { return query / 2; });
  CHECK(habits_sentence(one.document) == R"(In L0H0 "t7" (7) looks at "t3" (3) with 100 %)");
  CausalHeads weak(8);
  weak.add_alike();
  weak.document.key_tokens.back() = "another";  // not one text
  CHECK(habits_sentence(weak.document).empty());
}

}  // namespace attnviz
