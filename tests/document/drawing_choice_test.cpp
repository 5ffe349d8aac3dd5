#include "attnviz/document/drawing_choice.h"

#include <doctest/doctest.h>

namespace attnviz {

TEST_CASE("drawing choice: the range follows from the data only where it is to be automatic") {
  DrawingRequest request;
  CHECK_FALSE(needs_values(request));
  CHECK(choose_drawing(request, 0.0f, {0.0f, 0.3f}).scale.high == 1.0f);
  CHECK(choose_drawing(request, 0.75f, {0.0f, 0.3f}).scale.high == 4.0f);

  request.automatic_range = true;
  CHECK(needs_values(request));
  CHECK(choose_drawing(request, 0.5f, {0.0f, 0.3f}).scale.high == 0.3f);
  CHECK(choose_drawing(request, 0.0f, {0.0f, 0.0f}).scale.high == 1.0f);
  const Drawing with_negative = choose_drawing(request, 0.0f, {-2.0f, 0.5f});
  CHECK(with_negative.scale.low == -2.0f);
  CHECK(with_negative.scale.high == 2.0f);

  request.scale = ScaleKind::kLog;
  CHECK(needs_values(request));
  CHECK(choose_drawing(request, 0.0f, {0.0f, 0.5f}).scale.low == 0.0005f);
  CHECK(choose_drawing(request, 0.0f, {-1.0f, 0.0f}).scale.low == 0.001f);

  request.scale = ScaleKind::kRowMax;
  CHECK_FALSE(needs_values(request));
  request.scale.reset();
  request.drop_sink = true;
  CHECK_FALSE(needs_values(request));
  request.drop_sink = false;
  request.range = ValueRange{0.1f, 0.2f};
  CHECK_FALSE(needs_values(request));
  CHECK(choose_drawing(request, 0.0f, {0.0f, 0.9f}).scale.low == 0.1f);
}

}  // namespace attnviz
