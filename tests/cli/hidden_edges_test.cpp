// Edges that --hide hides: what is drawn and scored without them, and what is said of them.
#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "cli/attnviz_program.h"
#include "support/json.h"

namespace attnviz::test {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

Words and_with(Words arguments, const Words& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

// Numbers anywhere in two documents of one shape.
void check_same_scores(const json& actual, const json& expected) {
  REQUIRE(actual.is_number() == expected.is_number());
  REQUIRE(actual.size() == expected.size());
  if (expected.is_number()) {
    CHECK(actual.get<double>() == doctest::Approx(expected.get<double>()).epsilon(1e-4));
  } else if (expected.is_structured()) {
    for (const auto& item : expected.items()) {
      CAPTURE(item.key());
      check_same_scores(expected.is_array() ? actual[std::stoul(item.key())] : actual[item.key()],
                        item.value());
    }
  } else {
    CHECK(actual == expected);
  }
}

}  // namespace

TEST_CASE("--hide: overviews and scores of edges beyond a window are those of the window") {
  Words edges = {"--hide", "2-7>0", "--hide", "3-7>1", "--hide", "4-7>2",
                 "--hide", "5-7>3", "--hide", "6-7>4", "--hide", "7>5"};
  const Words text = {"The cat sat on the mat."};
  const auto picture = [&](const Words& changes) {
    const std::string out = attnviz(and_with(text, changes)).out;
    const std::size_t legend = out.find("blank = masked");
    REQUIRE(legend != std::string::npos);
    return out.substr(0, legend);
  };
  const std::string window = picture({"--mask", "window:2"});
  REQUIRE(contains(window, "L3"));
  CHECK(picture(edges) == window);
  CHECK(picture({}) != window);
  const Words scored = {"heads", "The cat sat on the mat."};
  const json of_window = attnviz_json(and_with(scored, {"--mask", "window:2"}));
  const json of_edges = attnviz_json(and_with(scored, edges));
  check_same_scores(of_edges["heads"], of_window["heads"]);
  check_same_scores(of_edges["null"], of_window["null"]);
}

}  // namespace attnviz::test
