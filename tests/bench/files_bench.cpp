// Files: writing and reading JSON compared with nlohmann_json, PNG with stb_image_write.
#include <fmt/core.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#include <stb/stb_image_write.h>

#include "attnviz/color/colormap.h"
#include "attnviz/formats/json_tree.h"
#include "attnviz/formats/json_writer.h"
#include "attnviz/picture/raster/canvas.h"
#include "attnviz/picture/raster/png_encode.h"
#include "bench/suite.h"

namespace attnviz::bench {

namespace {

using nlohmann::json;

constexpr std::size_t kHeads = 12;
constexpr std::size_t kTokens = 1024;

// Causal rows that sum to 1, head after head.
MatrixBuffer random_patterns() {
  MatrixBuffer patterns = random_matrix(kHeads * kTokens, kTokens, 1);
  for (std::size_t i = 0; i < patterns.rows(); ++i) {
    const std::span<float> row = patterns.view().row(i);
    const std::size_t query = i % kTokens;
    float sum = 0.0f;
    for (std::size_t key = 0; key < kTokens; ++key) {
      row[key] = key <= query ? std::exp(2.0f * row[key]) : 0.0f;
      sum += row[key];
    }
    for (float& weight : row) {
      weight /= sum;
    }
  }
  return patterns;
}

void write_ours(benchmark::State& state) {
  const MatrixBuffer patterns = random_patterns();
  for ([[maybe_unused]] auto _ : state) {
    std::size_t n_bytes = 0;
    JsonWriter writer([&n_bytes](std::string_view bytes) { n_bytes += bytes.size(); });
    writer.begin_array();
    for (std::size_t head = 0; head < kHeads; ++head) {
      writer.value(patterns.view().row_block(head * kTokens, kTokens));
    }
    writer.end_array();
    writer.finish();
    benchmark::DoNotOptimize(n_bytes);
  }
}

void write_nlohmann(benchmark::State& state) {
  const MatrixBuffer patterns = random_patterns();
  json document = json::array();
  for (std::size_t head = 0; head < kHeads; ++head) {
    json matrix = json::array();
    for (std::size_t query = 0; query < kTokens; ++query) {
      const auto row = patterns.view().row(head * kTokens + query);
      matrix.push_back(std::vector<float>(row.begin(), row.end()));
    }
    document.push_back(std::move(matrix));
  }
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(document.dump().size());
  }
}

// About 50 MB of rows of small numbers.
const std::string& weights_text() {
  static const std::string text = [] {
    constexpr std::size_t kRows = 72000;
    const MatrixBuffer weights = random_matrix(kRows, 64, 1);
    std::string written;
    JsonWriter writer([&written](std::string_view bytes) { written += bytes; });
    writer.value(weights.view());
    writer.finish();
    return written;
  }();
  return text;
}

void read_ours(benchmark::State& state) {
  const std::string& text = weights_text();
  for ([[maybe_unused]] auto _ : state) {
    const JsonTree tree = JsonTree::parse(text, "weights");
    benchmark::DoNotOptimize(&tree);
  }
}

void read_nlohmann(benchmark::State& state) {
  const std::string& text = weights_text();
  for ([[maybe_unused]] auto _ : state) {
    const json tree = json::parse(text);
    benchmark::DoNotOptimize(&tree);
  }
}

// A heatmap of 4096 x 4096 smoothly changing cells in 256 colours.
class Picture {
 public:
  static constexpr int kSide = 4096;

  static const Picture& shared() {
    static const Picture picture;
    return picture;
  }

  const Canvas& canvas() const { return canvas_; }
  const std::vector<std::uint8_t>& rgb() const { return rgb_; }
  // Sizes of the files, for comparison.
  std::string ours() const { return encode_png(canvas_); }
  std::string stb() const {
    std::string file;
    const auto append = [](void* to, void* data, int size) {
      static_cast<std::string*>(to)->append(static_cast<const char*>(data),
                                            static_cast<std::size_t>(size));
    };
    stbi_write_png_to_func(append, &file, kSide, kSide, 3, rgb_.data(), 0);
    return file;
  }

 private:
  Picture() : canvas_(kSide, kSide) {
    const Colormap colors("viridis");
    rgb_.reserve(std::size_t{kSide} * kSide * 3);
    for (int y = 0; y < kSide; ++y) {
      for (int x = 0; x < kSide; ++x) {
        const auto row = static_cast<float>(y);
        const auto column = static_cast<float>(x);
        const float wave = std::sin(row * 0.013f) * std::cos(column * 0.017f) +
                           0.3f * std::sin((row + 2.0f * column) * 0.11f);
        const Rgb color = colors(0.5f + wave / 2.6f);
        canvas_.fill({x, y, 1, 1}, color);
        rgb_.insert(rgb_.end(), {color.r, color.g, color.b});
      }
    }
  }

  Canvas canvas_;
  std::vector<std::uint8_t> rgb_;
};

void png_ours(benchmark::State& state) {
  const Picture& picture = Picture::shared();
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(picture.ours().size());
  }
}

void png_stb(benchmark::State& state) {
  const Picture& picture = Picture::shared();
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(picture.stb().size());
  }
}

void register_all() {
  add("files/json out", write_ours);
  add("files/json out, nlohmann", write_nlohmann);
  add("files/json in", read_ours);
  add("files/json in, nlohmann", read_nlohmann);
  add("files/png", png_ours);
  add("files/png, stb", png_stb);
}

void report(const Times& times, Figures& figures) {
  figures.at_least("JSON of 12 x 1024 x 1024, nlohmann dump over ours",
                   times.ratio("files/json out, nlohmann", "files/json out"), 4, "x");
  figures.at_least("50 MB of weights JSON, nlohmann DOM over ours",
                   times.ratio("files/json in, nlohmann", "files/json in"), 1, "x");
  figures.at_least("PNG of 4096 x 4096, stb_image_write over ours",
                   times.ratio("files/png, stb", "files/png"), 4, "x");
  if (times("files/png") > 0.0) {
    const Picture& picture = Picture::shared();
    figures.at_most(
        "PNG of 4096 x 4096, bytes over stb_image_write's",
        static_cast<double>(picture.ours().size()) / static_cast<double>(picture.stb().size()), 1,
        "x");
  }
}

}  // namespace

Part files_part() {
  return {register_all, report};
}

}  // namespace attnviz::bench
