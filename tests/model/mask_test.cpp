#include "attnviz/model/mask.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "attnviz/core/error.h"

namespace attnviz {
namespace {

// One line per query, one character per key: x visible, . masked.
std::string drawn(std::string_view name, std::size_t n) {
  const Mask mask = parse_mask(name);
  std::string out;
  for (std::size_t query = 0; query < n; ++query) {
    for (std::size_t key = 0; key < n; ++key) {
      out += mask.visible(query, key) ? 'x' : '.';
    }
    out += '\n';
  }
  return out;
}

}  // namespace

TEST_CASE("masks: which of five tokens sees which") {
  CHECK(drawn("causal", 5) == "x....\nxx...\nxxx..\nxxxx.\nxxxxx\n");
  CHECK(drawn("none", 3) == "xxx\nxxx\nxxx\n");
  CHECK(drawn("window:2", 5) == "x....\nxx...\n.xx..\n..xx.\n...xx\n");
  CHECK(drawn("window:1", 3) == "x..\n.x.\n..x\n");
  CHECK(drawn("block:2", 5) == "x....\nxx...\n..x..\n..xx.\n....x\n");
  // The query's last three keys, and every third before them.
  CHECK(drawn("strided:3", 8) ==
        "x.......\nxx......\nxxx.....\nxxxx....\n.xxxx...\n..xxxx..\nx..xxxx.\n.x..xxxx\n");
}

TEST_CASE("masks: the key range holds every visible key and nothing outside it") {
  for (const std::string_view name : {"causal", "none", "window:1", "window:3", "window:100",
                                      "strided:1", "strided:4", "block:3"}) {
    CAPTURE(name);
    const Mask mask = parse_mask(name);
    constexpr std::size_t kTokens = 13;
    for (std::size_t query = 0; query < kTokens; ++query) {
      for (std::size_t key = 0; key < kTokens; ++key) {
        const bool inside = key >= mask.first_key(query) && key < mask.end_key(query, kTokens);
        CHECK((!mask.visible(query, key) || inside));
        CHECK((mask.has_gaps() || mask.visible(query, key) == inside));
      }
    }
  }
}

TEST_CASE("masks: the counted keys equal those visible one by one") {
  constexpr std::size_t kTokens = 23;
  for (const std::string_view name : {"causal", "none", "window:1", "window:5", "window:100",
                                      "strided:1", "strided:4", "strided:7", "block:3"}) {
    CAPTURE(name);
    const Mask mask = parse_mask(name);
    for (std::size_t query = 0; query < kTokens; ++query) {
      for (std::size_t first = 0; first <= kTokens; ++first) {
        std::size_t expected = 0;
        for (std::size_t end = first; end <= kTokens; ++end) {
          REQUIRE(mask.n_visible(query, first, end) == expected);
          expected += mask.visible(query, end) ? std::size_t{1} : std::size_t{0};
        }
      }
    }
  }
}

TEST_CASE("masks: a name reads back as its mask") {
  for (const std::string_view name :
       {"causal", "none", "window:3", "strided:4", "block:18446744073709551615", "around:2"}) {
    CHECK(parse_mask(name).name() == name);
  }
}

TEST_CASE("masks: invalid names are refused with the expected ones") {
  CHECK_THROWS_WITH_AS(parse_mask("casual"),
                       "mask \"casual\": expected causal, none, window:N, strided:N, block:N or "
                       "around:N (did you mean \"causal\"?)",
                       Error);
  CHECK_THROWS_WITH_AS(parse_mask("causal:3"), "mask \"causal:3\": causal takes no size", Error);
  for (const std::string_view bad : {"window", "window:", "window:0", "window:-1", "window:3x",
                                     "window: 3", "block:99999999999999999999", "", ":3"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(parse_mask(bad), Error);
  }
}

}  // namespace attnviz
