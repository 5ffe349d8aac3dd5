#include "attnviz/formats/json_writer.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "attnviz/formats/json_reader.h"
#include "support/json.h"

namespace attnviz {
namespace {

template <class Write>
std::string written(Write write, std::size_t indent = 0) {
  std::string text;
  JsonWriter json([&](std::string_view bytes) { text += bytes; }, indent);
  write(json);
  json.finish();
  return text;
}

std::string written_string(std::string_view value) {
  return written([&](JsonWriter& json) { json.value(value); });
}

std::string written_number(float value) {
  return written([&](JsonWriter& json) { json.value(value); });
}

void write_sample(JsonWriter& json) {
  const std::vector<float> numbers = {1.0f, 0.5f, 0.25f, 0.125f};
  json.begin_object();
  json.key("name");
  json.value("cat");
  json.key("tokens");
  json.begin_array();
  json.value("a");
  json.value("b");
  json.end_array();
  json.key("rows");
  json.value(ConstMatrix{numbers.data(), 2, 2, 2});
  json.key("none");
  json.begin_array();
  json.end_array();
  json.key("list");
  json.begin_array();
  json.begin_object();
  json.end_object();
  json.begin_object();
  json.key("n");
  json.value(std::uint64_t{7});
  json.key("on");
  json.value(true);
  json.key("off");
  json.null();
  json.end_object();
  json.end_array();
  json.end_object();
}

}  // namespace

TEST_CASE("JsonWriter: places commas and colons, on one line without an indent") {
  CHECK(written(write_sample) ==
        "{\"name\": \"cat\", \"tokens\": [\"a\", \"b\"], \"rows\": [[1.0, 0.5], [0.25, 0.125]], "
        "\"none\": [], \"list\": [{}, {\"n\": 7, \"on\": true, \"off\": null}]}\n");
}

TEST_CASE("JsonWriter: an indent gives every member and every matrix row a line") {
  CHECK(written(write_sample, 2) == R"({
  "name": "cat",
  "tokens": ["a", "b"],
  "rows": [
    [1.0, 0.5],
    [0.25, 0.125]
  ],
  "none": [],
  "list": [
    {},
    {
      "n": 7,
      "on": true,
      "off": null
    }
  ]
}
)");
}

TEST_CASE("JsonWriter: numbers are the shortest decimals that read back") {
  CHECK(written_number(0.1f) == "0.1\n");
  CHECK(written_number(1.0f / 3.0f) == "0.33333334\n");
  CHECK(written_number(16777216.0f) == "16777216.0\n");
  CHECK(written_number(1e20f) == "1e+20\n");
  CHECK(written_number(std::numeric_limits<float>::denorm_min()) == "1e-45\n");
  CHECK(written_number(std::numeric_limits<float>::max()) == "3.4028235e+38\n");
}

TEST_CASE("JsonWriter: whole floats keep a point, and zero its sign") {
  CHECK(written_number(1.0f) == "1.0\n");
  CHECK(written_number(0.0f) == "0.0\n");
  CHECK(written_number(-0.0f) == "-0.0\n");
}

TEST_CASE("JsonWriter: NaN and infinities are null, which every reader accepts") {
  CHECK(written_number(std::nanf("")) == "null\n");
  CHECK(written_number(std::numeric_limits<float>::infinity()) == "null\n");
  CHECK(written_number(-std::numeric_limits<float>::infinity()) == "null\n");
}

TEST_CASE("JsonWriter: any finite bit pattern reads back to the same bits") {
  std::mt19937 random(1);
  for (int i = 0; i < 100'000; ++i) {
    const auto bits = static_cast<std::uint32_t>(random());
    const auto value = std::bit_cast<float>(bits);
    if (std::isfinite(value)) {
      const std::string text = written_number(value);
      REQUIRE(std::bit_cast<std::uint32_t>(std::strtof(text.c_str(), nullptr)) == bits);
    }
  }
}

TEST_CASE("JsonWriter: floats of every size have the digits and the form of the standard library") {
  const auto check = [](std::uint32_t bits) {
    const auto value = std::bit_cast<float>(bits);
    std::array<char, 32> text{};
    char* const end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
    std::string expected(text.data(), end);
    if (expected.find_first_of(".e") == std::string::npos) {
      expected += ".0";
    }
    REQUIRE(written_number(value) == expected + "\n");
  };
  std::mt19937 random(4);
  for (std::uint32_t exponent = 0; exponent < 255; ++exponent) {
    // The ends of a binade, where the distance to the next float changes, and floats inside it.
    for (const std::uint32_t mantissa : {0u, 1u, 2u, 0x3FFFFFu, 0x400000u, 0x7FFFFEu, 0x7FFFFFu}) {
      check(exponent << 23 | mantissa);
      check(1u << 31 | exponent << 23 | mantissa);
    }
    for (int i = 0; i < 500; ++i) {
      check(exponent << 23 | static_cast<std::uint32_t>(random()) >> 9);
    }
  }
  // Few digits, close to the midpoint between neighbouring floats.
  for (std::uint32_t i = 1; i < 100'000; ++i) {
    check(std::bit_cast<std::uint32_t>(static_cast<float>(i) / 100'000.0f));
  }
}

TEST_CASE("JsonWriter: a seed of 64 bits is written whole") {
  CHECK(written([](JsonWriter& json) { json.value(std::uint64_t{18446744073709551615u}); }) ==
        "18446744073709551615\n");
}

TEST_CASE("JsonWriter: strings escape what JSON forbids and what a terminal could interpret") {
  CHECK(written_string("say \"hi\" \\ /") == "\"say \\\"hi\\\" \\\\ /\"\n");
  CHECK(written_string("a\tb\nc\rd") == "\"a\\tb\\nc\\rd\"\n");
  CHECK(written_string("\x1B[31m") == "\"\\u001B[31m\"\n");
  CHECK(written_string(std::string_view("\0", 1)) == "\"\\u0000\"\n");
  CHECK(written_string("\x7F") == "\"\\u007F\"\n");
  CHECK(written_string("\xC2\x9B") == "\"\\u009B\"\n");      // CSI as one C1 control
  CHECK(written_string("\xE2\x80\xA8") == "\"\\u2028\"\n");  // line separator
  CHECK(written_string("\xE2\x80\xAE") == "\"\\u202E\"\n");  // right-to-left override
  CHECK(written_string("\xE2\x81\xA6") == "\"\\u2066\"\n");  // left-to-right isolate
}

TEST_CASE("JsonWriter: other text is unchanged, including emoji and CJK") {
  CHECK(written_string("naïve 猫 🐈‍⬛") == "\"naïve 猫 🐈‍⬛\"\n");
}

TEST_CASE("JsonWriter: invalid UTF-8 bytes become visible text") {
  CHECK(written_string("a\xFF\xC3z") == "\"a<FF C3>z\"\n");
  CHECK(test::parse_json(written_string("a\xFF")) == "a<FF>");
}

TEST_CASE("JsonWriter: every byte string becomes a document that a JSON library can read") {
  std::mt19937 random(2);
  for (int i = 0; i < 2000; ++i) {
    std::string text(random() % 12, '\0');
    for (char& c : text) {
      c = static_cast<char>(random());
    }
    CHECK(nlohmann::json::accept(written_string(text)));
  }
}

TEST_CASE("JsonWriter: lists, optional values and objects of a list take one call each") {
  const std::vector<std::string> words = {"a", "b"};
  const std::vector<std::vector<std::size_t>> nested = {{1, 2}, {}};
  const std::vector<std::uint32_t> ids = {7, 8};
  CHECK(written([&](JsonWriter& json) {
          json.begin_object();
          json.member("words", words);
          json.member("nested", nested);
          json.member("floats", std::vector<float>{0.5f});
          json.member("known", std::optional<std::size_t>(3));
          json.member("unknown", std::optional<std::string>());
          json.member_if_any("left out", std::string());
          json.member_if_any("left out", std::size_t{0});
          json.member_if_any("left out", std::optional<bool>());
          json.member_if_any("left out", ConstMatrix{});
          json.member_if_any("there", std::optional(false));
          json.objects("objects", ids, [&](std::uint32_t id) { json.member("id", id); });
          json.end_object();
        }) ==
        "{\"words\": [\"a\", \"b\"], \"nested\": [[1, 2], []], \"floats\": [0.5], "
        "\"known\": 3, \"unknown\": null, \"there\": false, "
        "\"objects\": [{\"id\": 7}, {\"id\": 8}]}\n");
}

TEST_CASE("JsonWriter: rows formatted separately equal those that it writes itself") {
  // Less than a piece, a whole one and more; with every case that put_number distinguishes.
  std::mt19937 random(3);
  std::vector<float> numbers(2 * 5000);
  for (float& number : numbers) {
    number = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
  }
  numbers[1] = 0.0f;
  numbers[2] = -0.0f;
  numbers[3] = 12.0f;
  numbers[4] = -1.0f;
  for (const std::size_t indent : {0U, 2U}) {
    for (const std::size_t columns : {0U, 1U, 7U, 2048U, 2049U, 5000U}) {
      const std::span<const float> row(numbers.data(), columns);
      std::string ready;
      append_json_values(ready, row);
      std::string expected = "[";
      for (std::size_t i = 0; i < columns; ++i) {
        expected += (i == 0 ? "" : ", ") + written_number(row[i]);
        expected.pop_back();
      }
      expected += ']';
      CHECK(ready == expected);
      const auto both = [&](auto write_row) {
        return written(
            [&](JsonWriter& json) {
              json.begin_array();
              write_row(json);
              json.value(row);
              write_row(json);
              json.end_array();
            },
            indent);
      };
      CHECK(both([&](JsonWriter& json) { json.raw_items(ready); }) ==
            both([&](JsonWriter& json) { json.value(row); }));
    }
  }
}

TEST_CASE("JsonWriter: several rows formatted at once become one matrix in an array") {
  const std::vector<float> numbers = {1.0f, 0.5f, 0.25f, 0.125f, 0.0f, 2.0f};
  const ConstMatrix rows{numbers.data(), 3, 2, 2};
  std::string ready;
  for (std::size_t i = 0; i < rows.rows; ++i) {
    append_json_row(ready, rows.row(i));
  }
  CHECK(ready == "[1.0, 0.5], [0.25, 0.125], [0.0, 2.0]");
  CHECK(written([&](JsonWriter& json) {
          json.begin_array();
          json.raw_items("");
          json.raw_items(ready);
          json.raw_items("");
          json.raw_items("[8.0]");
          json.end_array();
        }) == "[[1.0, 0.5], [0.25, 0.125], [0.0, 2.0], [8.0]]\n");
}

TEST_CASE("JsonWriter: a large piece formatted separately comes after what was written before it") {
  const std::string large = "[" + std::string(200'000, '1') + "]";
  CHECK(written([&](JsonWriter& json) {
          json.begin_array();
          json.value(std::uint64_t{7});
          json.raw_items(large);
          json.raw_items(large);
          json.value(true);
          json.end_array();
        }) == "[7, " + large + ", " + large + ", true]\n");
}

TEST_CASE("JsonWriter: a long row reaches the sink in pieces") {
  const std::vector<float> row(100'000, 0.5f);
  std::size_t largest = 0;
  std::string text;
  JsonWriter json([&](std::string_view bytes) {
    text += bytes;
    largest = std::max(largest, bytes.size());
  });
  json.value(row);
  json.finish();
  CHECK(largest < 100'000);
  CHECK(test::parse_json(text) == nlohmann::json(row));
}

TEST_CASE("JsonWriter: a long document reaches the sink in pieces, and complete") {
  const std::vector<float> row(1000, 0.5f);
  std::string text;
  std::size_t largest = 0;
  JsonWriter json([&](std::string_view bytes) {
    text += bytes;
    largest = std::max(largest, bytes.size());
  });
  json.begin_array();
  for (int i = 0; i < 1000; ++i) {
    json.value(row);
  }
  json.end_array();
  json.finish();
  CHECK(largest < 100'000);
  const auto document = test::parse_json(text);
  CHECK(document.size() == 1000);
  CHECK(document[999][999] == 0.5f);
}

TEST_CASE("JSON writer: whole numbers below 0, and doubles with all their digits") {
  std::string out;
  JsonWriter json([&out](std::string_view bytes) { out += bytes; });
  json.begin_array();
  json.value(std::int64_t{-16777217});
  json.value(std::uint64_t{18446744073709551615U});
  json.value(1e300);
  json.value(0.1);
  json.value(-2.0);
  json.value(std::numeric_limits<double>::infinity());
  json.end_array();
  json.finish();
  CHECK(out == "[-16777217, 18446744073709551615, 1e+300, 0.1, -2.0, null]\n");
}

}  // namespace attnviz
