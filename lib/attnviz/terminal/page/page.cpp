#include "attnviz/terminal/page/page.h"

#include <fmt/core.h>

#include <iterator>
#include <span>

#include "attnviz/core/utf8.h"

namespace attnviz {

namespace {

// The parameters of the escape code SGR that ask for a colour: 38 for signs, 48 for what is behind.
std::string color_code(const PaletteColor& color, bool behind, ColorDepth depth) {
  const int kind = behind ? 48 : 38;
  switch (depth) {
    case ColorDepth::kTrueColor:
      return fmt::format("{};2;{};{};{}", kind, color.rgb.r, color.rgb.g, color.rgb.b);
    case ColorDepth::k256:
      return fmt::format("{};5;{}", kind, color.index);
    default:
      return fmt::format("{}", behind ? color.index : color.index - 10);
  }
}

// Of more than 16 colours the black and white of the cube: themes redefine the first 16.
const char* code_of_text_on(Rgb fill, ColorDepth depth) {
  if (depth == ColorDepth::k16) {
    return dark_text_on(fill) ? "30" : "97";
  }
  return dark_text_on(fill) ? "38;5;16" : "38;5;231";
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(' ') == std::string_view::npos;
}

std::string codes_of(const Span& span, ColorDepth depth) {
  const Style& style = span.style;
  std::string codes;
  if (depth == ColorDepth::kNone) {
    return codes;
  }
  const auto add = [&codes](std::string_view code) {
    codes.append(codes.empty() ? "" : ";").append(code);
  };
  if (style.bold) {
    add("1");
  }
  if (style.dim) {
    add("2");
  }
  if (style.ink) {
    add(color_code(*style.ink, /*behind=*/false, depth));
  }
  if (style.fill) {
    add(color_code(*style.fill, /*behind=*/true, depth));
    if (!style.ink && !is_blank(span.text)) {
      add(code_of_text_on(style.fill->rgb, depth));
    }
  }
  return codes;
}

void append_line(std::string& out, const Line& line, ColorDepth depth) {
  std::size_t n_spans = line.spans.size();
  while (n_spans > 0 && is_blank(line.spans[n_spans - 1].text) &&
         codes_of(line.spans[n_spans - 1], depth).empty()) {
    --n_spans;
  }
  std::string current;
  for (const Span& span : std::span(line.spans).first(n_spans)) {
    std::string codes = codes_of(span, depth);
    if (codes != current) {
      out += codes.empty() ? "\x1b[0m" : current.empty() ? "\x1b[" : "\x1b[0;";
      out.append(codes).append(codes.empty() ? "" : "m");
      current = std::move(codes);
    }
    out += span.text;
  }
  out += current.empty() ? "\n" : "\x1b[0m\n";
}

}  // namespace

void Line::put(std::string_view text, const Style& style) {
  if (text.empty()) {
    return;
  }
  // Rows of a large matrix are plain: one span a row, not three a number. Blanks behind a text stay
  // apart from it until more text follows: at the end of a line they are dropped.
  const auto plain_end = [this] { return !spans.empty() && spans.back().style == Style{}; };
  if (style == Style{} && plain_end() && is_blank(spans.back().text)) {
    const std::string blanks = std::move(spans.back().text);
    spans.pop_back();
    if (!is_blank(text) && plain_end()) {
      spans.back().text.append(blanks).append(text);
    } else {
      spans.push_back({blanks + std::string(text), style});
    }
    return;
  }
  spans.push_back({std::string(text), style});
}

void Line::put(Line line) {
  spans.insert(spans.end(), std::make_move_iterator(line.spans.begin()),
               std::make_move_iterator(line.spans.end()));
}

void Line::put_padded(std::string_view text, std::size_t columns, const Style& style) {
  put(text, style);
  const std::size_t width = display_width(text);
  space(columns > width ? columns - width : 0);
}

std::size_t Line::width() const {
  std::size_t columns = 0;
  for (const Span& span : spans) {
    columns += display_width(span.text);
  }
  return columns;
}

void Page::add(Page page) {
  lines.insert(lines.end(), std::make_move_iterator(page.lines.begin()),
               std::make_move_iterator(page.lines.end()));
}

std::string to_ansi(const Page& page, ColorDepth depth) {
  std::string out;
  for (const Line& line : page.lines) {
    append_line(out, line, depth);
  }
  return out;
}

std::string to_plain(const Page& page) {
  return to_ansi(page, ColorDepth::kNone);
}

}  // namespace attnviz
