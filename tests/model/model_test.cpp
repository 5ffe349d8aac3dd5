#include "attnviz/model/model.h"

#include <doctest/doctest.h>

#include <string>

#include "attnviz/core/error.h"

namespace attnviz {

TEST_CASE("positions: every name reads back as its positions") {
  for (const Positions positions :
       {Positions::kNone, Positions::kSinusoidal, Positions::kRope, Positions::kAlibi}) {
    CHECK(parse_positions(positions_name(positions)) == positions);
  }
  CHECK(parse_positions("rope") == Positions::kRope);
}

TEST_CASE("positions: an unknown name is refused with the known ones and the closest") {
  try {
    parse_positions("roppe");
    FAIL("was not refused");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::kUsage);
    CHECK(std::string(error.what()) ==
          "positions \"roppe\": expected none, sinusoidal, rope or alibi (did you mean \"rope\"?)");
  }
}

TEST_CASE("n_heads: the number of the layer with the most heads") {
  Model model;
  CHECK(model.n_heads() == 0);
  model.layers.resize(3);
  model.layers[0].heads.resize(2);
  model.layers[1].heads.resize(5);
  model.layers[2].heads.resize(1);
  CHECK(model.n_heads() == 5);
}

}  // namespace attnviz
