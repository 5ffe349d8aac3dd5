// The tour's screens: a hand-made tour, whose sentences can be checked, and the demo model's.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attnviz/core/utf8.h"
#include "attnviz/model/stored_model.h"
#include "attnviz/terminal/tour_page.h"
#include "attnviz/text/files/load_tokenizer.h"
#include "support/sample_inspection.h"
#include "support/screen_text.h"

namespace attnviz {

namespace {

constexpr TerminalOptions kPlain = {TerminalStyle::kBlocks, ColorDepth::kNone, 80};

Token token_of(std::string text, TokenId id) {
  Token token;
  token.id = id;
  token.end = text.size();
  token.text = std::move(text);
  return token;
}

TokenizedText text_of(const std::vector<std::string>& pieces) {
  TokenizedText text;
  TokenId id = 10;
  for (const std::string& piece : pieces) {
    text.tokens.push_back(token_of(piece, id++));
  }
  return text;
}

constexpr TourOptionNames kNames = {"--head", "--query", "--truncate right", "--temperature",
                                    "--help", "",        "heads -m x"};

TourHead example(HeadId head, std::vector<float> weights, ExpectedLook look) {
  TourHead made;
  made.score = {head, 0.9, 0.125, 4, 3};
  made.text = text_of({"a", " b", " c"});
  made.look = look;
  made.weights = std::move(weights);
  return made;
}

// "The cat sat" at the head whose numbers are in sample_inspection.h: q·k = 2, 4, 2, divided by √4
// = 2 that is 1, 2, 1, so that the weights are 1 : e : 1 over their sum.
class TourByHand {
 public:
  TourByHand() : model_(test::model_by_hand()) {
    tour.text = text_of({"The", " cat", " sat"});
    tour.text.source = "The cat sat";
    tour.n_whole = 3;
    tour.n_heads = 4;
    tour.first_share = 0.25;
    tour.previous_share = 0.5;
    tour.n_list_words = 8;
    tour.embeddings = MatrixBuffer(3, 3);
    tour.embeddings.view()(1, 0) = 0.5f;
    const std::vector<std::string_view> pieces = {"The", " cat", " sat"};
    const std::vector<HeadId> heads = {{0, 0}};
    tour.inspection = std::move(
        inspect_heads(model_, pieces, {}, heads, /*query=*/2, /*all_queries=*/true).front());
    tour.previous = example({0, 1}, {0.0f, 0.75f, 0.25f}, {2, 1});
    tour.induction = example({0, 2}, {0.25f, 0.25f, 0.5f}, {2, 1});
    tour.pronoun = example({0, 0}, {0.9f, 0.05f, 0.05f}, {2, 0, 1});
    tour.temperatures = {{0.5f, {0.1f, 0.8f, 0.1f}, 0.92},
                         {1.0f, {0.212f, 0.576f, 0.212f}, 1.41},
                         {2.0f, {0.274f, 0.452f, 0.274f}, 1.54}};
  }

  std::string screen(std::size_t i, const TerminalOptions& options = kPlain) const {
    return render_tour_screen(tour, i, options, kNames);
  }

  Tour tour;

 private:
  Model model_;
};

// Without line breaks: sentences may be wrapped anywhere.
std::string on_one_line(std::string text) {
  for (char& c : text) {
    c = c == '\n' ? ' ' : c;
  }
  return text;
}

Tour demo_tour(const Model& model, const std::string& text) {
  return make_tour(model, *demo_tokenizer(), text);
}

}  // namespace

TEST_CASE("tour screens: a title each, and a blank line after it") {
  const TourByHand hand;
  const char* titles[] = {
      "1 of 6: Tokens and embeddings",    "2 of 6: Query, key and value",
      "3 of 6: q·k, scaling and softmax", "4 of 6: The causal mask",
      "5 of 6: Heads that specialise",    "6 of 6: Temperature, and where to go next"};
  for (std::size_t i = 0; i < kTourScreens; ++i) {
    const std::vector<std::string> lines = test::screen_lines(hand.screen(i));
    CHECK(lines.at(0) == titles[i]);
    CHECK(lines.at(1).empty());
  }
}

TEST_CASE("tour screens: tokens with ids and numbers, and what makes them the same") {
  TourByHand hand;
  std::string screen = hand.screen(0);
  CHECK(test::contains(screen,
                       "token   id  embedding\n"
                       "0 The   10  0.0  0.0  0.0\n"
                       "1 ␠cat  11  0.5  0.0  0.0\n"
                       "2 ␠sat  12  0.0  0.0  0.0\n"));
  CHECK(test::contains(screen, "3 numbers, its embedding"));
  CHECK(test::contains(on_one_line(screen), "␠ marks the space before a word"));
  CHECK(!test::contains(screen, "begins every text"));  // no token was added

  hand.tour.text.tokens[2] = hand.tour.text.tokens[0];
  screen = on_one_line(hand.screen(0));
  CHECK(test::contains(screen,
                       "Tokens 0 and 2 are both \"The\": the same id, and so the same 3 numbers."));
  hand.tour.text.tokens[2] = token_of("the", 12);
  screen = on_one_line(hand.screen(0));
  CHECK(test::contains(screen, "\"The\" and \"the\" are different tokens with different ids"));
  hand.tour.n_whole = 1234;
  screen = on_one_line(hand.screen(0));
  CHECK(test::contains(screen,
                       "reads at most 3 tokens: of this text's 1,234 only the first 3 are used."));
}

TEST_CASE("tour screens: the vectors of the token being followed") {
  const TourByHand hand;
  const std::string screen = hand.screen(1);
  CHECK(test::contains(screen, "Head L0H0 is layer 0, head 0"));
  CHECK(test::contains(screen,
                       "Token 2, \"sat\", in this head:\n   x  0  0  1\n   q  2  0  0  2\n   k  0  "
                       "0  0  1\n   v  4  0\n"));
  CHECK(test::contains(on_one_line(screen), "q and k, 4 numbers each, and v, 2."));
  CHECK(!test::contains(screen, "RoPE"));  // this model has no rotation
}

TEST_CASE("tour screens: from q·k to weights, with numbers computed by hand") {
  const TourByHand hand;
  const std::string screen = hand.screen(2);
  CHECK(test::contains(screen,
                       "      key   q·k  s = q·k / √4  exp(s − max)  weight\n"
                       "   0  The  2.00          1.00        0.3679   21.2%  "));
  CHECK(test::contains(screen, "   1  cat  4.00          2.00        1.0000   57.6%  "));
  CHECK(test::contains(screen, "   2  sat  2.00          1.00        0.3679   21.2%  "));
  CHECK(test::contains(screen, "      sum                            1.7358  100.0%\n"));
  const std::string words = on_one_line(screen);
  CHECK(test::contains(words, ", 57.6 %, "));
  CHECK(test::contains(words,
                       "0.58·v(cat) + 0.21·v(The) + 0.21·v(sat) = (1.06, 1.15). A fourth matrix, "
                       "W_O, maps the sum to 3 numbers"));
}

TEST_CASE("tour screens: the triangle has a weight where a token is seen and a dot elsewhere") {
  TourByHand hand;
  std::string screen = hand.screen(3);
  // The q of the first two tokens is 0: they attend uniformly to all tokens that they see.
  CHECK(test::contains(screen,
                       "   query   0   1   2\n"
                       "   0 The 100   .   .\n"
                       "   1 cat  50  50   .\n"
                       "   2 sat  21  58  21\n"));
  CHECK(test::contains(screen, "\"The\" sees only itself, so all of its weight is there.\n"));
  CHECK(!test::contains(screen, "carries no meaning"));
  hand.tour.text.tokens[0].added = true;
  screen = on_one_line(hand.screen(3));
  CHECK(test::contains(screen,
                       "put their weight there: it gets 25 % on average over all 4 heads and all "
                       "other tokens that see it."));
  // Among the shown rows only one that gives the first token more than half is named.
  auto matrices = std::make_shared<InspectedMatrices>();
  matrices->weights = MatrixBuffer(3, 3);
  matrices->weights.view()(1, 0) = 0.75f;
  hand.tour.inspection.all = std::move(matrices);
  screen = on_one_line(hand.screen(3));
  CHECK(test::contains(screen,
                       "here \"cat\" puts 75 % on it; on average over all 4 heads and all other "
                       "tokens that see it, it gets 25 %."));
  CHECK(test::contains(screen, "A dot is a masked cell; 0 is less than half a percent."));
}

TEST_CASE("tour screens: examples describe their actual weights, even if these are unexpected") {
  const TourByHand hand;
  const std::string screen = on_one_line(hand.screen(4));
  CHECK(test::contains(screen,
                       "tested on a list of 8 words, repeated once, or (pronoun) on 4 other "
                       "sentences, with an example of each."));
  CHECK(test::contains(
      screen, "L0H1, previous token: 90 % of the weight is on it (50 % in screen 1's text)."));
  CHECK(test::contains(screen, "\"c\" puts 75 % on \"b\", the token before it."));
  CHECK(test::contains(screen,
                       "\"c\" puts 25 % on \"b\": what followed once may follow again; \"c\" "));
  CHECK(test::contains(screen, ", 50 %, "));
  CHECK(test::contains(screen, " itself."));
  CHECK(test::contains(screen, "pronoun: 90 % is on the animal, 12 % on the place."));
  CHECK(test::contains(screen, "in 3 of 4 sentences the animal gets more "));
  CHECK(test::contains(hand.screen(4), "    a    b    c\n    0%  75%  25%\n"));
  CHECK(!test::contains(screen, "is the best at"));
}

TEST_CASE("tour screens: a token after the example's query is a dot, with a sentence on why") {
  TourByHand hand;
  hand.tour.pronoun = example({0, 0}, {0.9f, 0.1f, 0.0f}, {1, 0});
  hand.tour.pronoun.text.source = "a b c";
  hand.tour.pronoun.text.tokens[1].end = 3;
  const std::string screen = hand.screen(4);
  CHECK(test::contains(screen, "\n    90%  10%  .\n"));
  CHECK(test::contains(on_one_line(screen), "\"b\" cannot see the later words \"c\"."));
}

TEST_CASE("tour screens: a sentence points out a head that has two jobs, or three") {
  TourByHand hand;
  hand.tour.pronoun.score.head = {0, 2};
  CHECK(test::contains(on_one_line(hand.screen(4)), " L0H2 is the best at two. "));
  hand.tour.pronoun.score.head = {0, 1};
  CHECK(test::contains(on_one_line(hand.screen(4)), " L0H1 is the best at two. "));
  hand.tour.induction.score.head = {0, 1};
  CHECK(test::contains(on_one_line(hand.screen(4)), " L0H1 is the best at all three. "));
}

TEST_CASE(
    "tour screens: jobs that no head of a model does are left out, with a sentence about it") {
  TourByHand hand;
  CHECK(tour_screens(hand.tour) == 6);
  CHECK(tour_left_out(hand.tour).empty());
  hand.tour.induction.found = false;
  std::string screen = on_one_line(hand.screen(4));
  CHECK(test::contains(
      screen,
      "Here is the best of 4 heads for each of two jobs, tested on a list of 8 words, repeated "
      "once, or (pronoun) on 4 other sentences, with an example of each."));
  CHECK(!test::contains(screen, "may follow again"));
  CHECK(test::contains(
      screen,
      "No head of this model has the job induction; heads -m x shows every head's scores."));
  hand.tour.pronoun.found = false;
  screen = on_one_line(hand.screen(4));
  CHECK(test::contains(screen, "Here is the best of 4 heads for one job, tested on a list"));
  CHECK(test::contains(screen, "has the job induction or pronoun;"));
  CHECK(!test::contains(on_one_line(hand.screen(1)), "stands for"));
  hand.tour.previous.found = false;
  hand.tour.is_causal = false;
  REQUIRE(tour_screens(hand.tour) == 4);
  CHECK(hand.screen(3).starts_with("4 of 4: Temperature, and where to go next\n"));
  const std::vector<std::string> left_out = tour_left_out(hand.tour);
  REQUIRE(left_out.size() == 2);
  CHECK(left_out[0].starts_with("without the screen \"The causal mask\": "));
  CHECK(left_out[1].starts_with("without the screen \"Heads that specialise\": "));
}

TEST_CASE("tour screens: commands name the model unless it is the default one") {
  const TourByHand hand;
  TourOptionNames names = kNames;
  names.model = " -m x";
  const std::string screen = render_tour_screen(hand.tour, 5, kPlain, names);
  CHECK(test::contains(screen, "   attnviz -m x \"$TEXT\"  "));
  CHECK(test::contains(screen, "   attnviz inspect -m x \"$TEXT\" --head 0.0 --query 2  "));
}

TEST_CASE("tour screens: no minus before numbers rounded to zero, and no term of 0.00") {
  TourByHand hand;
  hand.tour.inspection.scores = {-0.001f, -0.004f, -0.006f};
  hand.tour.inspection.context = {-0.001f, 0.5f};
  hand.tour.inspection.weights = {0.001f, 0.997f, 0.002f};
  const std::string screen = hand.screen(2);
  CHECK(!test::contains(screen, "-0.00"));
  CHECK(test::contains(screen, "   2  sat  -0.01  "));
  CHECK(test::contains(on_one_line(screen), ": 1.00·v(cat) + … = (0.00, 0.50)."));
}

TEST_CASE("tour screens: a sentence where the head does not find what a pronoun means") {
  constexpr const char* kMissed = "Here the head does not find whom \"she\" means;";
  TourByHand hand;
  hand.tour.text.tokens[2].text = " she";
  const auto reports_miss = [&hand](std::vector<float> weights) {
    hand.tour.inspection.weights = std::move(weights);
    return test::contains(on_one_line(hand.screen(2)), kMissed);
  };
  CHECK(!reports_miss({0.2f, 0.1f, 0.7f}));  // no pronoun is followed
  hand.tour.follows_pronoun = true;
  CHECK(reports_miss({0.2f, 0.1f, 0.7f}));  // itself
  CHECK(!reports_miss({0.2f, 0.7f, 0.1f}));
  hand.tour.text.tokens[1].text = "。";
  CHECK(reports_miss({0.2f, 0.7f, 0.1f}));
  CHECK(reports_miss({0.7f, 0.2f, 0.1f}));  // "The"
  hand.tour.text.tokens[0].text = "Anna";
  CHECK(!reports_miss({0.7f, 0.2f, 0.1f}));
  hand.tour.text.tokens[0].added = true;
  CHECK(reports_miss({0.7f, 0.2f, 0.1f}));
}

TEST_CASE("tour screens: temperatures side by side, with their entropies") {
  TourByHand hand;
  std::string screen = hand.screen(5);
  CHECK(test::contains(screen, "      key             T = 0.5            T = 1          T = 2\n"));
  CHECK(test::contains(screen,
                       "   1  cat               80.0%  ████████  57.6%  █████▊  45.2%  ████▌\n"));
  CHECK(test::contains(screen, "      entropy (bits)     0.92             1.41           1.54\n"));
  CHECK(test::contains(on_one_line(screen),
                       ": 80.0 % at T = 0.5. A large T evens the weights out: 45.2 % at T = 2."));
  CHECK(test::contains(on_one_line(screen), "1.58 bits when 3 share it equally"));  // log2 3
  for (TourTemperature& row : hand.tour.temperatures) {
    row.weights = {0.5f, 0.5f, 0.0f};
  }
  CHECK(test::contains(on_one_line(hand.screen(5)), "Here it makes no visible difference"));
}

TEST_CASE("tour screens: commands contain the text only if a shell needs no escapes for it") {
  TourByHand hand;
  CHECK(test::contains(hand.screen(5), "   TEXT=\"The cat sat\"\n   attnviz \"$TEXT\"  "));
  CHECK(test::contains(hand.screen(5), "   attnviz inspect \"$TEXT\" --head 0.0 --query 2  "));
  for (const std::string text : {"cost $5 now", "say \"no\" now", "a `b` c", "wow! ok", "a\\b c"}) {
    CAPTURE(text);
    hand.tour.text.source = text;
    CHECK(test::contains(hand.screen(5), "TEXT='" + text + "'\n"));
    hand.tour.text.source = text + " it's";
    CHECK(test::contains(hand.screen(5), "TEXT=\"your text\"\n"));
  }
  for (const std::string text : {"two  spaces", "one after ", " one before", "it's here"}) {
    CAPTURE(text);
    hand.tour.text.source = text;
    CHECK(test::contains(hand.screen(5), "   TEXT=\"" + text + "\"\n"));
  }
  for (const char* text : {"-h now", "a\x1b b", "two\nlines here"}) {
    hand.tour.text.source = text;
    CAPTURE(text);
    const std::string screen = hand.screen(5);
    CHECK(test::contains(screen, "TEXT=\"your text\"\n"));
    CHECK(test::contains(screen, "attnviz inspect \"$TEXT\" --head 0.0  "));  // no index in it
  }
  hand.tour.text.source = "weights";  // the name of a command, too
  CHECK(test::contains(hand.screen(5), "TEXT=\"weights\"\n   attnviz show \"$TEXT\"  "));
  hand.tour.text.source = "die Katze saß";
  CHECK(test::contains(hand.screen(5), "TEXT=\"die Katze saß\"\n"));
  CHECK(test::contains(hand.screen(5, {TerminalStyle::kAscii, ColorDepth::kNone, 80}),
                       "TEXT=\"your text\"\n"));
  hand.tour.n_whole = 300;
  CHECK(test::contains(hand.screen(5), "attnviz \"$TEXT\" --head 0.0 --truncate right"));
}

TEST_CASE("tour screens: a text wider than the page is assigned in lines that a shell joins") {
  TourByHand hand;
  const TerminalOptions narrow{TerminalStyle::kBlocks, ColorDepth::kNone, 40};
  hand.tour.text.source = "The old man and the small dog  walked to the big house near the river";
  CHECK(test::contains(hand.screen(5, narrow),
                       "   TEXT=\"The old man and the small \"\\\n"
                       "\"dog  walked to the big house near \"\\\n"
                       "\"the river\"\n"));
  hand.tour.text.source = "say \"no\" to the small dog near the river";
  CHECK(test::contains(hand.screen(5, narrow),
                       "   TEXT='say \"no\" to the small dog '\\\n'near the river'\n"));
  hand.tour.text.source = std::string(50, 'a') + " word";
  CHECK(test::contains(hand.screen(5, narrow), "TEXT=\"your text\"\n"));
  hand.tour.text.source.clear();
  for (int i = 0; i < 30; ++i) {
    hand.tour.text.source += "word ";
  }
  CHECK(test::contains(hand.screen(5, narrow), "TEXT=\"your text\"\n"));
}

TEST_CASE("tour screens: a sentence on texts that the vocabulary splits into fragments") {
  const Model model = demo_model();
  const auto first_screen = [&model](const char* text) {
    return on_one_line(render_tour_screen(demo_tour(model, text), 0, kPlain, kNames));
  };
  // Two three-byte characters, one piece each, and the space before them.
  CHECK(test::contains(first_screen("猫座"), " of 7 tokens are fragments of words"));
  CHECK(!test::contains(first_screen("The cat sat on the mat"), "fragments of words"));
}

TEST_CASE("tour screens: any text fits any width, in 7 bits with ascii") {
  const Model model = demo_model();
  std::string long_text;
  for (int i = 0; i < 120; ++i) {
    long_text += "The cat sat on it. ";
  }
  const std::string fourteen_words =
      "one two three four five six seven eight nine ten eleven twelve thirteen fourteen";
  const std::vector<std::string> texts = {"The cat sat on the mat because it was tired",
                                          "a",
                                          "猫がマットに座った",
                                          "👩‍👩‍👧 🎉",
                                          "\x1b[31mred\a\t\r\nend",
                                          "\xff\xfe\x80",
                                          "the the the the the",
                                          "50 % of 100 %",
                                          "\u202e abc \u200b",
                                          std::string(300, 'a'),
                                          fourteen_words,
                                          "🎉 🎈 🎂 🎁 🎊 party 🎉 🎈 🎂 🎁 🎊",
                                          "Anna met Tom in the garden near the house and she",
                                          long_text};
  for (const std::string& text : texts) {
    CAPTURE(text);
    const Tour tour = demo_tour(model, text);
    for (std::size_t screen = 0; screen < kTourScreens; ++screen) {
      for (const std::size_t columns : {20U, 40U, 80U, 200U}) {
        CAPTURE(screen);
        CAPTURE(columns);
        const std::string ascii = render_tour_screen(
            tour, screen, {TerminalStyle::kAscii, ColorDepth::kNone, columns}, kNames);
        for (const char c : ascii) {
          REQUIRE((c == '\n' || (c >= ' ' && c <= '~')));
        }
        const std::string blocks = render_tour_screen(
            tour, screen, {TerminalStyle::kBlocks, ColorDepth::kNone, columns}, kNames);
        const std::string colored = render_tour_screen(
            tour, screen, {TerminalStyle::kBlocks, ColorDepth::k256, columns}, kNames);
        CHECK(!test::contains(blocks, "\x1b"));
        CHECK(test::contains(colored, "\x1b["));
        CHECK(test::without_escapes(colored) == blocks);
        for (const std::string& drawn : {ascii, blocks}) {
          for (const std::string& line : test::screen_lines(drawn)) {
            CAPTURE(line);
            CHECK(display_width(line) <= std::min<std::size_t>(columns, 100));
          }
          CHECK(
              (columns < 80 || test::screen_lines(drawn).size() <= 22));  // and a prompt: 24 lines
        }
      }
    }
  }
}

}  // namespace attnviz
