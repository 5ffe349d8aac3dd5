// Scenes as SVG, against the same scenes as pixels.
#include "attnviz/picture/vector/svg_writer.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <regex>
#include <set>
#include <string>
#include <utility>

#include "attnviz/formats/base64.h"
#include "attnviz/picture/figure_file.h"
#include "attnviz/picture/raster/scene_painter.h"
#include "picture/decoded_png.h"
#include "support/run_program.h"
#include "support/sample_heatmap.h"
#include "support/stopwatch.h"

namespace attnviz {
namespace {

constexpr Rgb kSheetPaper{250, 250, 240};
constexpr Rgb kSheetInk{200, 10, 20};

Scene svg_sheet(int width, int height) {
  Scene scene;
  scene.width = width;
  scene.height = height;
  scene.background = kSheetPaper;
  return scene;
}

// The paths of rectangles, painted; in `skipped` those that are filled otherwise.
Canvas painted_paths(const std::string& svg, int width, int height, int& n_skipped) {
  Canvas canvas(width, height, {1, 2, 3});
  const std::regex path(R"x(<path fill="([^"]*)" d="([^"]*)"/>)x");
  const std::regex rect(R"(M(\d+) (\d+)h(\d+)v(\d+)h-(\d+)z)");
  const std::regex color("#(..)(..)(..)");
  for (std::sregex_iterator one(svg.begin(), svg.end(), path), end; one != end; ++one) {
    const std::string paint = (*one)[1];
    const std::string rects = (*one)[2];
    std::smatch parts;
    if (!std::regex_match(paint, parts, color)) {
      ++n_skipped;
      continue;
    }
    const auto channel = [&](std::size_t i) {
      return static_cast<std::uint8_t>(std::stoi(parts[i], nullptr, 16));
    };
    std::size_t n_used = 0;
    for (std::sregex_iterator part(rects.begin(), rects.end(), rect); part != end; ++part) {
      CHECK((*part)[3] == (*part)[5]);
      canvas.fill({std::stoi((*part)[1]), std::stoi((*part)[2]), std::stoi((*part)[3]),
                   std::stoi((*part)[4])},
                  {channel(1), channel(2), channel(3)});
      n_used += (*part)[0].str().size();
    }
    CHECK(n_used == rects.size());
  }
  return canvas;
}

bool is_same(const Canvas& one, const Canvas& other) {
  for (int y = 0; y < one.height(); ++y) {
    for (int x = 0; x < one.width(); ++x) {
      if (!(one.at(x, y) == other.at(x, y))) {
        return false;
      }
    }
  }
  return true;
}

CellImage cells(std::size_t rows, std::size_t cols, int pitch, int gap, int left = 3) {
  auto colors = std::make_shared<CellColors>();
  colors->rows = rows;
  colors->cols = cols;
  colors->palette = {{200, 10, 20}, {10, 20, 200}, {0, 0, 0}};
  for (std::size_t i = 0; i < rows * cols; ++i) {
    colors->numbers.push_back(static_cast<std::uint8_t>(i * i % 7 % 3));
  }
  const auto side = [&](std::size_t n) { return static_cast<int>(n) * pitch - gap; };
  return {{left, 5, side(cols), side(rows)}, pitch, pitch, gap, gap, colors};
}

TextRun run_of(const std::string& text, std::size_t columns, TextAngle angle) {
  return {TextRole::kPlain, text, columns, 7, angle, 40, 30, {0x33, 0x44, 0x55}};
}

}  // namespace

TEST_CASE("SVG: rectangles and cells cover the same pixels as in a PNG") {
  for (const int gap : {0, 1, 2}) {
    CAPTURE(gap);
    Scene scene = svg_sheet(60, 50);
    scene.items.emplace_back(Rectangle{{0, 1, 9, 3}, kSheetInk});
    scene.items.emplace_back(Rectangle{{20, 1, 9, 9}, kSheetInk});
    scene.items.emplace_back(Rectangle{{4, 4, 0, 9}, {0, 0, 0}});
    scene.items.emplace_back(cells(4, 6, 7, gap, gap == 1 ? 0 : 3));
    scene.items.emplace_back(Rectangle{{10, 10, 30, 3}, kSheetInk});
    int n_skipped = 0;
    const Canvas found = painted_paths(scene_svg(scene, {}), 60, 50, n_skipped);
    CHECK(n_skipped == 0);
    CHECK(is_same(found, paint(scene, FontSet::embedded())));
  }
}

TEST_CASE("SVG: very many cells become an image, and its gaps are masked") {
  for (const int gap : {0, 2}) {
    CAPTURE(gap);
    Scene scene = svg_sheet(300, 300);
    scene.items.emplace_back(cells(40, 40, 7, gap));
    const std::string svg = scene_svg(scene, {});
    const std::string front = "base64,";
    const std::size_t begin = svg.find(front) + front.size();
    const std::size_t end = svg.find('"', begin);
    REQUIRE(end != std::string::npos);
    const test::DecodedPng png =
        test::decode_png(decoded_base64(svg.substr(begin, end - begin), "image: "));
    CHECK(png.width == 280 - gap);
    CHECK(png.height == png.width);
    const std::string image_tag =
        fmt::format("<image x=\"3\" y=\"5\" width=\"{0}\" height=\"{0}\"", png.width);
    CHECK(svg.find(image_tag) != std::string::npos);
    const bool is_masked = svg.find("mask=\"url(#cells1-") != std::string::npos;
    CHECK(is_masked == (gap > 0));
    const Canvas painted = paint(scene, FontSet::embedded());
    for (int row = 0; row < 40; ++row) {
      for (int col = 0; col < 40; ++col) {
        REQUIRE(png.is_filled(7 * col, 7 * row, 7 - gap, 7 - gap,
                              painted.at(3 + 7 * col, 5 + 7 * row)));
      }
    }
  }
}

TEST_CASE("SVG: an image is cut into parts that every XML library can read") {
  constexpr std::size_t kSide = 3000;
  auto colors = std::make_shared<CellColors>();
  colors->rows = colors->cols = kSide;
  for (int i = 0; i < 256; ++i) {
    colors->palette.push_back({static_cast<std::uint8_t>(i), 0, 0});
  }
  std::uint32_t state = 1;
  for (std::size_t i = 0; i < kSide * kSide; ++i) {
    state = state * 1664525 + 1013904223;
    colors->numbers.push_back(static_cast<std::uint8_t>(state >> 24));
  }
  Scene scene = svg_sheet(kSide + 2, kSide + 2);
  constexpr int kPixels = static_cast<int>(kSide);
  scene.items.emplace_back(CellImage{{1, 2, kPixels, kPixels}, 1, 1, 0, 0, colors});
  const std::string svg = scene_svg(scene, {});
  const std::string front = "base64,";
  int y = 2;
  std::size_t begin = svg.find("<image");
  for (; begin != std::string::npos; begin = svg.find("<image", begin + 1)) {
    const std::size_t bytes = svg.find(front, begin) + front.size();
    const std::string coded = svg.substr(bytes, svg.find('"', bytes) - bytes);
    CHECK(coded.size() < 10'000'000);
    const test::DecodedPng png = test::decode_png(decoded_base64(coded, "image: "));
    const std::string image_tag = "<image x=\"1\" y=\"" + std::to_string(y) +
                                  "\" width=\"3000\" height=\"" + std::to_string(png.height) + "\"";
    CHECK(svg.compare(begin, image_tag.size(), image_tag) == 0);
    bool is_same = true;
    for (int row = 0; row < png.height; ++row) {
      for (int x = 0; x < png.width; ++x) {
        const std::uint8_t expected =
            colors->number(static_cast<std::size_t>(y) - 2 + static_cast<std::size_t>(row),
                           static_cast<std::size_t>(x));
        is_same = is_same && png.at(x, row).r == expected;
      }
    }
    CHECK(is_same);
    y += png.height;
  }
  CHECK(y == 2 + kPixels);
}

TEST_CASE("SVG: a hatch is a pattern with the same lines as in a PNG, shared by equal hatches") {
  Scene scene = svg_sheet(40, 40);
  scene.items.emplace_back(Hatch{{2, 3, 20, 20}, kSheetInk, 6, 2});
  scene.items.emplace_back(Hatch{{22, 3, 10, 20}, kSheetInk, 6, 2});
  const std::string svg = scene_svg(scene, {});
  std::smatch lines;
  REQUIRE(std::regex_search(
      svg, lines,
      std::regex(R"x(<pattern id="(hatch0-[0-9a-f]{16})" x="0.5" width="6" height="6")x"
                 R"x([^>]*><path [^>]*d="M0 0h(\d)L0 \dzM6 0v(\d)L\d 6h-\dz")x")));
  CHECK(lines[2] == "2");
  CHECK(lines[3] == "2");
  CHECK(svg.find("hatch1") == std::string::npos);
  CHECK(svg.find("<path fill=\"url(#" + lines[1].str() +
                 R"x()" d="M2 3h20v20h-20zM22 3h10v20h-10z"/>)x") != std::string::npos);
  // According to the file: a pixel is inked if its centre, half a pixel to the left, lies between
  // the pattern's lines.
  const Canvas painted = paint(scene, FontSet::embedded());
  for (int y = 3; y < 23; ++y) {
    for (int x = 2; x < 32; ++x) {
      const int sum = (x + y + 1) * 2 - 1;  // in halves of pixels
      REQUIRE((painted.at(x, y) == kSheetInk) == (sum % 12 < 4));
    }
  }
}

TEST_CASE("SVG: two pictures in one page share no id, and one picture always has the same ids") {
  const auto ids_of = [](Rgb background) {
    Scene scene = svg_sheet(300, 300);
    scene.background = background;
    scene.items.emplace_back(cells(40, 40, 7, 2));
    scene.items.emplace_back(Hatch{{2, 3, 20, 20}, kSheetInk, 6, 2});
    const std::string svg = scene_svg(scene, {});
    const auto all = [&](const std::regex& what) {
      std::set<std::string> found;
      for (std::sregex_iterator one(svg.begin(), svg.end(), what), end; one != end; ++one) {
        found.insert((*one)[1]);
      }
      return found;
    };
    std::set<std::string> ids = all(std::regex(R"x( id="([^"]*)")x"));
    CHECK(ids.size() == 3);
    CHECK(all(std::regex(R"x(url\(#([^)]*)\))x")) == ids);
    return ids;
  };
  const std::set<std::string> light = ids_of({255, 255, 255});
  CHECK(ids_of({255, 255, 255}) == light);
  for (const std::string& id : ids_of({0, 0, 0})) {
    CHECK(light.count(id) == 0);
  }
}

TEST_CASE("SVG: cells of one colour are one path over all grids, unless something covers them") {
  Scene scene = svg_sheet(200, 100);
  const auto n_paths = [&] {
    const std::string svg = scene_svg(scene, {});
    int n_skipped = 0;
    CHECK(is_same(painted_paths(svg, 200, 100, n_skipped), paint(scene, FontSet::embedded())));
    std::size_t count = 0;
    for (std::size_t at = svg.find("<path"); at != std::string::npos;
         at = svg.find("<path", at + 1)) {
      ++count;
    }
    return count;
  };
  scene.items.emplace_back(cells(4, 6, 7, 1, 3));
  scene.items.emplace_back(Rectangle{{60, 1, 9, 9}, kSheetInk});
  scene.items.emplace_back(cells(4, 6, 7, 1, 80));
  CHECK(n_paths() == 5);  // background, rectangle, three colours
  scene.items.emplace_back(Rectangle{{90, 10, 5, 5}, kSheetInk});
  scene.items.emplace_back(cells(4, 6, 7, 1, 100));
  CHECK(n_paths() == 9);
}

TEST_CASE("SVG: very many grids with a text each are written in reasonable time") {
  constexpr int kColumns = 500;
  Scene scene = svg_sheet(20 * kColumns, 8'000);
  TextRun title;
  title.text = "L";
  title.columns = 1;
  title.column_width = 4;
  for (int i = 0; i < 200'000; ++i) {
    CellImage image = cells(1, 1, 2, 0, 20 * (i % kColumns));
    image.rect.y = 20 * (i / kColumns);
    scene.items.emplace_back(image);
    title.x = image.rect.x;
    title.y = image.rect.y + 8;
    scene.items.emplace_back(title);
  }
  test::check_in_time([&] { CHECK(scene_svg(scene, {}).ends_with("</svg>\n")); });
}

TEST_CASE("SVG: many small grids also become images, and very small ones stay paths") {
  Scene scene = svg_sheet(400, 400);
  for (int i = 0; i < 30; ++i) {
    scene.items.emplace_back(cells(20, 20, 2, 0, i));
  }
  scene.items.emplace_back(cells(4, 4, 2, 0, 300));
  CHECK(scene_svg(scene, {}).find("<image") == std::string::npos);
  for (int i = 0; i < 30; ++i) {
    scene.items.emplace_back(cells(20, 20, 2, 0, i));
  }
  const std::string svg = scene_svg(scene, {});
  CHECK(svg.find("<image") != std::string::npos);
  CHECK(svg.find("M300 5h") != std::string::npos);
}

TEST_CASE("SVG: texts keep their spaces, by an attribute") {
  const std::string keeps = R"(xml:space="preserve")";
  for (const std::string text : {"  x", "x ", "q  k"}) {
    CAPTURE(text);
    Scene scene = svg_sheet(200, 100);
    scene.items.emplace_back(run_of(text, 3, TextAngle::kLevel));
    const std::string svg = scene_svg(scene, {});
    const std::size_t begin = svg.find("<text");
    CHECK(svg.find(keeps, begin) < svg.find(text + "</text>", begin));
  }
  Scene scene = svg_sheet(200, 100);
  scene.items.emplace_back(run_of("a b", 3, TextAngle::kLevel));
  CHECK(scene_svg(scene, {}).find(keeps) == std::string::npos);
}

TEST_CASE("SVG: joined letters get their width from a span, which Inkscape does not change") {
  Scene scene = svg_sheet(200, 100);
  scene.items.emplace_back(run_of("\xD8\xB3\xD9\x84\xD8\xA7\xD9\x85", 4, TextAngle::kLevel));
  scene.items.emplace_back(run_of("na\xC3\xAFve", 5, TextAngle::kLevel));
  const std::string svg = scene_svg(scene, {});
  CHECK(svg.find("><tspan textLength=\"28\" lengthAdjust=\"spacingAndGlyphs\">"
                 "\xD8\xB3\xD9\x84\xD8\xA7\xD9\x85</tspan></text>") != std::string::npos);
  CHECK(svg.find(" textLength=\"35\" lengthAdjust=\"spacingAndGlyphs\">na\xC3\xAFve</text>") !=
        std::string::npos);
}

TEST_CASE("SVG: texts remain texts, escaped, with the position and width of the scene") {
  Scene scene = svg_sheet(200, 100);
  scene.items.emplace_back(run_of("</text><script>&", 16, TextAngle::kLevel));
  scene.items.emplace_back(run_of("up", 2, TextAngle::kUp));
  scene.items.emplace_back(run_of("\xE2\x90\xA0rising", 7, TextAngle::kRising));
  scene.items.emplace_back(run_of(std::string("a\x01\xEF\xBF\xBF"), 3, TextAngle::kLevel));
  const std::string svg = scene_svg(
      scene,
      {{"Title", "a < b\x1B\u202E"}, {"attnviz", "{\"a\": \"</\xE2\x90\xA0\xEF\xBF\xBE\"}"}});
  const auto has = [&](const std::string& part) {
    CAPTURE(part);
    CHECK(svg.find(part) != std::string::npos);
  };
  // DejaVu Sans Mono: columns of 7 pixels are 1233/2048 of its size; its ascent is 1901/2048.
  has(R"x(<text x="40" y="41" font-size="11.63" fill="#334455" textLength="112")x");
  has(">&lt;/text&gt;&lt;script&gt;&amp;</text>");
  has(R"x(<text y="11" transform="translate(40 30) rotate(-90)" font-size)x");
  has(R"x(<text y="11" transform="translate(40 30) rotate(-45)" font-size)x");
  has(">\xE2\x90\xA3rising</text>");
  has(">a\xEF\xBF\xBD\xEF\xBF\xBD</tspan></text>");
  has("<title>a &lt; b\\x1B\\u{202E}</title>");
  has("<metadata>attnviz: {\"a\": \"&lt;/\xE2\x90\xA0\\ufffe\"}");
  CHECK(svg.find("<script") == std::string::npos);
}

TEST_CASE("SVG: a picture with more pixels per inch has the same size on paper") {
  Scene scene = svg_sheet(300, 150);
  scene.dpi = 300;
  CHECK(scene_svg(scene, {}).find(R"(width="96" height="48" viewBox="0 0 300 150")") !=
        std::string::npos);
}

TEST_CASE("SVG: strokes of one colour are one path of lines and cubics") {
  Scene scene = svg_sheet(20, 12);
  scene.items.emplace_back(Strokes{
      {{{2.0, 3.5}, {8.0, 3.5}, 0.0}, {{2.0, 3.5}, {8.0, 9.0}, 2.0}}, 1.5, kSheetInk, 0.25});
  scene.items.emplace_back(Strokes{});
  const std::string svg = scene_svg(scene, {});
  CHECK(svg.find("<path fill=\"none\" stroke=\"#c80a14\" stroke-width=\"1.5\" "
                 "stroke-opacity=\"0.25\" stroke-linecap=\"round\" shape-rendering=\"auto\" "
                 "d=\"M2 3.5L8 3.5M2 3.5C4 3.5 6 9 8 9\"/>\n") != std::string::npos);
  std::size_t n_strokes = 0;
  for (std::size_t at = svg.find("stroke-width"); at != std::string::npos;
       at = svg.find("stroke-width", at + 1)) {
    ++n_strokes;
  }
  CHECK(n_strokes == 1);
}

TEST_CASE("SVG: another program draws the picture like the PNG") {
  const std::filesystem::path program = "/usr/bin/rsvg-convert";
  if (!std::filesystem::exists(program)) {
    MESSAGE("SKIPPED: no " << program.string());
    return;
  }
  const test::SampleHeatmap sample(9, 2);
  for (const FigureTheme theme : {FigureTheme::kLight, FigureTheme::kDark}) {
    FigureStyle style;
    style.theme = theme;
    const test::TemporaryFolder folder;
    test::write_file(folder.file("a.svg"),
                     render_figure(sample.heatmap, style, {}, FigureFormat::kSvg));
    test::ProgramRun how;
    how.arguments = {folder.file("a.svg"), "-o", folder.file("a.png")};
    REQUIRE(test::run_program(program, how).exit_code == 0);
    const test::DecodedPng found = test::decode_png(test::read_file(folder.file("a.png")));
    const test::DecodedPng expected = test::decode_png(render_figure(sample.heatmap, style));
    REQUIRE(found.width == expected.width);
    REQUIRE(found.height == expected.height);
    // Edges of letters and of hatched lines are smoothed differently.
    int n_other = 0;
    for (std::size_t i = 0; i < found.rgb.size(); ++i) {
      n_other += std::abs(found.rgb[i] - expected.rgb[i]) > 64 ? 1 : 0;
    }
    CHECK(static_cast<double>(n_other) < 0.01 * static_cast<double>(found.rgb.size()));
  }
}

TEST_CASE("SVG: another program draws strokes like the PNG") {
  const std::filesystem::path program = "/usr/bin/rsvg-convert";
  if (!std::filesystem::exists(program)) {
    MESSAGE("SKIPPED: no " << program.string());
    return;
  }
  Scene scene = svg_sheet(200, 120);
  Strokes fan = {{}, 3.0, kSheetInk, 0.6};
  for (int i = 0; i < 6; ++i) {
    fan.curves.push_back({{20.0, 10.0}, {180.0, 10.0 + 20.0 * i}, 50.0});
    fan.curves.push_back({{20.0, 110.0}, {180.0, 10.0 + 20.0 * i}, 0.0});
  }
  scene.items.emplace_back(fan);
  const test::TemporaryFolder folder;
  test::write_file(folder.file("a.svg"), scene_svg(scene, {}));
  test::ProgramRun how;
  how.arguments = {folder.file("a.svg"), "-o", folder.file("a.png")};
  REQUIRE(test::run_program(program, how).exit_code == 0);
  const test::DecodedPng found = test::decode_png(test::read_file(folder.file("a.png")));
  const test::DecodedPng expected = test::decode_png(scene_png(scene, FontSet::embedded(), {}));
  REQUIRE(found.rgb.size() == expected.rgb.size());
  // Edges are smoothed differently.
  int n_other = 0;
  for (std::size_t i = 0; i < found.rgb.size(); ++i) {
    n_other += std::abs(found.rgb[i] - expected.rgb[i]) > 48 ? 1 : 0;
  }
  CHECK(static_cast<double>(n_other) < 0.01 * static_cast<double>(found.rgb.size()));
}

TEST_CASE("scene_svg: a requested width is written in its unit, and the height in the same unit") {
  Scene scene = svg_sheet(1004, 502);
  scene.dpi = 300;
  CHECK(scene_svg(scene, {}).find(R"( width="321.28" height="160.64" viewBox="0 0 1004 502")") !=
        std::string::npos);
  scene.length = Length{85.0, LengthUnit::kMillimetres};
  CHECK(scene_svg(scene, {}).find(R"( width="85mm" height="42.5mm" viewBox="0 0 1004 502")") !=
        std::string::npos);
  scene.length = Length{3.25, LengthUnit::kInches};
  CHECK(scene_svg(scene, {}).find(R"( width="3.25in" height="1.625in" )") != std::string::npos);
  scene.length = Length{1004.0, LengthUnit::kPixels};
  CHECK(scene_svg(scene, {}).find(R"( width="1004px" height="502px" )") != std::string::npos);
}

}  // namespace attnviz
