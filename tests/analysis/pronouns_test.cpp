#include "attnviz/analysis/pronouns.h"

#include <doctest/doctest.h>

#include <string>

namespace attnviz {

TEST_CASE("pronouns: with the space before them, as a sentence begins, and with a verb") {
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

TEST_CASE("pronouns: a content word has a letter and is no function word") {
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

TEST_CASE("pronouns: the spaces before a token, as they are and as tokenizers sign them") {
  CHECK(without_spaces_before("  cat ") == "cat ");
  CHECK(without_spaces_before("\u2581\u2581cat") == "cat");
  CHECK(without_spaces_before("\u0120cat") == "cat");
  CHECK(without_spaces_before("cat") == "cat");
  CHECK(without_spaces_before("  ") == " ");
  CHECK(without_spaces_before("\u0120") == "\u0120");
  CHECK(without_spaces_before("") == "");
}

}  // namespace attnviz
