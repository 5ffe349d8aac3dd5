#include "attnviz/analysis/token_roles.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace attnviz {
namespace {

TokenRoles of_one_text(const std::vector<std::string>& tokens, const TokenMarks& marks = {}) {
  return {tokens, tokens, marks};
}

}  // namespace

TEST_CASE("token roles: a pronoun at a content word") {
  const TokenRoles roles = of_one_text({"<s>", " Anna", " and", " the", " cat", " ,", " she"});
  CHECK(roles.evidence(6, 1, false) == Evidence::kPronoun);
  CHECK(roles.evidence(6, 4, false) == Evidence::kPronoun);
  for (const std::size_t other : {0u, 2u, 3u, 5u}) {
    CHECK(roles.evidence(6, other, false) == Evidence::kScore);
  }
  CHECK(roles.evidence(4, 1, false) == Evidence::kScore);
}

TEST_CASE("token roles: a repeated word looks at what followed its earlier occurrence") {
  const TokenRoles roles = of_one_text({"Tom", " met", " Anna", ".", " Tom", " met", " him", " and",
                                        " met", " the", " Tom", " him"});
  CHECK(roles.evidence(4, 1, false) == Evidence::kRepetition);  // with or without a leading space
  CHECK(roles.evidence(8, 2, false) == Evidence::kRepetition);
  CHECK(roles.evidence(10, 5, false) == Evidence::kRepetition);  // the last time, and the first
  CHECK(roles.evidence(10, 1, false) == Evidence::kRepetition);
  CHECK(roles.evidence(8, 6, false) == Evidence::kScore);  // "him" is not a content word
  CHECK(roles.evidence(4, 2, false) == Evidence::kScore);  // what came after that
  CHECK(roles.evidence(1, 5, false) == Evidence::kScore);  // not before
  CHECK(roles.evidence(11, 10, false) == Evidence::kPronoun);
}

TEST_CASE(
    "token roles: a pronoun that looks at what followed it continues, and refers to nothing") {
  const TokenRoles roles = of_one_text({" Tom", ":", " he", " saw", " and", " he"});
  CHECK(roles.evidence(5, 3, false) == Evidence::kScore);
  CHECK(roles.evidence(5, 0, false) == Evidence::kPronoun);
}

TEST_CASE("token roles: pieces of words are neither pronouns nor repetitions") {
  const TokenRoles exploit = of_one_text({" The", " exp", "lo", "it", " was", " it"});
  CHECK(exploit.evidence(3, 1, false) == Evidence::kScore);
  CHECK(exploit.evidence(5, 1, false) == Evidence::kPronoun);
  const TokenRoles heron = of_one_text({" Anna", " saw", " he", "ron"});
  CHECK(heron.evidence(2, 0, false) == Evidence::kScore);
  const TokenRoles word_piece = of_one_text({"anna", "saw", "he", "##ron", "he"});
  CHECK(word_piece.evidence(2, 0, false) == Evidence::kScore);
  CHECK(word_piece.evidence(4, 0, false) == Evidence::kPronoun);
  const TokenRoles ghost = of_one_text({" G", "h", "os", "t", " G", "h", "os", "t"});
  CHECK(ghost.evidence(5, 2, false) == Evidence::kScore);
  // A token that begins with an apostrophe, or follows one, does not continue the word.
  const TokenRoles verb = of_one_text({" Anna", ":", " it", "'s", " \"", "it"});
  CHECK(verb.evidence(2, 0, false) == Evidence::kPronoun);
  CHECK(verb.evidence(5, 0, false) == Evidence::kPronoun);
  // Without spaces every token may be a word.
  CHECK(of_one_text({"Anna", "and", "it"}).evidence(2, 0, false) == Evidence::kPronoun);
}

TEST_CASE("token roles: marked tokens give no evidence, regardless of their names") {
  const std::vector<std::string> tokens = {" start", " Anna", " it", " start", " Anna", " it"};
  CHECK(of_one_text(tokens).evidence(2, 0, false) == Evidence::kPronoun);
  CHECK(of_one_text(tokens).evidence(3, 1, false) == Evidence::kRepetition);
  TokenMarks special;
  special.special = {0, 3};
  CHECK(of_one_text(tokens, special).evidence(2, 0, false) == Evidence::kScore);
  CHECK(of_one_text(tokens, special).evidence(3, 1, false) == Evidence::kScore);
  TokenMarks added;
  added.added = {0};
  CHECK(of_one_text(tokens, added).evidence(2, 0, false) == Evidence::kScore);
}

TEST_CASE("token roles: with two texts nothing is repeated, and marks refer to the queries") {
  const std::vector<std::string> queries = {" Tom", " met", " Tom", " it"};
  const std::vector<std::string> keys = {" Tom", " met"};
  TokenMarks marks;
  marks.special = {1, 3};
  const TokenRoles roles(queries, keys, marks);
  CHECK(roles.evidence(2, 1, false) == Evidence::kScore);
  CHECK(roles.evidence(3, 1, false) == Evidence::kScore);  // marked
  marks.special = {1};
  CHECK(TokenRoles(queries, keys, marks).evidence(3, 1, false) == Evidence::kPronoun);
}

}  // namespace attnviz
