#include "attnviz/picture/figure_file.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "attnviz/color/group_colors.h"
#include "attnviz/core/error.h"
#include "picture/decoded_png.h"
#include "support/sample_inspection.h"

namespace attnviz {
namespace {

using test::DecodedPng;
using test::SampleInspection;

constexpr Rgb kBar{0x6E, 0x6E, 0x6E};
constexpr Rgb kBarGround{0xF0, 0xF0, 0xF0};
constexpr Rgb kWhitePaper{0xFF, 0xFF, 0xFF};

DecodedPng figure_of(const InspectionPage& page) {
  return test::decode_png(render_inspection_figure(page));
}

// The lengths in pixels of the bars in each row that has some, once per bar.
std::vector<int> bar_lengths(const DecodedPng& picture) {
  std::vector<int> lengths;
  bool in_bar = false;
  for (int y = 0; y < picture.height; ++y) {
    int filled = 0;
    int ground = 0;
    for (int x = 300; x < picture.width; ++x) {
      filled += picture.at(x, y) == kBar ? 1 : 0;
      ground += picture.at(x, y) == kBarGround ? 1 : 0;
    }
    const bool is_bar = filled + ground > 100;
    if (is_bar && !in_bar) {
      lengths.push_back(filled);
    }
    in_bar = is_bar;
  }
  return lengths;
}

bool has_color(const DecodedPng& picture, Rgb color) {
  for (int y = 0; y < picture.height; ++y) {
    for (int x = 0; x < picture.width; ++x) {
      if (picture.at(x, y) == color) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

TEST_CASE("inspection figure: bars are as long as the weights") {
  const SampleInspection sample(test::model_by_hand(), {"The", "cat", "sat"}, 2);
  const std::vector<int> bars = bar_lengths(figure_of(sample.page));
  REQUIRE(bars.size() == 3);
  // e / (e + 2) and 1 / (e + 2)
  CHECK(bars[0] == bars[2]);
  CHECK(static_cast<double>(bars[1]) / bars[0] == doctest::Approx(std::exp(1.0)).epsilon(0.02));
}

TEST_CASE("inspection figure: query, key and value have the same hues as in the terminal") {
  const SampleInspection sample(test::model_by_hand(), {"The", "cat", "sat"}, 2);
  const DecodedPng picture = figure_of(sample.page);
  CHECK(has_color(picture, role_color(InspectionRole::kQuery)));
  CHECK(has_color(picture, role_color(InspectionRole::kKey)));
  CHECK(has_color(picture, role_color(InspectionRole::kValue)));
}

TEST_CASE("inspection figure: on a dark background only text is bright") {
  const SampleInspection sample(test::model_by_hand(), {"The", "cat", "sat"}, 2);
  FigureStyle style;
  style.theme = FigureTheme::kDark;
  const DecodedPng picture =
      test::decode_png(render_inspection_figure(sample.page, style, FigureFormat::kPng));
  std::size_t n_bright = 0;
  for (int y = 0; y < picture.height; ++y) {
    for (int x = 0; x < picture.width; ++x) {
      n_bright += luminance(picture.at(x, y)) > 0.5 ? 1U : 0U;
    }
  }
  const auto n_pixels =
      static_cast<std::size_t>(picture.width) * static_cast<std::size_t>(picture.height);
  CHECK(n_bright < n_pixels / 25);
}

TEST_CASE("inspection figure: warnings are red, the note on the model's origin is not") {
  constexpr Rgb kRed{0xB0, 0x10, 0x10};
  SampleInspection sample(test::model_by_hand(), {"The", "cat", "sat"}, 2);
  CHECK_FALSE(has_color(figure_of(sample.page), kRed));
  const int height = figure_of(sample.page).height;
  sample.page.remarks = {"trained on generated text"};
  CHECK_FALSE(has_color(figure_of(sample.page), kRed));
  CHECK(figure_of(sample.page).height > height);
  sample.page.notes = {"RANDOM WEIGHTS"};
  CHECK(has_color(figure_of(sample.page), kRed));
}

TEST_CASE("inspection figure: nothing is clipped at the edges, for short and long texts") {
  for (const std::size_t n_tokens : {1u, 3u, 30u, 300u}) {
    CAPTURE(n_tokens);
    std::vector<std::string> tokens = test::numbered_tokens(n_tokens);
    tokens[0] = "a very long token that nobody could ever read in a column of labels";
    SampleInspection sample(test::random_head(n_tokens, Positions::kAlibi), tokens, n_tokens - 1);
    sample.page.explain = true;
    sample.page.title = std::string(300, 'x');
    sample.page.notes = {std::string(300, 'y')};
    sample.page.remarks = {std::string(300, 'z')};
    const DecodedPng picture = figure_of(sample.page);
    for (int y = 0; y < picture.height; ++y) {
      for (const int x : {0, 10, picture.width - 11, picture.width - 1}) {
        REQUIRE(picture.at(x, y) == kWhitePaper);
      }
    }
    for (int x = 0; x < picture.width; ++x) {
      REQUIRE(picture.at(x, 5) == kWhitePaper);
      REQUIRE(picture.at(x, picture.height - 5) == kWhitePaper);
    }
  }
}

TEST_CASE(
    "inspection figure: fewer steps make a lower figure, the same page gives the same bytes") {
  SampleInspection sample(test::model_by_hand(), {"The", "cat", "sat"}, 2);
  const std::string whole = render_inspection_figure(sample.page);
  CHECK(whole == render_inspection_figure(sample.page));
  sample.page.steps = {InspectionStep::kSoftmax};
  CHECK(figure_of(sample.page).height < test::decode_png(whole).height / 2);
}

TEST_CASE("inspection figure: the file contains title, program, facts and resolution") {
  SampleInspection sample(test::model_by_hand(), {"The", "cat", "sat"}, 2);
  sample.page.title = "hand\x1b.json";
  sample.page.facts = R"({"query": 2})";
  sample.page.steps = {InspectionStep::kQuery, InspectionStep::kValues};
  sample.page.explain = true;
  const std::string bytes = render_inspection_figure(sample.page);
  CHECK(test::has_sound_chunks(bytes));
  std::vector<std::string> texts;
  bool has_resolution = false;
  for (const test::PngChunk& chunk : test::chunks_of(bytes)) {
    if (chunk.type == "iTXt") {
      texts.push_back(chunk.data);
    }
    has_resolution = has_resolution || chunk.type == "pHYs";
  }
  const auto text = [](const std::string& keyword, const std::string& value) {
    return keyword + std::string(5, '\0') + value;
  };
  const std::string figure = R"({"steps": ["query", "values"], "explain": true})";
  CHECK(texts == std::vector<std::string>{
                     text("Title", "inspect: hand\\x1B.json"), text("Software", "attnviz"),
                     text("attnviz", R"({"query": 2})"), text("attnviz-figure", figure)});
  CHECK(has_resolution);
}

TEST_CASE("inspection figure: at twice the resolution it is twice as large, in the same order") {
  const SampleInspection sample(test::model_by_hand(), {"The", "cat", "sat"}, 2);
  FigureStyle fine;
  fine.dpi = 192;
  const DecodedPng usual = figure_of(sample.page);
  const DecodedPng twice = test::decode_png(render_inspection_figure(sample.page, fine));
  CHECK(twice.width == 2 * usual.width);
  CHECK(std::abs(twice.height - 2 * usual.height) <= usual.height / 50);  // lines are rounded
  const std::vector<int> bars = bar_lengths(usual);
  const std::vector<int> fine_bars = bar_lengths(twice);
  REQUIRE(fine_bars.size() == bars.size());
  for (std::size_t i = 0; i < bars.size(); ++i) {
    CHECK(std::abs(fine_bars[i] - 2 * bars[i]) <= 2);
  }
}

TEST_CASE("inspection figure: the dark theme has a dark background and other greys") {
  const SampleInspection sample(test::model_by_hand(), {"The", "cat", "sat"}, 2);
  FigureStyle style;
  style.theme = FigureTheme::kDark;
  const DecodedPng dark = test::decode_png(render_inspection_figure(sample.page, style));
  CHECK(dark.at(2, 2) == kDarkColors.background);
  CHECK(dark.at(dark.width - 3, dark.height - 3) == kDarkColors.background);
  CHECK_FALSE(has_color(dark, kBarGround));
  CHECK_FALSE(has_color(dark, kBar));
  CHECK_FALSE(has_color(dark, role_color(InspectionRole::kQuery)));  // too dark there
  CHECK(dark.height == figure_of(sample.page).height);
}

TEST_CASE("inspection figure: at a given width nothing is clipped, from the smallest width on") {
  for (const std::size_t n_tokens : {1U, 3U, 30U}) {
    std::vector<std::string> tokens = test::numbered_tokens(n_tokens);
    tokens[0] = "a very long token that nobody could ever read in a column of labels";
    const SampleInspection sample(test::random_head(n_tokens, Positions::kAlibi), tokens,
                                  n_tokens - 1);
    for (const double width : {300.0, 440.0, 700.0, 1700.0}) {
      CAPTURE(n_tokens);
      CAPTURE(width);
      FigureStyle style;
      style.width = Length{width, LengthUnit::kPixels};
      const DecodedPng picture = test::decode_png(render_inspection_figure(sample.page, style));
      CHECK(picture.width == static_cast<int>(width));
      std::size_t n_inked = 0;
      for (int y = 0; y < picture.height; ++y) {
        for (const int x : {0, 10, picture.width - 11, picture.width - 1}) {
          n_inked += picture.at(x, y) == kWhitePaper ? 0U : 1U;
        }
      }
      CHECK(n_inked == 0);
    }
    FigureStyle narrow;
    narrow.width = Length{299.0, LengthUnit::kPixels};
    CHECK_THROWS_WITH_AS(render_inspection_figure(sample.page, narrow),
                         "width: 299px is too narrow for this picture, which needs at least 300px",
                         Error);
  }
}

TEST_CASE("inspection figure: a title instead of the default one, or none") {
  SampleInspection sample(test::model_by_hand(), {"The", "cat", "sat"}, 2);
  const int height = figure_of(sample.page).height;
  sample.page.full_title = "Figure 3";
  const std::string named = render_inspection_figure(sample.page);
  CHECK(named.find("Figure 3") != std::string::npos);
  CHECK(named.find("inspect: ") == std::string::npos);
  sample.page.full_title = "";
  CHECK(figure_of(sample.page).height < height - 10);
}

}  // namespace attnviz
