// The tour's rows when not all the weight is on a prefix of keys: learned sinks, windows, gates.
#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/terminal/tour_page.h"
#include "support/sample_inspection.h"
#include "support/screen_text.h"

namespace attnviz {
namespace {

TokenizedText text_of_rows(const std::vector<std::string>& pieces) {
  TokenizedText text;
  for (const std::string& piece : pieces) {
    Token token;
    token.text = piece;
    token.end = piece.size();
    text.tokens.push_back(token);
  }
  return text;
}

// "The cat sat" at the head whose numbers are in sample_inspection.h.
struct RowsTour {
  RowsTour() {
    tour.text = text_of_rows({"The", " cat", " sat"});
    tour.n_whole = 3;
    tour.n_heads = 1;
    const std::vector<std::string_view> pieces = {"The", " cat", " sat"};
    const std::vector<HeadId> heads = {{0, 0}};
    tour.inspection = std::move(
        inspect_heads(model, pieces, {}, heads, /*query=*/2, /*all_queries=*/true).front());
    tour.induction.text = text_of_rows({"a", " b", " c"});
    tour.induction.weights = {0.25f, 0.25f, 0.5f};
    tour.induction.look = {2, 1};
    tour.temperatures = {{0.5f, {0.1f, 0.8f, 0.1f}, 0.92},
                         {1.0f, {0.212f, 0.576f, 0.212f}, 1.41},
                         {2.0f, {0.274f, 0.452f, 0.274f}, 1.54}};
  }

  std::string screen(std::size_t i) const {
    return render_tour_screen(tour, i, {TerminalStyle::kBlocks, ColorDepth::kNone, 80},
                              {"--head", "--query", "--truncate right", "--temperature", "--help"});
  }

  Model model = test::model_by_hand();
  Tour tour;
};

// Sentences may be wrapped anywhere.
std::string line_of(std::string text) {
  for (char& c : text) {
    c = c == '\n' ? ' ' : c;
  }
  return text;
}

}  // namespace

TEST_CASE("tour screens: a learned sink has a row in the tables, and a share in the sentences") {
  RowsTour hand;
  hand.tour.inspection.sink = {3.0f, 2.7183f, 0.61f};
  hand.tour.inspection.weights = {0.0825f, 0.225f, 0.0825f};
  std::string screen = hand.screen(2);
  CHECK(test::contains(screen, "      sink                3.00        2.7183   61.0%  "));
  CHECK(test::contains(screen, "1.7358  100.0%\n"));  // the sum is the inspection's own
  std::string words = line_of(screen);
  CHECK(test::contains(words, "its share goes to no token."));
  CHECK(test::contains(
      words, ", 61.0 %, on the learned sink; among the tokens \"cat\" gets the most, 22.5 %."));
  hand.tour.inspection.sink->weight = 0.1f;
  words = line_of(hand.screen(2));
  CHECK(test::contains(words, ", 22.5 %, "));
  CHECK(test::contains(words, " \"cat\", and 10.0 % "));
  CHECK(!test::contains(words, "most of its attention, 22.5 %"));  // less than half
  CHECK(test::contains(line_of(hand.screen(3)),
                       "all of its weight is there, except what goes to the head's learned sink, "
                       "which is not a token."));
  for (TourTemperature& row : hand.tour.temperatures) {
    row.sink = 0.125f / row.temperature;
  }
  screen = hand.screen(5);
  CHECK(test::contains(screen, "      sink              25.0%  "));
  CHECK(test::contains(line_of(screen), "2.00 bits when 4 share it equally"));  // log2 4

  hand.tour.previous.found = hand.tour.pronoun.found = false;
  hand.tour.induction.sink = 0.75f;
  screen = hand.screen(4);
  CHECK(test::contains(screen, "    a    b    c  sink\n    25%  25%  50%   75%\n"));
  CHECK(test::contains(line_of(screen), ", 75 %, on the learned sink"));
  CHECK(test::contains(line_of(screen), " 50 %."));
}

TEST_CASE(
    "tour screens: keys of a window are in the tables though the first token is not visible") {
  RowsTour hand;
  hand.tour.inspection.mask = {MaskKind::kWindow, 2};
  hand.tour.inspection.weights = {0.0f, 0.73f, 0.27f};
  const std::string screen = hand.screen(2);
  CHECK(!test::contains(screen, "   0  The "));
  CHECK(test::contains(screen, "   1  cat  4.00          2.00        1.0000   73.0%  "));
  CHECK(test::contains(screen, "   2  sat  2.00          1.00        0.3679   27.0%  "));
  CHECK(test::contains(line_of(screen), "0.73·v(cat) + 0.27·v(sat) = ("));
  CHECK(test::contains(
      line_of(hand.screen(3)),
      "Tokens before the last 2 up to the query are masked, too: that is this layer's window."));
  CHECK(test::contains(line_of(hand.screen(5)), "1.00 bits when 2 share it equally"));  // log2 2
}

TEST_CASE("tour screens: a gate comes after the sum of the values") {
  RowsTour hand;
  hand.tour.inspection.mixture = {1.0f, 2.0f};
  hand.tour.inspection.gate = {0.5f, 0.25f};
  hand.tour.inspection.context = {0.5f, 0.5f};
  CHECK(test::contains(
      line_of(hand.screen(2)),
      "= (1.00, 2.00); a gate then lets (0.50, 0.50) of it through. A fourth matrix, W_O"));
}

}  // namespace attnviz
