#include "attnviz/text/pronouns.h"

#include <doctest/doctest.h>

#include <string>

namespace attnviz {

TEST_CASE("pronouns: with the space before them, as a sentence begins, and with a verb") {
  for (const char* word : {"it", " it", " It", "IT", "it's", "It\u2019s"}) {
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

}  // namespace attnviz
