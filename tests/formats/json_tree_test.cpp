#include "attnviz/formats/json_tree.h"

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <map>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "attnviz/core/error.h"
#include "support/json.h"

namespace attnviz {
namespace {

template <class Act>
std::string message_of(std::string_view json, Act act) {
  try {
    const JsonTree tree = JsonTree::parse(json, "t.json");
    act(tree.root());
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::kMalformed);
    return error.what();
  }
  return "";
}

std::string message_of(std::string_view json) {
  return message_of(json, [](const JsonNode&) {});
}

}  // namespace

TEST_CASE("JsonTree: reads every kind of value") {
  const JsonTree tree = JsonTree::parse(
      R"({"a": null, "b": true, "c": 18446744073709551615, "d": "caf\u00e9", "e": [1, -2.5],
          "f": [[1, 2, 3], [4, 5, 6]], "g": [], "h": {}, "i": ["x", "y"], "j": [[[1]], [[2]]]})",
      "t.json");
  const JsonNode root = tree.root();
  CHECK(root.at("a").kind() == JsonKind::kNull);
  CHECK(root.at("b").as_bool());
  CHECK(root.at("c").as_unsigned() == 18446744073709551615u);
  CHECK(root.at("d").as_string() == "café");
  const auto numbers = root.at("e").as_numbers();
  REQUIRE(numbers.size() == 2);
  CHECK(numbers[1] == -2.5f);
  const ConstMatrix matrix = root.at("f").as_matrix();
  REQUIRE(matrix.rows == 2);
  REQUIRE(matrix.cols == 3);
  CHECK(matrix(1, 0) == 4.0f);
  CHECK(root.at("g").as_list("a list").empty());
  CHECK(root.at("g").as_numbers().empty());
  CHECK(root.at("h").as_object().empty());
  CHECK(root.at("i").as_list("a list")[1].as_string() == "y");
  CHECK(root.at("j").as_list("a list")[1].as_matrix()(0, 0) == 2.0f);
  CHECK_FALSE(root.find("k"));
  CHECK(root.as_object()[3].key() == "d");
}

TEST_CASE("JsonTree: a byte order mark and white space around the document are skipped") {
  CHECK(JsonTree::parse("\xEF\xBB\xBF \r\n {\"a\": 1}\t\n", "t").root().at("a").as_unsigned() == 1);
}

TEST_CASE("JsonTree: numbers outlive the tree when their owner is kept") {
  std::shared_ptr<const void> owner;
  ConstMatrix matrix;
  {
    const JsonTree tree = JsonTree::parse("[[1, 2], [3, 4]]", "t");
    owner = tree.numbers();
    matrix = tree.root().as_matrix();
  }
  CHECK(matrix(1, 1) == 4.0f);
}

TEST_CASE("JsonTree: lists of numbers that follow one another lie back to back") {
  const JsonTree tree = JsonTree::parse(R"({"a": [1, 2], "b": [3, 4], "c": [5, 6]})", "t");
  const float* first = tree.root().at("a").as_numbers().data();
  CHECK(tree.root().at("b").as_numbers().data() == first + 2);
  CHECK(tree.root().at("c").as_numbers().data() == first + 4);
}

TEST_CASE("JsonTree: decimals become the nearest float, without double rounding") {
  // Just above halfway between 1 and the next float; as a double it is exactly halfway.
  const auto read = [](const std::string& number) {
    return JsonTree::parse("[" + number + "]", "t").root().as_numbers()[0];
  };
  CHECK(read("1.00000005960464477540") == std::nextafter(1.0f, 2.0f));
  CHECK(read("16777217") == 16777216.0f);
  CHECK(read("123456789012345678901234567890") == 123456789012345678901234567890.0f);
  CHECK(std::signbit(read("-0.0")));
  CHECK(std::signbit(read("-0")));
  CHECK_FALSE(std::signbit(read("0")));
  CHECK(read("1e-60") == 0.0f);
  std::mt19937 random(3);
  for (int i = 0; i < 5000; ++i) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (std::isfinite(value)) {
      CHECK(std::bit_cast<std::uint32_t>(read(fmt::format("{:.9e}", value))) ==
            std::bit_cast<std::uint32_t>(value));
    }
  }
}

TEST_CASE("JsonTree: a decimal whose double is halfway between two floats goes to the nearer one") {
  // The nearest doubles are exactly halfway, and ties would go to the other float. Computed with
  // exact fractions.
  const auto tree = JsonTree::parse(
      "[0.5202760994434357, 4.850975275039673, 0.1533474698662758, 6.266651868820190]", "t");
  const auto numbers = tree.root().as_numbers();
  REQUIRE(numbers.size() == 4);
  CHECK(numbers[0] == 0x1.0a61a2p-1f);
  CHECK(numbers[1] == 0x1.367662p+2f);
  CHECK(numbers[2] == 0x1.3a0e3ep-3f);
  CHECK(numbers[3] == 0x1.9110d2p+2f);
}

TEST_CASE("JsonTree: numbers of any length, point and exponent agree with the C library") {
  std::mt19937 random(5);
  const auto digits = [&](std::size_t most) {
    std::string text(random() % (most + 1), '0');
    for (char& c : text) {
      c = static_cast<char>('0' + random() % 10);
    }
    return text;
  };
  std::string json = "[";
  std::vector<float> expected;
  while (expected.size() < 20'000) {
    std::string number = random() % 2 == 0 ? "-" : "";
    number += std::to_string(1 + random() % 9) + digits(random() % 8 == 0 ? 30 : 8);
    if (random() % 2 == 0) {
      number += '.' + std::to_string(random() % 10) + digits(random() % 8 == 0 ? 30 : 12);
    }
    if (random() % 3 == 0) {
      constexpr std::array<std::string_view, 6> kExponents = {"e", "E", "e+", "E+", "e-", "E-"};
      number += std::string(kExponents[random() % 6]) + digits(1) + std::to_string(random() % 10);
    }
    const float value = std::strtof(number.c_str(), nullptr);
    if (std::isfinite(value)) {
      constexpr std::array<std::string_view, 4> kSpaces = {"", " ", "\n", "\r\n\t "};
      json += expected.empty() ? "" : ",";
      json += std::string(kSpaces[random() % 4]) + number + std::string(kSpaces[random() % 4]);
      expected.push_back(value);
    }
  }
  json += "]";
  const auto tree = JsonTree::parse(json, "t");
  const auto numbers = tree.root().as_numbers();
  REQUIRE(numbers.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    REQUIRE(std::bit_cast<std::uint32_t>(numbers[i]) == std::bit_cast<std::uint32_t>(expected[i]));
  }
}

TEST_CASE("JsonTree: accepts the lists that the JSON library accepts, and no others") {
  using FloatJson = nlohmann::basic_json<std::map, std::vector, std::string, bool, std::int64_t,
                                         std::uint64_t, float>;
  std::mt19937 random(6);
  constexpr std::string_view kPieces[] = {"[", "]", "[",   "]",    ",", ", ",   "1",
                                          "0", "-", "2.5", "7",    ".", "e",    "+",
                                          "3", " ", "\n",  "true", "x", "1e-60"};
  std::size_t taken = 0;
  for (int i = 0; i < 200'000; ++i) {
    std::string json = "[1, -2.5e3";
    for (std::size_t pieces = random() % 8; pieces > 0; --pieces) {
      json += kPieces[random() % std::size(kPieces)];
    }
    json += "]";
    const bool is_json = FloatJson::accept(json);
    taken += is_json ? 1 : 0;
    CAPTURE(json);
    REQUIRE(message_of(json).empty() == is_json);
  }
  CHECK(taken > 1000);
}

TEST_CASE("JsonTree: an error after many numbers is reported with its position") {
  std::string rows = "{\"a\": [";
  for (int i = 0; i < 100; ++i) {
    rows += "[1.5, -2, 3e0],\n";
  }
  CHECK(message_of(rows + "[1, 2, ]]}") ==
        "t.json: line 101, column 8: expected a value, found ] (in a[100])");
  CHECK(message_of(rows + "[1, 2, 03]]}") ==
        "t.json: line 101, column 8: expected a value, found 03 (in a[100])");
  CHECK(message_of(rows + "[1, 2 3]]}") ==
        "t.json: line 101, column 7: expected a comma or ], found 3 (in a[100])");
  CHECK(message_of(rows + "[1, 2, 1e99]]}") ==
        "t.json: line 101, column 8: expected a number that fits a 32-bit float (up to 3.4e38), "
        "found 1e99 (in a[100])");
  CHECK(message_of(rows + "[1, 2") ==
        "t.json: line 101, column 6: the file ends too early: expected a comma or ] (in a[100])");
  CHECK(message_of(rows + "[1, 2]\"]}") ==
        "t.json: line 101, column 7: expected a comma or ], found \"]} (in a)");
}

TEST_CASE("JsonTree: reports the pieces it has read, and reads them again for a message") {
  std::string json = "[";
  for (int i = 0; i < 100'000; ++i) {
    json += "[0.125, 0.25, 0.5, 1.0],\n";
  }
  std::vector<std::string_view> forgotten;
  const auto forget = [&](std::string_view bytes) { forgotten.push_back(bytes); };
  JsonTree::parse(json + "[1, 2, 3, 4]]", "t", forget);
  std::size_t bytes = 0;
  for (const std::string_view piece : forgotten) {
    CHECK(piece.size() >= 1'000'000);
    CHECK(piece.size() < 2'000'000);
    bytes += piece.size();
  }
  CHECK(bytes > 2 * json.size() - 4'000'000);  // it is read twice
  CHECK(bytes <= 2 * json.size() + 100);
}

TEST_CASE("JsonTree: a node knows its path") {
  const JsonTree tree = JsonTree::parse(
      R"({"layers": [{"heads": [{"W_Q": [[1]]}, {"W_Q": [[2]]}]}], "two words": {"": [true]}})",
      "t");
  const JsonNode layer = tree.root().at("layers").as_list("")[0];
  CHECK(layer.at("heads").as_list("")[1].at("W_Q").path() == "layers[0].heads[1].W_Q");
  CHECK(tree.root().at("two words").at("").as_list("")[0].path() == "[\"two words\"][\"\"][0]");
  CHECK(tree.root().path().empty());
}

TEST_CASE("JsonTree: a wrong type is refused with the path, the expected and the found type") {
  const auto at_a = [](auto use) { return [use](const JsonNode& root) { use(root.at("a")); }; };
  CHECK(message_of(R"({"a": 1})", at_a([](const JsonNode& a) { a.as_string(); })) ==
        "t.json: a: expected a string, found a number");
  CHECK(message_of(R"({"a": false})", at_a([](const JsonNode& a) { a.as_unsigned(); })) ==
        "t.json: a: expected a whole number, found false");
  CHECK(message_of(R"({"a": [1]})", at_a([](const JsonNode& a) { a.as_matrix(); })) ==
        "t.json: a: expected a matrix of numbers, found a list of numbers");
  CHECK(message_of(R"({"a": ["x"]})", at_a([](const JsonNode& a) { a.as_numbers(); })) ==
        "t.json: a: expected a list of numbers, found a list");
  CHECK(message_of(R"({"a": {}})", at_a([](const JsonNode& a) { a.as_list("a list of heads"); })) ==
        "t.json: a: expected a list of heads, found an object");
  CHECK(message_of("[]", [](const JsonNode& root) { root.find("a"); }) ==
        "t.json: expected an object, found an empty list");
}

TEST_CASE("JsonTree: a ragged or mixed list is an error only where it is read as numbers") {
  const auto use = [](const JsonNode& root) { root.at("a").as_matrix(); };
  CHECK(message_of(R"({"a": [[1, 2], [3]], "b": 1})").empty());
  CHECK(message_of(R"({"a": [[1, 2], [3]]})", use) ==
        "t.json: a: expected 2 columns, found 1 (row 1)");
  CHECK(message_of(R"({"a": [1, {"b": [[["deep"]]]}, 3]})", use) ==
        "t.json: a: expected a number, found an object (item 1)");
  CHECK(message_of(R"({"a": [[1], [[2]]]})", use) ==
        "t.json: a: expected a row of 1 number, found a matrix of numbers (row 1)");
  CHECK(message_of(R"({"a": [[1], [2, "x", 3], [4]], "c": "after"})",
                   [](const JsonNode& root) { CHECK(root.at("c").as_string() == "after"); }) == "");
}

TEST_CASE("JsonTree: lists of numbers of any lengths, unless they contain something else") {
  const JsonTree tree = JsonTree::parse(
      R"({"even": [[1, 2], [3, 4]], "ragged": [[1, 2], [3], [], [4, 5, 6]], "none": [],
          "text": [[1], [2, 3], "x", [4]], "deep": [[1], [2, 3], [[4]]], "flat": [1, 2],
          "inside": [[1, 2], [3, "x"], [4, 5]], "last": [[7], [8, 9]]})",
      "a.json");
  const auto lists = [&tree](std::string_view key) {
    std::vector<std::vector<float>> all;
    for (const std::span<const float> list : tree.root().at(key).as_number_lists()) {
      all.emplace_back(list.begin(), list.end());
    }
    return all;
  };
  using Lists = std::vector<std::vector<float>>;
  CHECK(lists("even") == Lists{{1, 2}, {3, 4}});
  CHECK(lists("ragged") == Lists{{1, 2}, {3}, {}, {4, 5, 6}});
  CHECK(lists("last") == Lists{{7}, {8, 9}});
  CHECK(lists("none").empty());
  for (const char* key : {"text", "deep", "flat", "inside"}) {
    CAPTURE(key);
    CHECK_THROWS_AS(lists(key), Error);
  }
  CHECK_THROWS_WITH_AS(lists("inside"),
                       "a.json: inside: expected a list of lists of numbers, found a list", Error);
}

TEST_CASE("JsonTree: unknown keys are refused with the closest known one") {
  const std::array<std::string, 2> known = {"heads", "W_O"};
  const auto check = [&](const JsonNode& root) { root.expect_keys(known); };
  CHECK(message_of(R"({"W_O": 1, "heads": 2})", check).empty());
  CHECK(message_of(R"({"head": 1})", check) ==
        "t.json: unknown key \"head\" (did you mean \"heads\"?)");
}

TEST_CASE("JsonTree: 64 levels of brackets are read, 65 are not") {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  CHECK(message_of(nested(64)).empty());
  CHECK(message_of(nested(65)) ==
        "t.json: [0]: expected at most 64 levels of brackets, found more");
}

TEST_CASE("JsonTree: columns count characters, lines count line feeds") {
  CHECK(message_of("{\"猫\": 1,\r\n \"é\": x}") ==
        "t.json: line 2, column 7: expected a value, found x");
}

TEST_CASE("JsonTree: a file with very many small values is refused before it fills the memory") {
  for (const std::string_view item : {",0", ",{}"}) {
    std::string json = "{\"a\": [{}";
    for (int i = 0; i < 5'000'000; ++i) {
      json += item;
    }
    CHECK(message_of(json) ==
          "t.json: a: expected at most 4194304 values besides rows of numbers, found more");
  }
}

TEST_CASE("JsonTree: a long offending word or key is cut in the message") {
  const std::string word(100'000, 'x');
  const std::string key = '"' + word + "\": 1";
  CHECK(message_of("[" + word + "]").size() < 100);
  CHECK(message_of("{" + key + ", " + key + "}").size() < 100);
  CHECK(message_of("{" + key + "}", [](const JsonNode& root) { root.expect_keys({}); }).size() <
        100);
  CHECK(message_of("{" + key + "}", [](const JsonNode& root) {
          root.as_object().front().as_string();
        }).size() < 130);
}

TEST_CASE("JsonTree: a path through many long keys is cut in the message") {
  std::string json;
  for (int depth = 0; depth < 50; ++depth) {
    json += "{\"" + std::string(50, '$') + "\": ";
  }
  const std::string message = message_of(json + "?");
  CHECK(message.find("(in [\"$$") != std::string::npos);
  CHECK(message.size() < 600);
}

}  // namespace attnviz
