// Edges that --hide hides: what is drawn and scored without them, and how they are reported.
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

// Compares numbers anywhere in two documents of the same shape.
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
    const std::size_t legend = out.find("row = ");
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

TEST_CASE("heads: patterns in a file keep what was hidden, each head's edges and those of all") {
  const TemporaryFolder folder;
  const Words hidden = {"--hide", "7>0-2@0", "--hide", "5-7>1-2"};
  const std::string text = "The cat sat on the mat.";
  CHECK(attnviz(and_with({text, "-o", folder.file("a.json")}, hidden)).exit_code == 0);
  const json of_text = attnviz_json(and_with({"heads", text}, hidden));
  const json of_file = attnviz_json({"heads", folder.file("a.json")});
  for (std::size_t head = 0; head < of_text["heads"].size(); ++head) {
    const json& one = of_text["heads"][head];
    CAPTURE(head);
    for (const std::string score : {"first", "entropy_fraction", "sink_alpha_max", "band"}) {
      check_same_scores(of_file["heads"][head][score], one[score]);
    }
  }
  check_same_scores(of_file["null"], of_text["null"]);
  CHECK(of_text["null"] != attnviz_json({"heads", text})["null"]);
}

TEST_CASE("--hide: each rule whose edges are all masked anyway gets a note") {
  const auto notes = [](const Words& more) {
    const ProgramResult result = attnviz(and_with({"The cat sat", "--head", "1.0"}, more));
    CHECK(result.exit_code == 0);
    return result.err;
  };
  CHECK(mentions(notes({"--hide", "cat>sat"}), {"--hide \"cat>sat\"", "mask"}));
  CHECK(mentions(notes({"--hide", "sat>The", "--mask", "window:2"}), {"mask"}));
  CHECK(notes({"--hide", "cat>sat", "--mask", "none"}).empty());
  CHECK(notes({"--hide", "cat>sat,The"}).empty());
  CHECK(notes({"--hide", "cat>sat", "--side-by-side", "causal,none"}).empty());
  CHECK(mentions(notes({"--hide", "cat>sat", "--side-by-side", "causal,window:2"}), {"mask"}));
  CHECK(notes({"--hide", "cat>sat", "-q"}).empty());
  const std::string again = notes({"--hide", "sat>cat", "--hide", "3>2@1"});
  CHECK(mentions(again, {"--hide \"3>2@1\""}));
  CHECK(!contains(again, "--hide \"sat>cat\""));
  CHECK(notes({"--hide", "3>2@1", "--hide", "sat>cat"}).empty());
  CHECK(notes({"--hide", "sat>cat@1", "--hide", "sat>cat@2"}).empty());
  CHECK(mentions(attnviz({"heads", "The cat sat", "--hide", "cat>sat"}).err, {"mask"}));
}

TEST_CASE("--hide: ranges without an end reach into what the model writes") {
  const auto notes = [](const Words& more) {
    return attnviz(and_with({"The cat sat", "--head", "0.0", "--hide", "3>3"}, more)).err;
  };
  const Words open = {"--hide", "3->3-"};
  CHECK(mentions(notes(open), {"--hide \"3->3-\""}));
  CHECK(!contains(notes(and_with(open, {"--generate", "3"})), "--hide"));
  CHECK(contains(notes({"--hide", "3>3-3", "--generate", "3"}), "--hide"));
}

TEST_CASE("--hide: means and words are masked where several rules hide an edge together") {
  const auto cells = [](const Words& arguments, const Words& hidden) {
    const Words all = and_with(arguments, and_with(hidden, {"--style", "mask"}));
    const std::string out = attnviz(all).out;
    const std::size_t begin = out.find("*<|bos|>");
    return out.substr(begin, out.find("# = ") - begin);
  };
  const Words mean = {"The cat sat on the mat", "--average", "layers", "--head", "0"};
  const std::string seldom = cells(mean, {"--hide", "sat>cat@0-1"});
  const std::string everywhere = cells(mean, {"--hide", "sat>cat"});
  CHECK(seldom != everywhere);
  CHECK(cells(mean, {"--hide", "sat>cat@0-1", "--hide", "sat>cat@2-3"}) == everywhere);
  const Words words = {"antidis sat", "--merge", "words", "--head", "0.0"};
  const std::string whole = cells(words, {"--hide", "-1>1-"});
  CHECK(cells(words, {}) != whole);
  CHECK(cells(words, {"--hide", "-1>1", "--hide", "-1>2-"}) == whole);
}

TEST_CASE("--hide: an edge that was asked for twice appears once in legends and documents") {
  const Words twice = {"The cat sat", "--head", "1.0",    "--hide", "sat>cat",
                       "--hide",      "2>1",    "--hide", "sat>cat"};
  const std::string legend = attnviz(twice).out;
  CHECK(mentions(legend, {"token 3", "token 2", "token 1"}));
  CHECK(attnviz_json(twice)["interventions"].size() == 2);
  const Words overlapping = {"The cat sat", "--head", "1.0", "--hide", "3>2", "--hide", "3>1,2"};
  CHECK(mentions(attnviz(overlapping).out, {"token 3", "tokens 1-2"}));
}

TEST_CASE("--side-by-side ablated: a note says when the two pictures are alike") {
  const auto notes = [](const Words& more) {
    return attnviz(and_with({"The cat sat", "--head", "2.0", "--side-by-side", "ablated"}, more))
        .err;
  };
  CHECK_FALSE(notes({"--ablate", "2.1"}).empty());
  CHECK_FALSE(notes({"--hide", "sat>cat@3"}).empty());
  CHECK(notes({"--ablate", "1.1"}).empty());
  CHECK(notes({"--ablate", "3.1,1.1"}).empty());
  CHECK(notes({"--ablate", "2.1", "-q"}).empty());
}

}  // namespace attnviz::test
