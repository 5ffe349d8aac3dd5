#include "attnviz/text/units.h"
#include "support/stopwatch.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <vector>

namespace attnviz {
namespace {

using Parts = std::vector<std::string>;

// A | marks each beginning of a line.
Parts cut(std::string_view text, std::size_t most_words = 0) {
  Parts parts;
  std::size_t end = 0;
  for (const Sentence& one : sentences(text, most_words)) {
    CHECK(one.begin >= end);
    CHECK(one.end > one.begin);
    CHECK(one.end <= text.size());
    end = one.end;
    parts.push_back((one.begins_line ? "|" : "") +
                    std::string(text.substr(one.begin, one.end - one.begin)));
  }
  return parts;
}

}  // namespace

TEST_CASE("sentences end at their marks, including the quotes and brackets after them") {
  CHECK(cut("One. Two!  Three?\nFour") == Parts{"|One.", "Two!", "Three?", "Four"});
  CHECK(cut("He said \"Go!\" And went. (She too.) “So?” Yes") ==
        Parts{"|He said \"Go!\"", "And went.", "(She too.)", "“So?”", "Yes"});
  CHECK(cut("What?! No... Well.") == Parts{"|What?!", "No...", "Well."});
  CHECK(cut("  No end\n") == Parts{"|No end"});
  CHECK(cut("*Bold.* Then") == Parts{"|*Bold.*", "Then"});
}

TEST_CASE("a full stop inside a number or a name, or before lower case, does not end a sentence") {
  CHECK(cut("It is 3.5 m, as in a.txt or e.g. here. Yes") ==
        Parts{"|It is 3.5 m, as in a.txt or e.g. here.", "Yes"});
  CHECK(cut("Really? yes") == Parts{"|Really?", "yes"});
  CHECK(cut("Dr. Who came.") == Parts{"|Dr.", "Who came."});  // abbreviations are not known
}

TEST_CASE("marks of other scripts; the wide ones need no space after them") {
  CHECK(cut("猫は寝た。犬も！「そう？」と。") ==
        Parts{"|猫は寝た。", "犬も！", "「そう？」", "と。"});
  CHECK(cut("यह है। वह है। هل؟ نعم") == Parts{"|यह है।", "वह है।", "هل؟", "نعم"});
  CHECK(cut("Fine 😀. 😀 Next") == Parts{"|Fine 😀.", "😀 Next"});
}

TEST_CASE("blank lines, headings, items of lists and rows of tables are separate") {
  CHECK(cut("# The title\nOne goes\non here. Two\n\nThree\n \nFour") ==
        Parts{"|# The title", "|One goes\non here.", "Two", "|Three", "|Four"});
  CHECK(cut("Before\n- an item. And more\n- another\n  that goes on\n1. first\n2) second") ==
        Parts{"|Before", "|- an item.", "And more", "|- another\n  that goes on", "|1. first",
              "|2) second"});
  CHECK(cut("| a | b |\n|---|---|\n| 1. | 2 |") ==
        Parts{"|| a | b |", "||---|---|", "|| 1. | 2 |"});
  CHECK(cut("## 1. Title\nText") == Parts{"|## 1. Title", "|Text"});
  CHECK(cut("#hashtag stays. - so\n-and this") == Parts{"|#hashtag stays.", "- so\n-and this"});
  CHECK(cut("Line\r\n\r\nOther.\r\n") == Parts{"|Line", "|Other."});
}

TEST_CASE("long sentences are cut after the given number of words") {
  CHECK(cut("a b  c d\ne. F g", 2) == Parts{"|a b", "c d", "e.", "F g"});
  CHECK(cut("a b c", 3) == Parts{"|a b c"});
}

TEST_CASE("empty texts, white space and bytes that are not text") {
  CHECK(cut("").empty());
  CHECK(cut(" \n\t \n").empty());
  CHECK(cut(".") == Parts{"|."});
  CHECK(cut("\xff. \xfe!\xc3") == Parts{"|\xff.", "\xfe!\xc3"});
  CHECK(cut("\xe3\x80") == Parts{"|\xe3\x80"});
  CHECK(cut("a\xc2\xa0") == Parts{"|a"});
}

TEST_CASE("a very long run of marks is read once") {
  CHECK(cut(std::string(1 << 20, '.') + " a").size() == 1);
}

TEST_CASE("very long white space is read once, between words and between lines") {
  constexpr std::size_t kMany = 1'000'000;
  const test::Stopwatch watch;
  CHECK(cut("The cat" + std::string(kMany, ' ') + "sat. On it.").size() == 2);
  CHECK(cut("The cat sat." + std::string(kMany, '\n') + "On it.").size() == 2);
  CHECK(watch.is_in_time());
}

TEST_CASE("tokens have the number of their sentence; white space before it belongs to it") {
  TokenizedText text;
  text.source = "  One. \n Two.";
  const auto add = [&text](std::size_t begin, std::size_t end) {
    Token token;
    token.begin = begin;
    token.end = end;
    text.tokens.push_back(token);
  };
  add(0, 0);  // of the tokenizer's
  add(0, 1);
  add(1, 5);  // " One"
  add(5, 6);
  add(6, 8);   // " \n", which leads to the next one
  add(8, 12);  // " Two"
  add(12, 13);
  add(13, 13);
  CHECK(sentence_numbers(text) == std::vector<std::size_t>{0, 0, 0, 0, 1, 1, 1, 1});
}

TEST_CASE("lines are counted from 1, and so are the characters of each") {
  const std::string text = "a\n犬b\n\nc";
  TextPlace position(text);
  const auto check = [&position](std::size_t byte, std::size_t line, std::size_t column) {
    position.move_to(byte);
    CAPTURE(byte);
    CHECK(position.line() == line);
    CHECK(position.column() == column);
  };
  check(0, 1, 1);
  check(2, 2, 1);
  check(5, 2, 2);
  check(8, 4, 1);
  check(9, 4, 2);
}

}  // namespace attnviz
