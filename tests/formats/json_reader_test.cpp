#include "attnviz/formats/json_reader.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "attnviz/core/error.h"

namespace attnviz {

TEST_CASE(
    "JsonReader: strings of every length end at their quote, at any position within a machine "
    "word") {
  for (std::size_t size = 0; size < 40; ++size) {
    for (const std::string& character : {std::string("a"), std::string("\x7F"), std::string("é")}) {
      std::string text;
      for (std::size_t i = 0; i < size; ++i) {
        text += character;
      }
      const std::string json = "[\"" + text + "\", 7]";
      CAPTURE(json);
      JsonReader reader(json, "f");
      reader.expect('[');
      CHECK(reader.string() == text);
      reader.expect(',');
      CHECK(reader.whole_number() == 7);
      CHECK(reader.take(']'));
      CHECK(reader.rest().empty());
    }
  }
}

TEST_CASE(
    "JsonReader: an escape or a control character is found at each position in a machine word") {
  for (std::size_t at = 0; at < 24; ++at) {
    CAPTURE(at);
    const std::string before(at, 'x');
    const std::string escaped = "\"" + before + "\\u0022zzzzzzzzz\"";
    JsonReader reader(escaped, "f");
    CHECK(reader.string() == before + "\"zzzzzzzzz");
    for (const char control : {'\0', '\n', '\x1F'}) {
      const std::string broken = "\"" + before + control + "zzzzzzzzz\"";
      JsonReader fails(broken, "f");
      CHECK_THROWS_AS(fails.string(), Error);
    }
  }
}

TEST_CASE("JsonReader: whole numbers end where digits do, and fit 32 bits") {
  for (const auto& [json, number] : {std::pair{"0,", 0U},
                                     {" 17]", 17U},
                                     {"4294967295", 4294967295U},
                                     {"00000000000000000000012 ", 12U}}) {
    const std::string_view text = json;
    CAPTURE(text);
    JsonReader reader(text, "f");
    CHECK(reader.whole_number() == number);
  }
  for (const char* json : {"4294967296", "99999999999999999999999", "-1", "+1", "1.5", "1e3", "1-",
                           "", "x", "\"1\""}) {
    CAPTURE(json);
    JsonReader reader(json, "f");
    CHECK_THROWS_WITH_AS(reader.whole_number(),
                         doctest::Contains("expected a whole number below 2^32"), Error);
  }
}

}  // namespace attnviz
