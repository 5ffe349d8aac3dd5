#include "attnviz/terminal/page/text_table.h"

#include <doctest/doctest.h>

#include <string>

namespace attnviz {
namespace {

TextTable two_columns() {
  TextTable table;
  table.corner.text = "key";
  table.labels = {{"cat", {}}, {"猫", {}}};
  table.columns = {{{"score", {}}, {{"1.5", {}}, {"-2.25", {}}}, true, false},
                   {{"bar", {}}, {{"###", {}}, {"", {}}}, false, false}};
  table.indent = 1;
  return table;
}

std::string drawn(const TextTable& table, std::size_t columns) {
  return to_ansi(draw_table(table, columns, Charset(TerminalStyle::kAscii)), ColorDepth::k16);
}

}  // namespace

TEST_CASE("a table has aligned columns, wide characters counted as two") {
  CHECK(drawn(two_columns(), 40) ==
        " key  score  bar\n"
        " cat    1.5  ###\n"
        " 猫   -2.25\n");
}

TEST_CASE("a table that is too wide continues below, with its labels and the same numbers") {
  CHECK(drawn(two_columns(), 14) ==
        " key  score\n"
        " cat    1.5\n"
        " 猫   -2.25\n"
        " key  bar\n"
        " cat  ###\n"
        " 猫\n");
}

TEST_CASE("columns that belong together are not separated by folding") {
  TextTable table = two_columns();
  table.columns.insert(table.columns.begin(), {{"a", {}}, {{"1", {}}, {"2", {}}}, true, false});
  table.columns[2].with_previous = true;
  CHECK(drawn(table, 16) ==
        " key  a\n"
        " cat  1\n"
        " 猫   2\n"
        " key  score  bar\n"
        " cat    1.5  ###\n"
        " 猫   -2.25\n");
}

TEST_CASE("labels take 20 columns of a narrow line, but no more than a quarter of one from 80 on") {
  TextTable table = two_columns();
  table.labels[0].text = "internationalisation, internationalised";
  CHECK(label_columns(table, 200) == 39);
  CHECK(label_columns(table, 100) == 25);
  CHECK(label_columns(table, 80) == 20);
  CHECK(label_columns(table, 60) == 20);
  CHECK(label_columns(table, 40) == 20);
  CHECK(label_columns(table, 32) == 12);
  CHECK(label_columns(table, 24) == 6);
  table.labels[0].text = "attention 0";
  CHECK(label_columns(table, 40) == 11);
}

TEST_CASE("words of a last text that is too wide continue below it, in its style") {
  TextTable table = two_columns();
  table.columns[1] = {
      {"a token sees", {}}, {{"all tokens", {}}, {"the last three only", kBold}}, false, false};
  const std::string numbers =
      " key  score\n"
      " cat    1.5\n"
      " 猫   -2.25\n"
      " key  a token sees\n"
      " cat  all tokens\n";
  CHECK(drawn(table, 20) == numbers +
                                " 猫   \x1b[1mthe last three\x1b[0m\n"
                                "      \x1b[1monly\x1b[0m\n");
  table.columns[1].cells[1].text = std::string(30, '#');  // a bar has no words
  CHECK(drawn(table, 20) == numbers + " 猫   \x1b[1m" + std::string(12, '#') + "..\x1b[0m\n");
  table.columns[1].cells[1].text = std::string(30, ' ');  // nor does a blank, whose row stays
  CHECK(drawn(table, 20).starts_with(numbers + " 猫 "));
}

TEST_CASE("cells that are too wide are cut at the end of the line, labels before it") {
  TextTable table = two_columns();
  table.labels[0].text = "internationalisation";
  table.columns.resize(1);
  table.columns[0].cells[0].text = std::string(40, '7');
  CHECK(drawn(table, 24).starts_with(" key"));
  for (const std::size_t columns : {20u, 24u, 30u}) {
    const std::string text = drawn(table, columns);
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = text.find('\n', begin);
      CHECK(end - begin <= columns + 1);  // 猫 has one byte more than columns
      begin = end + 1;
    }
  }
}

TEST_CASE("styles end with their cell") {
  TextTable table = two_columns();
  table.columns[0].cells[0].style.ink = PaletteColor{41, {205, 0, 0}};
  CHECK(drawn(table, 40) ==
        " key  score  bar\n"
        " cat    \x1b[31m1.5\x1b[0m  ###\n"
        " 猫   -2.25\n");
}

}  // namespace attnviz
