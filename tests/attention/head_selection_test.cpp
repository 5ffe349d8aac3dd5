#include "attnviz/attention/interventions.h"

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

TEST_CASE("parse_index_range: a number, a range, or all") {
  CHECK(parse_index_range("3") == IndexRange{3, 4});
  CHECK(parse_index_range("3-5") == IndexRange{3, 6});
  CHECK(parse_index_range("*") == IndexRange{});
  for (const char* const word : {"", "-", "3-", "-3", "5-3", "1-2-3", "x", "3.", "**", " 3",
                                 "18446744073709551615", "0-18446744073709551614"}) {
    CAPTURE(word);
    CHECK(parse_index_range(word) == std::nullopt);
  }
}

TEST_CASE("parse_head_places: heads, or whole layers, with or without the letters") {
  const HeadPlaces one{{2, 3}, IndexRange{1, 2}, false};
  CHECK(parse_head_places("2.1") == one);
  CHECK(parse_head_places("L2H1") == HeadPlaces{{2, 3}, IndexRange{1, 2}, true});
  CHECK(parse_head_places("l2.1") == parse_head_places("L2h1"));
  CHECK(parse_head_places("1-3.*") == HeadPlaces{{1, 4}, IndexRange{}, false});
  CHECK(parse_head_places("*.0-1") == HeadPlaces{{}, IndexRange{0, 2}, false});
  CHECK(parse_head_places("L2") == HeadPlaces{{2, 3}, std::nullopt, true});
  CHECK(parse_head_places("0-2") == HeadPlaces{{0, 3}, std::nullopt, false});
  for (const char* const word : {"", "L", "H1", "2.", ".1", "L2H", "2H1", "1.2.3", "2.mlp"}) {
    CAPTURE(word);
    CHECK(parse_head_places(word) == std::nullopt);
  }
}

TEST_CASE("select_heads: without a selection every head is chosen, in order") {
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

TEST_CASE("select_heads: ranges of layers, of heads, and of both") {
  const Model model = uneven_model();
  CHECK(select_heads(model, "1.0-1", "") == Heads{{1, 0}, {1, 1}});
  CHECK(select_heads(model, "L1H1-2", "") == Heads{{1, 1}, {1, 2}});
  CHECK(select_heads(model, "*.0-1", "1-2") == Heads{{1, 0}, {1, 1}, {2, 0}});
  CHECK(select_heads(model, "0-1.1", "") == Heads{{0, 1}, {1, 1}});
  CHECK(select_heads(model, "L1-2.*", "") == Heads{{1, 0}, {1, 1}, {1, 2}, {2, 0}});
  CHECK(select_heads(model, "1-2", "") == Heads{{0, 1}, {1, 1}, {1, 2}});
  CHECK(select_heads(std::vector<HeadId>{{2, 1}, {2, 3}, {5, 1}}, "2-4.0-7", "") ==
        Heads{{2, 1}, {2, 3}});
  CHECK(message_of("1.1-3", "") == "\"1.1-3\": no head 3: layer 1 has heads 0 to 2");
  CHECK(message_of("0-1.3", "") == "\"0-1.3\": no head 3: layers 0 to 1 have heads 0 to 2");
  CHECK(contains(message_of("2-3.0", ""), "layers 0 to 2"));
}

TEST_CASE("select_heads: a layer among heads is recognised") {
  CHECK(message_of("L1", "") == "head \"L1\": this names a layer: choose by layer 1");
  CHECK(message_of("0.1,l1-2", "") == "head \"l1-2\": this names a layer: choose by layer 1-2");
}

TEST_CASE("select_heads: layers alone, and together with heads") {
  const Model model = uneven_model();
  CHECK(select_heads(model, "", "2") == Heads{{2, 0}});
  CHECK(select_heads(model, "", "0,2") == Heads{{0, 0}, {0, 1}, {2, 0}});
  CHECK(select_heads(model, "0", "1-2") == Heads{{1, 0}, {2, 0}});
  CHECK(select_heads(model, "0.1,1.1", "1") == Heads{{1, 1}});
}

TEST_CASE("select_heads: heads the model does not have are a usage error with the valid range") {
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

TEST_CASE("select_heads: text that is not a head or layer is a usage error with an example") {
  for (const std::string heads :
       {"x", "1.", ".1", "1.2.3", "H1", "2.1-0", "2-", "1.0-", "-1", "1,,2", ",", " ", "1.x",
        "99999999999999999999.0", "L1H", "LH", "1.2,"}) {
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

TEST_CASE("select_heads: among given heads, whose layers and numbers need not start at 0") {
  const std::vector<HeadId> available = {{2, 1}, {2, 3}, {5, 1}, {5, 3}};
  CHECK(select_heads(available, "", "") == available);
  CHECK(select_heads(available, "3", "") == std::vector<HeadId>{{2, 3}, {5, 3}});
  CHECK(select_heads(available, "5.1", "") == std::vector<HeadId>{{5, 1}});
  CHECK(select_heads(available, "*.1", "3-9") == std::vector<HeadId>{{5, 1}});
  CHECK_THROWS_WITH_AS(select_heads(available, "0.1", ""),
                       "\"0.1\": unknown head: the model has 2.1, 2.3, 5.1, 5.3", Error);
  CHECK_THROWS_AS(select_heads(available, "", "0-1"), Error);
  CHECK_THROWS_AS(select_heads(available, "5.1", "2"), Error);
}

}  // namespace attnviz
