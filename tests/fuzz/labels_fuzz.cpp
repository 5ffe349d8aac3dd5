// Lines of any bytes as tokens of a picture: PNG, SVG and terminal pages made from them hold
// nothing that a reader's program could execute.

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/utf8.h"
#include "attnviz/picture/figure_file.h"
#include "attnviz/report/heatmap.h"
#include "attnviz/terminal/views.h"
#include "fuzz/fuzz_checks.h"
#include "fuzz/fuzz_target.h"

namespace attnviz {

namespace {

using test::require;

constexpr std::size_t kMostLabels = 12;

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (lines.size() < kMostLabels) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    if (end == text.size()) {
      break;
    }
    text.remove_prefix(end + 1);
  }
  return lines;
}

void require_plain(std::string_view page) {
  require(is_utf8(page));
  for (std::size_t at = 0; at < page.size();) {
    const CodePoint point = decode_utf8(page, at);
    require(point.value == '\n' || (point.value >= ' ' && point.value != 0x7F &&
                                    !(point.value >= 0x80 && point.value < 0xA0)));
    require(!(point.value >= 0x202A && point.value <= 0x202E));
    at += point.length;
  }
}

void draw(const Heatmap& heatmap, std::size_t choice) {
  FigureStyle style;
  style.theme = choice % 2 == 0 ? FigureTheme::kLight : FigureTheme::kDark;
  style.cells = static_cast<CellStyle>(choice / 2 % 4);
  style.dpi = choice / 8 % 2 == 0 ? kUsualDpi : kLeastDpi;
  if (choice / 16 % 2 == 0) {
    require(render_figure(heatmap, style).starts_with("\x89PNG"));
  } else {
    const std::string svg = render_figure(heatmap, style, {}, FigureFormat::kSvg);
    require_plain(svg);
    require(svg.ends_with("</svg>\n"));
  }
}

void print(const Heatmap& heatmap, std::size_t choice) {
  const TerminalOptions options = {.style = static_cast<TerminalStyle>(choice % 5),
                                   .color = static_cast<ColorDepth>(choice / 8 % 4),
                                   .columns = 20 + choice / 32 * 12};
  const Page page = heatmap_page(heatmap, options);
  for (const Line& line : page.lines) {
    require(line.width() <= options.columns);
  }
  const std::string plain = to_plain(page);
  require_plain(plain);
  require(!is_7_bit(options.style) || is_ascii(plain));
  test::use(to_ansi(page, options.color));
}

// Two bytes choose the looks, the first line is the title, too, and the last one a role.
void read(std::string_view input) {
  const auto choice = [&](std::size_t i) -> std::size_t {
    return i < input.size() ? static_cast<unsigned char>(input[i]) : 0;
  };
  Heatmap heatmap;
  heatmap.query_labels = lines_of(input.substr(std::min<std::size_t>(2, input.size())));
  heatmap.key_labels = heatmap.query_labels;
  heatmap.title = valid_utf8(heatmap.query_labels.front());
  heatmap.notes = {heatmap.title};
  const std::size_t n = heatmap.n_queries();
  heatmap.roles = {{valid_utf8(heatmap.query_labels.back())},
                   std::vector<std::size_t>(n, 1),
                   std::vector<std::size_t>(n, 0)};
  std::vector<float> weights(n * n);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    weights[i] = static_cast<float>(i * 37 % 101) / 100.0f;
  }
  heatmap.panels.push_back({"L0H0",
                            {weights.data(), n, n, n},
                            [](std::size_t query, std::size_t key) { return key <= query; }});
  draw(heatmap, choice(0));
  print(heatmap, choice(1));
}

}  // namespace

namespace test {

std::vector<std::string> fuzz_seeds() {
  std::vector<std::string> seeds;
  for (const char* look : {"  ", "\x10\x2A", "\x03\x13", "\x15\x4C", "\x1E\x61"}) {
    seeds.push_back(std::string(look) +
                    "The\ncat\n猫\n👨\u200D👩\u200D👧\nantidisestablishmentarianism\n\n ");
    seeds.push_back(std::string(look) + "\u0301\n\xFF\xFE\n\x1B[31m\n\u202Eevil\ne\u0301\nﷺ\nשלום");
    seeds.push_back(std::string(look) + "<b>&\"'\n]]>\n\u2028\n\x85\n\xC2\x85\n\t\r\n\u00AD\uFEFF");
  }
  return seeds;
}

void fuzz_input(std::string_view bytes) {
  read(bytes);
}

}  // namespace test

}  // namespace attnviz
