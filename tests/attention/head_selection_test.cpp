#include "attnviz/attention/head_selection.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "attnviz/core/error.h"
#include "support/model_builder.h"
#include "support/screen_text.h"

namespace attnviz {
namespace {

using test::contains;

using Heads = std::vector<HeadId>;

// Layers of 2, 3 and 1 heads.
Model uneven_model() {
  test::ModelBuilder builder(1, 2);
  builder.add_layer({{1, 1}, {1, 1}}).add_layer({{1, 1}, {1, 1}, {1, 1}}).add_layer({{1, 1}});
  return builder.model;
}

std::string message_of(const std::string& heads, const std::string& layers) {
  try {
    select_heads(uneven_model(), heads, layers);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::kUsage);
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("select_heads: nothing said chooses every head in order") {
  const Heads all = {{0, 0}, {0, 1}, {1, 0}, {1, 1}, {1, 2}, {2, 0}};
  CHECK(select_heads(uneven_model(), "", "") == all);
  CHECK(select_heads(uneven_model(), "*", "*") == all);
  CHECK(select_heads(uneven_model(), "*.*", "0-2") == all);
}

TEST_CASE("select_heads: both ways of writing a head mean the same") {
  const Heads one = {{1, 2}};
  for (const std::string name : {"1.2", "L1H2", "l1h2", " 1.2 "}) {
    CAPTURE(name);
    CHECK(select_heads(uneven_model(), name, "") == one);
  }
  CHECK(head_name({1, 2}) == "1.2");
  CHECK(head_title({1, 2}) == "L1H2");
}

TEST_CASE("select_heads: stars, bare numbers and lists") {
  const Model model = uneven_model();
  CHECK(select_heads(model, "1.*", "") == Heads{{1, 0}, {1, 1}, {1, 2}});
  CHECK(select_heads(model, "L1H*", "") == Heads{{1, 0}, {1, 1}, {1, 2}});
  CHECK(select_heads(model, "*.1", "") == Heads{{0, 1}, {1, 1}});
  CHECK(select_heads(model, "1", "") == Heads{{0, 1}, {1, 1}});
  CHECK(select_heads(model, "2.0, 0.1,0.1", "") == Heads{{0, 1}, {2, 0}});
}

TEST_CASE("select_heads: layers alone, and together with heads") {
  const Model model = uneven_model();
  CHECK(select_heads(model, "", "2") == Heads{{2, 0}});
  CHECK(select_heads(model, "", "0,2") == Heads{{0, 0}, {0, 1}, {2, 0}});
  CHECK(select_heads(model, "0", "1-2") == Heads{{1, 0}, {2, 0}});
  CHECK(select_heads(model, "0.1,1.1", "1") == Heads{{1, 1}});
}

TEST_CASE("select_heads: what the model does not have is a usage error with the valid range") {
  CHECK(contains(message_of("3.0", ""), "layers 0 to 2"));
  CHECK(contains(message_of("1.3", ""), "layer 1 has heads 0 to 2"));
  CHECK(contains(message_of("2.1", ""), "layer 2 has only head 0"));
  CHECK(contains(message_of("*.3", ""), "heads 0 to 2"));
  CHECK(contains(message_of("7", ""), "heads 0 to 2"));
  CHECK(contains(message_of("", "3"), "layers 0 to 2"));
  CHECK(contains(message_of("", "1-5"), "layers 0 to 2"));
  CHECK(contains(message_of("0.1", "1"), "no head is both"));
  CHECK(contains(message_of("2", "2"), "no head is both"));
}

TEST_CASE("select_heads: what is no head or layer is a usage error with an example") {
  for (const std::string heads : {"x", "1.", ".1", "1.2.3", "L1", "H1", "-1", "1,,2", ",", " ",
                                  "1.x", "99999999999999999999.0", "L1H", "LH", "1.2,"}) {
    CAPTURE(heads);
    CHECK(contains(message_of(heads, ""), "expected LAYER.HEAD"));
  }
  for (const std::string layers : {"x", "-", "1-", "-1", "2-1", "1-2-3", "0,,1", " ", "0x1"}) {
    CAPTURE(layers);
    CHECK(contains(message_of("", layers), "expected a number, a range"));
  }
}

TEST_CASE("is_rectangle: every layer with the same heads") {
  CHECK(is_rectangle(Heads{{0, 0}}));
  CHECK(is_rectangle(Heads{{0, 1}, {0, 2}, {3, 1}, {3, 2}}));
  CHECK(!is_rectangle(Heads{{0, 1}, {1, 2}}));
  CHECK(!is_rectangle(Heads{{0, 1}, {0, 2}, {3, 1}}));
}

TEST_CASE("select_heads: among given heads, whose layers and numbers need not begin at 0") {
  const std::vector<HeadId> available = {{2, 1}, {2, 3}, {5, 1}, {5, 3}};
  CHECK(select_heads(available, "", "") == available);
  CHECK(select_heads(available, "3", "") == std::vector<HeadId>{{2, 3}, {5, 3}});
  CHECK(select_heads(available, "5.1", "") == std::vector<HeadId>{{5, 1}});
  CHECK(select_heads(available, "*.1", "3-9") == std::vector<HeadId>{{5, 1}});
  CHECK_THROWS_WITH_AS(select_heads(available, "0.1", ""),
                       "\"0.1\": there is no such head: there are 2.1, 2.3, 5.1, 5.3", Error);
  CHECK_THROWS_AS(select_heads(available, "", "0-1"), Error);
  CHECK_THROWS_AS(select_heads(available, "5.1", "2"), Error);
}

}  // namespace attnviz
