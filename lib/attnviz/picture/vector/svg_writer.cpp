#include "attnviz/picture/vector/svg_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <string_view>
#include <tuple>
#include <variant>

#include "attnviz/core/utf8.h"
#include "attnviz/formats/base64.h"
#include "attnviz/picture/fonts/glyphs.h"
#include "attnviz/picture/raster/png_encode.h"
#include "attnviz/picture/raster/scene_painter.h"

namespace attnviz {

namespace {

// Paths of more cells would be larger than an image, and slow to show; so would many smaller paths.
constexpr std::size_t kMostCellsOfPaths = 1000;
constexpr std::size_t kMostCellsOfAllPaths = 20'000;
constexpr std::size_t kMostCellsAmongMany = 100;

// Placeholder in ids until the file is complete, since ids are derived from it; these characters
// cannot occur in XML.
constexpr std::string_view kIdMark =
    "\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01";

// DejaVu Sans Mono, in which scenes are laid out: font size divided by the width of a column.
constexpr double kSizeOfColumns = 2048.0 / 1233.0;

// Characters that XML does not allow become U+FFFD.
std::string escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint next = decode_utf8(text, i);
    const bool is_control = next.value < 0x20 && next.value != '\n' && next.value != '\t';
    if (!next.valid || is_control || next.value == 0xFFFE || next.value == 0xFFFF) {
      out += "\xEF\xBF\xBD";
    } else if (next.value == '&') {
      out += "&amp;";
    } else if (next.value == '<') {
      out += "&lt;";
    } else if (next.value == '>') {
      out += "&gt;";
    } else {
      append_utf8(out, next.value);
    }
    i += next.length;
  }
  return out;
}

// Escapes a label, with ␣ for the symbol for space.
std::string shown(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint next = decode_utf8(text, i);
    const bool is_space = next.valid && next.value == kSymbolForSpace;
    is_space ? append_utf8(out, kOpenBox) : void(out += text.substr(i, next.length));
    i += next.length;
  }
  return escaped(out);
}

// Escapes characters that JSON allows and XML does not.
std::string xml_safe_json(std::string_view json) {
  std::string out;
  for (std::size_t i = 0; i < json.size();) {
    const CodePoint next = decode_utf8(json, i);
    if (next.valid && (next.value == 0xFFFE || next.value == 0xFFFF)) {
      out += next.value == 0xFFFE ? "\\ufffe" : "\\uffff";
    } else {
      out += json.substr(i, next.length);
    }
    i += next.length;
  }
  return out;
}

std::string hex(Rgb color) {
  return fmt::format("#{:02x}{:02x}{:02x}", color.r, color.g, color.b);
}

// FNV-1a.
std::uint64_t hash_of(std::string_view bytes) {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (const char byte : bytes) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001B3;
  }
  return hash;
}

// Whether all letters stand side by side in every font, not joined, stacked or from right to left.
bool is_plain(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint next = decode_utf8(text, i);
    if (next.value >= 0x300 && next.value != kSymbolForSpace) {
      return false;
    }
    i += next.length;
  }
  return true;
}

// Spaces that a viewer would remove.
bool has_loose_spaces(std::string_view text) {
  return text.starts_with(' ') || text.ends_with(' ') || text.find("  ") != std::string_view::npos;
}

bool do_overlap(const PixelRect& a, const PixelRect& b) {
  return a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom();
}

// The pixels that the box of a text touches.
PixelRect bounds_of(const TextRun& run) {
  const auto corners = text_corners({static_cast<double>(run.x), static_cast<double>(run.y)},
                                    run.columns, run.column_width, run.angle);
  const auto [left, right] = std::ranges::minmax(corners, {}, &PixelPoint::x);
  const auto [top, bottom] = std::ranges::minmax(corners, {}, &PixelPoint::y);
  const int x = static_cast<int>(std::floor(left.x));
  const int y = static_cast<int>(std::floor(top.y));
  return {x, y, static_cast<int>(std::ceil(right.x)) - x,
          static_cast<int>(std::ceil(bottom.y)) - y};
}

void add_rect(const PixelRect& rect, std::string& path) {
  if (!rect.empty()) {
    path += fmt::format("M{} {}h{}v{}h-{}z", rect.x, rect.y, rect.width, rect.height, rect.width);
  }
}

std::string size_of(const PixelRect& rect) {
  return fmt::format(R"(x="{}" y="{}" width="{}" height="{}")", rect.x, rect.y, rect.width,
                     rect.height);
}

class SvgWriter {
 public:
  explicit SvgWriter(const Scene& scene) : scene_(scene) {
    std::size_t n_cells = 0;
    for (const SceneItem& item : scene.items) {
      if (const auto* image = std::get_if<CellImage>(&item)) {
        const std::size_t count = image->colors->numbers.size();
        n_cells += count > kMostCellsOfPaths ? 0 : count;
      }
    }
    most_cells_ = n_cells > kMostCellsOfAllPaths ? kMostCellsAmongMany : kMostCellsOfPaths;
  }

  std::string write(const std::vector<std::pair<std::string, std::string>>& texts) {
    constexpr double kDpi = 96.0;
    const double units =
        scene_.length ? scene_.length->number / scene_.width : kDpi / scene_.dpi;  // per pixel
    const std::string unit =
        scene_.length ? std::string(word_for(kLengthUnits, scene_.length->unit)) : "";
    add(R"(<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" )"
        R"(width="{:.6g}{}" height="{:.6g}{}" viewBox="0 0 {} {}" role="img">)"
        "\n",
        scene_.width * units, unit, scene_.height * units, unit, scene_.width, scene_.height);
    write_facts(texts);
    add(R"(<g shape-rendering="crispEdges" font-family="'DejaVu Sans Mono', Menlo, Consolas, )"
        R"(monospace">)"
        "\n");
    fill({0, 0, scene_.width, scene_.height}, hex(scene_.background));
    for (const SceneItem& item : scene_.items) {
      std::visit(*this, item);
    }
    end_path();
    end_cells();
    out_ += "</g>\n</svg>\n";
    name_ids();
    return std::move(out_);
  }

  void operator()(const Rectangle& item) {
    cover(item.rect);
    fill(item.rect, hex(item.color));
  }

  void operator()(const Hatch& item) {
    cover(item.rect);
    fill(item.rect, hatch_of(item));
  }

  void operator()(const CellImage& image) {
    end_path();
    cover(image.rect);
    if (image.colors->numbers.size() > most_cells_) {
      write_pixels(image);
    } else {
      hold_cells(image);
    }
  }

  void operator()(const Strokes& item) {
    if (item.curves.empty()) {
      return;
    }
    end_path();
    add(R"(<path fill="none" stroke="{}" stroke-width="{:.6g}" stroke-opacity="{:.3g}" )"
        R"(stroke-linecap="round" shape-rendering="auto" d=")",
        hex(item.color), item.width, item.opacity);
    for (const Curve& curve : item.curves) {
      add_curve(curve);
    }
    out_ += "\"/>\n";
  }

  void operator()(const TextRun& item) {
    if (item.columns == 0) {
      return;
    }
    end_path();
    cover(bounds_of(item));
    const int down = baseline(item.column_width);
    if (item.angle == TextAngle::kLevel) {
      add(R"(<text x="{}" y="{}")", item.x, item.y + down);
    } else {
      add(R"x(<text y="{}" transform="translate({} {}) rotate({})")x", down, item.x, item.y,
          item.angle == TextAngle::kUp ? -90 : -45);
    }
    // Chromium does not inherit it from the group.
    out_ += has_loose_spaces(item.text) ? R"( xml:space="preserve")" : "";
    // Inkscape stretches joined letters without limit, unless they are in a span.
    const bool is_span = !is_plain(item.text);
    add(R"( font-size="{:.2f}" fill="{}"{} textLength="{}" lengthAdjust="spacingAndGlyphs">{}{}</text>)"
        "\n",
        item.column_width * kSizeOfColumns, hex(item.color), is_span ? "><tspan" : "",
        item.columns * static_cast<std::size_t>(item.column_width), shown(item.text),
        is_span ? "</tspan>" : "");
  }

 private:
  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    out_ += fmt::format(format, std::forward<Args>(args)...);
  }

  void write_facts(const std::vector<std::pair<std::string, std::string>>& texts) {
    std::string facts;
    for (const auto& [keyword, text] : texts) {
      if (keyword == "Title") {
        add("<title>{}</title>\n", escaped(printable_message(text)));
      } else if (!text.empty()) {
        facts += fmt::format("{}: {}\n", keyword, xml_safe_json(text));
      }
    }
    add("<metadata>{}</metadata>\n", escaped(facts));
  }

  void add_curve(const Curve& curve) {
    const auto& [from, to, bend] = curve;
    add("M{:.6g} {:.6g}", from.x, from.y);
    if (bend == 0.0) {
      add("L{:.6g} {:.6g}", to.x, to.y);
    } else {
      add("C{:.6g} {:.6g} {:.6g} {:.6g} {:.6g} {:.6g}", from.x + bend, from.y, to.x - bend, to.y,
          to.x, to.y);
    }
  }

  // Consecutive rectangles with the same paint are one path.
  void fill(const PixelRect& rect, std::string_view paint) {
    if (paint != paint_) {
      end_path();
      paint_ = paint;
    }
    add_rect(rect, path_);
  }

  void end_path() {
    if (!path_.empty()) {
      add("<path fill=\"{}\" d=\"{}\"/>\n", paint_, path_);
    }
    path_.clear();
    paint_.clear();
  }

  // Lines cover x + y from a multiple of the spacing on, for less than the thickness; here the part
  // within a square that is repeated, shifted right so that pixels' centres lie on the lines.
  std::string hatch_of(const Hatch& item) {
    const auto key =
        std::tuple(item.color.r, item.color.g, item.color.b, item.spacing, item.thickness);
    const auto known = std::ranges::find(hatches_, key);
    const std::string name = fmt::format("hatch{}-{}", known - hatches_.begin(), kIdMark);
    if (known == hatches_.end()) {
      hatches_.push_back(key);
      end_path();
      add(R"(<pattern id="{0}" x="0.5" width="{1}" height="{1}" patternUnits="userSpaceOnUse">)"
          R"(<path fill="{2}" shape-rendering="auto" d="M0 0h{3}L0 {3}zM{1} 0v{3}L{3} {1}h-{3}z"/>)"
          "</pattern>\n",
          name, item.spacing, hex(item.color), item.thickness);
    }
    return fmt::format("url(#{})", name);
  }

  // The next item is painted over `rect`: cells below it must be written first.
  void cover(const PixelRect& rect) {
    if (std::ranges::any_of(held_, [&](const PixelRect& held) { return do_overlap(held, rect); })) {
      end_cells();
    }
  }

  // Cells of one colour are one path, even across grids, as long as nothing covers them.
  void hold_cells(const CellImage& image) {
    const CellColors& colors = *image.colors;
    constexpr std::size_t kMostHeld = 1024;  // all of them are checked for each item
    if (held_.size() == kMostHeld) {
      end_cells();
    }
    held_.push_back(image.rect);
    std::vector<std::string*> paths(colors.palette.size(), nullptr);
    const auto path_of = [&](std::size_t number) -> std::string& {
      if (paths[number] == nullptr) {
        paths[number] = &held_cells_[hex(colors.palette[number])];
      }
      return *paths[number];
    };
    for (std::size_t row = 0; row < colors.rows; ++row) {
      PixelRect run = image.cell(row, 0);
      run.width = 0;
      std::size_t run_number = colors.number(row, 0);
      for (std::size_t col = 0; col < colors.cols; ++col) {
        const PixelRect cell = image.cell(row, col);
        const std::size_t number = colors.number(row, col);
        if (number != run_number || run.right() != cell.x) {
          add_rect(run, path_of(run_number));
          run = cell;
          run_number = number;
        }
        run.width = cell.right() - run.x;
      }
      add_rect(run, path_of(run_number));
    }
  }

  void end_cells() {
    for (const auto& [color, path] : held_cells_) {
      if (!path.empty()) {
        add("<path fill=\"{}\" d=\"{}\"/>\n", color, path);
      }
    }
    held_cells_.clear();
    held_.clear();
  }

  // Pictures in one HTML page share a space of ids, so ids must differ between pictures.
  void name_ids() {
    std::size_t at = out_.find(kIdMark);
    if (at == std::string::npos) {
      return;
    }
    const std::string name = fmt::format("{:016x}", hash_of(out_));
    for (; at != std::string::npos; at = out_.find(kIdMark, at + name.size())) {
      out_.replace(at, name.size(), name);
    }
  }

  // Pixel by pixel, since some viewers blur the edges of stretched images; a mask leaves out the
  // gaps.
  void write_pixels(const CellImage& image) {
    const PixelRect& rect = image.rect;
    const bool has_gaps = image.gap_x > 0 || image.gap_y > 0;
    if (has_gaps) {
      ++n_masks_;
      add(R"(<pattern id="cell{0}-{8}" x="{1}" y="{2}" width="{3}" height="{4}" )"
          R"(patternUnits="userSpaceOnUse"><path fill="#fff" d="M0 0h{5}v{6}h-{5}z"/></pattern>)"
          "\n"
          R"(<mask id="cells{0}-{8}" maskUnits="userSpaceOnUse" {7}>)"
          R"x(<rect {7} fill="url(#cell{0}-{8})"/></mask>)x"
          "\n",
          n_masks_, rect.x, rect.y, image.pitch_x, image.pitch_y, image.pitch_x - image.gap_x,
          image.pitch_y - image.gap_y, size_of(rect), kIdMark);
    }
    write_rows(image, 0, image.colors->rows,
               has_gaps ? fmt::format(" mask=\"url(#cells{}-{})\"", n_masks_, kIdMark) : "");
  }

  // In as many parts as necessary: libxml2 does not read attributes of more than 10 MB.
  void write_rows(const CellImage& image, std::size_t first, std::size_t count,
                  const std::string& mask) {
    constexpr std::size_t kMost = 9'000'000;
    const PixelRect& all = image.rect;
    const PixelRect top = image.cell(first, 0);
    const bool is_last = first + count == image.colors->rows;
    const int bottom = is_last ? all.bottom() : image.cell(first + count, 0).y;
    Canvas canvas(all.width, bottom - top.y);
    CellImage alone = image;
    alone.rect.x = 0;
    alone.rect.y = all.y - top.y;
    paint_cells(alone, canvas);
    const std::string bytes = encoded_base64(encode_png(canvas));
    if (bytes.size() > kMost && count > 1) {
      write_rows(image, first, count / 2, mask);
      return write_rows(image, first + count / 2, count - count / 2, mask);
    }
    add(R"(<image {} preserveAspectRatio="none" style="image-rendering:pixelated"{} )"
        R"(xlink:href="data:image/png;base64,{}"/>)"
        "\n",
        size_of({all.x, top.y, canvas.width(), canvas.height()}), mask, bytes);
  }

  using HatchKey = std::tuple<std::uint8_t, std::uint8_t, std::uint8_t, int, int>;

  const Scene& scene_;
  std::string out_;
  std::string path_;   // not written yet
  std::string paint_;  // its fill
  std::vector<HatchKey> hatches_;
  int n_masks_ = 0;
  std::size_t most_cells_ = 0;                     // in a grid that becomes paths
  std::map<std::string, std::string> held_cells_;  // paths not written yet, by colour
  std::vector<PixelRect> held_;                    // their positions
};

}  // namespace

std::string scene_svg(const Scene& scene,
                      const std::vector<std::pair<std::string, std::string>>& texts) {
  return SvgWriter(scene).write(texts);
}

}  // namespace attnviz
