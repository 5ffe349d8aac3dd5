#include <doctest/doctest.h>

#include <string>

#include "attnviz/core/error.h"
#include "attnviz/model/stored_model.h"
#include "support/malformed_weights.h"

namespace attnviz {

TEST_CASE("weights JSON: every malformed file is refused with its name and the position") {
  const auto cases = test::malformed_weights();
  REQUIRE(cases.size() >= 60);
  for (const auto& file : cases) {
    CAPTURE(file.what);
    try {
      parse_weights_json(file.bytes, "w.json");
      FAIL_CHECK("was not refused");
    } catch (const Error& error) {
      CHECK(error.kind() == file.kind);
      const std::string expected = "w.json: " + file.message;
      CHECK(std::string(error.what()).substr(0, expected.size()) == expected);
    }
  }
}

TEST_CASE(
    "weights JSON: a valid file cut off anywhere is refused, and only the whole one is read") {
  const std::string valid = test::valid_weights();
  CHECK_NOTHROW(parse_weights_json(valid, "w.json"));
  for (std::size_t size = 0; size + 2 < valid.size(); ++size) {  // the last two: } and a line feed
    CAPTURE(size);
    try {
      parse_weights_json(std::string_view(valid).substr(0, size), "w.json");
      FAIL_CHECK("was not refused");
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::kMalformed);
      CHECK(std::string(error.what()).starts_with("w.json: "));
    }
  }
}

TEST_CASE(
    "weights JSON: a valid file with any one byte changed is read or refused, without a crash") {
  const std::string valid = test::valid_weights();
  for (std::size_t i = 0; i < valid.size(); ++i) {
    for (const char byte : {'\0', '"', '[', '}', ',', '9', '-', '\\', '\x80', '\n', '/', 'e'}) {
      std::string changed = valid;
      changed[i] = byte;
      CAPTURE(changed);
      try {
        parse_weights_json(changed, "w.json");
      } catch (const Error& error) {
        CHECK(std::string(error.what()).starts_with("w.json: "));
      }
    }
  }
}

TEST_CASE("weights JSON: deep nesting of any depth is refused") {
  std::string nested;
  nested.resize(10'000'000, '[');
  CHECK_THROWS_AS(parse_weights_json(nested, "w.json"), Error);
}

TEST_CASE("weights JSON: a layer has at most 4096 heads") {
  const auto with_heads = [](std::size_t n) {
    std::string heads;
    for (std::size_t i = 0; i < n; ++i) {
      heads += std::string(i == 0 ? "" : ",") + R"({"W_Q": [[1]], "W_K": [[1]], "W_V": [[1]]})";
    }
    return R"({"d_model": 1, "layers": [{"heads": [)" + heads + "]}]}";
  };
  CHECK_NOTHROW(parse_weights_json(with_heads(4096), "w.json"));
  CHECK_THROWS_WITH_AS(parse_weights_json(with_heads(4097), "w.json"),
                       "w.json: layers[0].heads: expected at most 4096 heads, found 4097", Error);
}

}  // namespace attnviz
