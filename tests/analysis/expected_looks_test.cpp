#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "attnviz/analysis/informative_heads.h"
#include "support/naive.h"

namespace attnviz {

namespace {

using Looks = std::vector<ExpectedLook>;

// Two heads over four tokens: the first looks one back, the second at the first token.
PatternStore two_heads() {
  PatternStore store({{0, 0}, {1, 2}}, 4);
  const std::vector<float> back = {1.0f, 0.0f, 0.0f, 0.0f, 0.75f, 0.25f, 0.0f, 0.0f,
                                   0.0f, 0.5f, 0.5f, 0.0f, 0.0f,  0.25f, 0.5f, 0.25f};
  const std::vector<float> first = {1.0f, 0.0f, 0.0f, 0.0f, 1.0f, 0.0f,  0.0f,   0.0f,
                                    1.0f, 0.0f, 0.0f, 0.0f, 0.5f, 0.25f, 0.125f, 0.125f};
  store.rows({0, 0}, 0, 0, test::matrix_over(back, 4, 4));
  store.rows({1, 2}, 0, 0, test::matrix_over(first, 4, 4));
  return store;
}

}  // namespace

TEST_CASE("previous looks: every token but the first looks at the one before") {
  CHECK(previous_looks(0).empty());
  CHECK(previous_looks(1).empty());
  CHECK(previous_looks(3) == Looks{{1, 0}, {2, 1}});
}

TEST_CASE("induction looks: every token looks at what followed its last occurrence") {
  const std::vector<TokenId> new_ones = {1, 2, 3};
  CHECK(induction_looks(new_ones).empty());
  const std::vector<TokenId> twice = {7, 1, 2, 3, 1, 2};
  CHECK(induction_looks(twice) == Looks{{4, 2}, {5, 3}});
  const std::vector<TokenId> three_times = {1, 9, 1, 8, 1};
  CHECK(induction_looks(three_times) == Looks{{2, 1}, {4, 3}});
  const std::vector<TokenId> same = {4, 4};  // what followed is the token itself
  CHECK(induction_looks(same) == Looks{{1, 1}});
}

TEST_CASE("look scores: means of the expected weights, computed by hand") {
  LookScores scores({{0, 0}, {1, 2}});
  scores.add(two_heads(), previous_looks(4));
  const LookScore back = scores.score({0, 0});
  CHECK(back.weight == doctest::Approx((0.75 + 0.5 + 0.5) / 3.0));
  CHECK(back.rival == 0.0);
  CHECK(back.n_looks == 3);
  const LookScore first = scores.score({1, 2});
  CHECK(first.weight == doctest::Approx((1.0 + 0.0 + 0.125) / 3.0));
  CHECK(first.n_won == 1);
  CHECK(scores.best().head == HeadId{0, 0});
}

TEST_CASE("look scores: a rival counts against the head, and the higher score wins") {
  LookScores scores({{0, 0}, {1, 2}});
  // Both put all their weight on the first key; from token 3 on the first head looks at 2, not at
  // 0.
  scores.add(two_heads(), Looks{{1, 0, 1}, {3, 0, 2}});
  const LookScore back = scores.score({0, 0});
  CHECK(back.weight == doctest::Approx(0.75 / 2.0));
  CHECK(back.rival == doctest::Approx((0.25 + 0.5) / 2.0));
  CHECK(back.n_won == 1);
  const LookScore best = scores.best();
  CHECK(best.head == HeadId{1, 2});
  CHECK(best.weight == doctest::Approx(0.75));
  CHECK(best.n_won == 2);
}

TEST_CASE(
    "look scores: texts are weighted by their number of looks, and without looks scores are 0") {
  LookScores scores({{0, 0}, {1, 2}});
  CHECK(scores.best().head == HeadId{0, 0});
  CHECK(scores.best().weight == 0.0);
  scores.add(two_heads(), Looks{{1, 0}});
  scores.add(two_heads(), Looks{{2, 0}, {3, 0}});
  CHECK(scores.score({0, 0}).weight == doctest::Approx(0.75 / 3.0));
  CHECK(scores.score({1, 2}).weight == doctest::Approx(2.5 / 3.0));
  CHECK(scores.score({1, 2}).n_looks == 3);
}

TEST_CASE("look scores: among equal heads the first is the best") {
  LookScores scores({{0, 0}, {1, 2}});
  scores.add(two_heads(), Looks{{0, 0}});
  CHECK(scores.best().head == HeadId{0, 0});
}

TEST_CASE("pronouns: with a leading space, at the start of a sentence, and joined to a verb") {
  for (const char* word : {"it", " it", " It", "IT", "it's", "It\u2019s", "\u2581it", "\u0120It",
                           "it,", "\"It", "\u201cit\u201d"}) {
    CAPTURE(std::string(word));
    CHECK(pronoun_of(word) == "it");
  }
  CHECK(pronoun_of("  They") == "they");
  CHECK(pronoun_of("HER") == "her");
  CHECK(pronoun_of("She'll") == "she");
  for (const char* word :
       {"", " ", "its", "i", "'s", "they ", "cat", "them\xff", "\xe5\xa5\xb9", "itititititit"}) {
    CAPTURE(std::string(word));
    CHECK(pronoun_of(word).empty());
  }
}

TEST_CASE("pronouns: a content word has a letter and is not a function word") {
  for (const char* word : {"cat", " Anna", "\u0120Tom", "Hello", "Anna's", " one", "dog,",
                           "\"Tom\"", "\u732b", "\u010aensu"}) {
    CAPTURE(std::string(word));
    CHECK(is_content_word(word));
  }
  for (const char* word :
       {"",          " ",      ".",      " 12",     "'s",           " and",    "The",
        "\u2581was", " a",     "your",   " cannot", "because",      " She",    "it's",
        " didn't",   "itself", "the,",   "\"the",   " these",       "<|bos|>", "<0x8C>",
        "<8C>",      "[SEP]",  "\u0120", "\u010a",  "\u010a\u010a", "\u2581",  "can\u2019t",
        " cat\xff"}) {
    CAPTURE(std::string(word));
    CHECK_FALSE(is_content_word(word));
  }
}

TEST_CASE("pronouns: the spaces before a token, as spaces and as the marks of tokenizers") {
  CHECK(without_spaces_before("  cat ") == "cat ");
  CHECK(without_spaces_before("\u2581\u2581cat") == "cat");
  CHECK(without_spaces_before("\u0120cat") == "cat");
  CHECK(without_spaces_before("cat") == "cat");
  CHECK(without_spaces_before("  ") == " ");
  CHECK(without_spaces_before("\u0120") == "\u0120");
  CHECK(without_spaces_before("") == "");
}

}  // namespace attnviz
