#include "attnviz/formats/base64.h"

#include <doctest/doctest.h>

#include <string>

#include "attnviz/core/error.h"

namespace attnviz {

TEST_CASE("base64: the test vectors of RFC 4648, section 10, and bytes above 127") {
  const std::pair<const char*, const char*> vectors[] = {{"", ""},
                                                         {"f", "Zg=="},
                                                         {"fo", "Zm8="},
                                                         {"foo", "Zm9v"},
                                                         {"foob", "Zm9vYg=="},
                                                         {"fooba", "Zm9vYmE="},
                                                         {"foobar", "Zm9vYmFy"},
                                                         {"\xFF\xFE\xFD", "//79"}};
  for (const auto& [bytes, text] : vectors) {
    CHECK(encoded_base64(bytes) == text);
    CHECK(decoded_base64(text, "") == bytes);
  }
  CHECK(decoded_base64("Zm8", "") == "fo");
  CHECK_THROWS_WITH_AS(decoded_base64("a\n", "here: "),
                       "here: expected base64, found other characters", Error);
}

}  // namespace attnviz
