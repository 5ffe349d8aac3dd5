#include "attnviz/core/utf8.h"
#include "support/stopwatch.h"

#include <doctest/doctest.h>

#include <string>

namespace attnviz {

TEST_CASE("normal form C: letters and their marks are one character, marks in the usual order") {
  CHECK(normal_form_c("e\u0301") == "é");
  CHECK(normal_form_c("a\u0301\u0323") == "ạ\u0301");
  CHECK(normal_form_c("\u212B\u1100\u1161") == "Å가");
  CHECK(normal_form_c("\u0344a") == "\u0308\u0301a");
  CHECK(normal_form_c("É") == "É");
  CHECK(normal_form_c("E\u0301ß", LetterCase::kFolded) == "éss");
  CHECK(normal_form_c("e\u0301\xFF") == "e\u0301\xFF");
  CHECK(normal_form_c("").empty());
}

TEST_CASE("normal form C: half a million marks of mixed classes are ordered within seconds") {
  std::string mixed = "a";
  std::string ordered = "\u1EA1";  // with the first dot below
  for (int i = 0; i < 250'000; ++i) {
    mixed += "\u0304\u0323";
    ordered += i > 0 ? "\u0323" : "";
  }
  for (int i = 0; i < 250'000; ++i) {
    ordered += "\u0304";
  }
  const test::Stopwatch watch;
  CHECK((normal_form_c(mixed) == ordered));
  CHECK(watch.is_in_time());  // exchanging neighbours would take many minutes
}

}  // namespace attnviz
