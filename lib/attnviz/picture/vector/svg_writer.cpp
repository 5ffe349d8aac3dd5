#include "attnviz/picture/vector/svg_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <tuple>
#include <variant>

#include "attnviz/core/utf8.h"
#include "attnviz/formats/base64.h"
#include "attnviz/picture/fonts/glyph_run.h"
#include "attnviz/picture/fonts/text_box.h"
#include "attnviz/picture/raster/png_encode.h"
#include "attnviz/picture/raster/scene_painter.h"

namespace attnviz {

namespace {

// A path of more would be larger than an image, and slow to show.
constexpr std::size_t kMostCellsOfPaths = 1000;

// DejaVu Sans Mono, in which scenes are laid out: what is called a font's size over the width of
// its columns.
constexpr double kSizeOfColumns = 2048.0 / 1233.0;

// What XML has no place for becomes U+FFFD.
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

// Labels.
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

// What JSON may hold as it is, and XML may not.
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

void add_rect(const PixelRect& rect, std::string& path) {
  if (!rect.empty()) {
    fmt::format_to(std::back_inserter(path), "M{} {}h{}v{}h-{}z", rect.x, rect.y, rect.width,
                   rect.height, rect.width);
  }
}

std::string size_of(const PixelRect& rect) {
  return fmt::format(R"(x="{}" y="{}" width="{}" height="{}")", rect.x, rect.y, rect.width,
                     rect.height);
}

class SvgWriter {
 public:
  explicit SvgWriter(const Scene& scene) : scene_(scene) {}

  std::string write(const std::vector<std::pair<std::string, std::string>>& texts) {
    constexpr double kDpi = 96.0;
    const double scale = kDpi / scene_.dpi;
    add(R"(<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" )"
        R"(width="{:.6g}" height="{:.6g}" viewBox="0 0 {} {}" role="img">)"
        "\n",
        scene_.width * scale, scene_.height * scale, scene_.width, scene_.height);
    write_facts(texts);
    add(R"(<g shape-rendering="crispEdges" font-family="'DejaVu Sans Mono', Menlo, Consolas, )"
        R"(monospace" xml:space="preserve">)"
        "\n");
    fill({0, 0, scene_.width, scene_.height}, hex(scene_.background));
    for (const SceneItem& item : scene_.items) {
      std::visit(*this, item);
    }
    end_path();
    out_ += "</g>\n</svg>\n";
    return std::move(out_);
  }

  void operator()(const Rectangle& item) { fill(item.rect, hex(item.color)); }

  void operator()(const Hatch& item) { fill(item.rect, hatch_of(item)); }

  void operator()(const CellImage& image) {
    end_path();
    if (image.colors->numbers.size() > kMostCellsOfPaths) {
      write_pixels(image);
    } else {
      write_cells(image);
    }
  }

  void operator()(const TextRun& item) {
    if (item.columns == 0) {
      return;
    }
    end_path();
    const int down = baseline(item.column_width);
    if (item.angle == TextAngle::kLevel) {
      add(R"(<text x="{}" y="{}")", item.x, item.y + down);
    } else {
      add(R"x(<text y="{}" transform="translate({} {}) rotate({})")x", down, item.x, item.y,
          item.angle == TextAngle::kUp ? -90 : -45);
    }
    add(R"( font-size="{:.2f}" fill="{}" textLength="{}" lengthAdjust="spacingAndGlyphs">{}</text>)"
        "\n",
        item.column_width * kSizeOfColumns, hex(item.color),
        item.columns * static_cast<std::size_t>(item.column_width), shown(item.text));
  }

 private:
  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  void write_facts(const std::vector<std::pair<std::string, std::string>>& texts) {
    std::string facts;
    for (const auto& [keyword, text] : texts) {
      if (keyword == "Title") {
        add("<title>{}</title>\n", escaped(text));
      } else if (!text.empty()) {
        facts += fmt::format("{}: {}\n", keyword, xml_safe_json(text));
      }
    }
    add("<metadata>{}</metadata>\n", escaped(facts));
  }

  // Neighbours in the list of one paint are one path.
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

  // Lines where x + y is from a multiple of the spacing on less than the thickness, as far as they
  // fall into a square that is repeated; so far to the right that pixels' centres lie on them.
  std::string hatch_of(const Hatch& item) {
    const auto key =
        std::tuple(item.color.r, item.color.g, item.color.b, item.spacing, item.thickness);
    const auto known = std::ranges::find(hatches_, key);
    const std::string name = fmt::format("hatch{}", known - hatches_.begin());
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

  void write_cells(const CellImage& image) {
    const CellColors& colors = *image.colors;
    std::vector<std::string> paths(colors.palette.size());
    for (std::size_t row = 0; row < colors.rows; ++row) {
      PixelRect run = image.cell(row, 0);
      run.width = 0;
      std::size_t run_number = colors.number(row, 0);
      for (std::size_t col = 0; col < colors.cols; ++col) {
        const PixelRect cell = image.cell(row, col);
        const std::size_t number = colors.number(row, col);
        if (number != run_number || run.right() != cell.x) {
          add_rect(run, paths[run_number]);
          run = cell;
          run_number = number;
        }
        run.width = cell.right() - run.x;
      }
      add_rect(run, paths[run_number]);
    }
    for (std::size_t i = 0; i < paths.size(); ++i) {
      if (!paths[i].empty()) {
        add("<path fill=\"{}\" d=\"{}\"/>\n", hex(colors.palette[i]), paths[i]);
      }
    }
  }

  // Pixel by pixel, for not all viewers keep the edges of what they stretch; a mask leaves the gaps
  // out.
  void write_pixels(const CellImage& image) {
    const PixelRect& rect = image.rect;
    const bool has_gaps = image.gap_x > 0 || image.gap_y > 0;
    if (has_gaps) {
      ++n_masks_;
      add(R"(<pattern id="cell{0}" x="{1}" y="{2}" width="{3}" height="{4}" )"
          R"(patternUnits="userSpaceOnUse"><path fill="#fff" d="M0 0h{5}v{6}h-{5}z"/></pattern>)"
          "\n"
          R"(<mask id="cells{0}" maskUnits="userSpaceOnUse" {7}>)"
          R"x(<rect {7} fill="url(#cell{0})"/></mask>)x"
          "\n",
          n_masks_, rect.x, rect.y, image.pitch_x, image.pitch_y, image.pitch_x - image.gap_x,
          image.pitch_y - image.gap_y, size_of(rect));
    }
    write_rows(image, 0, image.colors->rows,
               has_gaps ? fmt::format(" mask=\"url(#cells{})\"", n_masks_) : "");
  }

  // In as many parts as it takes: libxml2 reads no attribute of more than 10 MB.
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
  std::string paint_;  // and what fills it
  std::vector<HatchKey> hatches_;
  int n_masks_ = 0;
};

}  // namespace

std::string scene_svg(const Scene& scene,
                      const std::vector<std::pair<std::string, std::string>>& texts) {
  return SvgWriter(scene).write(texts);
}

}  // namespace attnviz
