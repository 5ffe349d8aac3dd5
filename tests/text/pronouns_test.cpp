#include "attnviz/text/pronouns.h"

#include <doctest/doctest.h>

namespace attnviz {

TEST_CASE("pronouns: with the space before them, and as a sentence begins") {
  for (const char* piece : {"it", " it", " It", "She", "  they", "HER", " him", "them", "he"}) {
    CAPTURE(piece);
    CHECK(is_pronoun(piece));
  }
  for (const char* piece :
       {"", " ", "its", "i", "he's", "they ", "cat", "her\xff", "\xe5\xa5\xb9"}) {
    CAPTURE(piece);
    CHECK_FALSE(is_pronoun(piece));
  }
}

}  // namespace attnviz
