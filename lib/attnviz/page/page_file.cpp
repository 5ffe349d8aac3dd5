#include "attnviz/page/page_file.h"

#include <libdeflate.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "attnviz/core/tensor.h"
#include "attnviz/core/utf8.h"
#include "attnviz/formats/base64.h"

namespace attnviz {

namespace {

// Returns the frame up to a mark; the rest stays in `frame`.
std::string_view up_to(std::string_view& frame, std::string_view mark) {
  const std::size_t at = frame.find(mark);
  if (at == std::string_view::npos) {
    throw std::logic_error("the page's frame lacks a mark");
  }
  const std::string_view part = frame.substr(0, at);
  frame.remove_prefix(at + mark.size());
  return part;
}

}  // namespace

std::string browser_label(std::string text) {
  constexpr std::string_view kOfPictures = "␠";
  for (std::size_t at = 0; (at = text.find(kOfPictures, at)) != std::string::npos;) {
    text.replace(at, kOfPictures.size(), "␣");
  }
  return text;
}

std::string html_text(std::string_view text) {
  std::string safe;
  for (const char sign : printable_message(text)) {
    switch (sign) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += sign;
    }
  }
  return safe;
}

void write_page(std::string_view title, std::string_view body,
                const std::function<void(const ByteSink&)>& write_data, const ByteSink& sink) {
  std::string_view frame(reinterpret_cast<const char*>(kPageFrame.data()), kPageFrame.size());
  sink(up_to(frame, "@title@"));
  sink(html_text(title));
  sink(up_to(frame, "@body@"));
  sink(body);
  sink(up_to(frame, "@data@"));
  // In JSON, < occurs only in strings.
  write_data([&sink](std::string_view json) {
    while (!json.empty()) {
      const std::size_t at = json.find('<');
      sink(json.substr(0, at));
      if (at == std::string_view::npos) {
        return;
      }
      sink("\\u003c");
      json.remove_prefix(at + 1);
    }
  });
  sink(frame);
}

namespace {

constexpr int kLevel = 6;  // twice as fast as 9, and only 1 % larger

std::string deflated(std::span<const std::uint8_t> bytes) {
  const std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)> compressor(
      libdeflate_alloc_compressor(kLevel), &libdeflate_free_compressor);
  if (compressor == nullptr) {
    throw std::bad_alloc();
  }
  std::string packed(libdeflate_deflate_compress_bound(compressor.get(), bytes.size()), '\0');
  packed.resize(libdeflate_deflate_compress(compressor.get(), bytes.data(), bytes.size(),
                                            packed.data(), packed.size()));
  return packed;
}

}  // namespace

std::size_t Blobs::add(std::span<const std::uint8_t> bytes) {
  texts_.push_back(encoded_base64(deflated(bytes)));
  return texts_.size() - 1;
}

std::size_t Blobs::add(std::span<const std::uint16_t> numbers) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(2 * numbers.size());
  for (const unsigned shift : {0U, 8U}) {
    for (const std::uint16_t number : numbers) {
      bytes.push_back(static_cast<std::uint8_t>(number >> shift & 0xFFU));
    }
  }
  return add(bytes);
}

std::size_t Blobs::add(std::span<const float> numbers) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(4 * numbers.size());
  for (const float number : numbers) {
    const auto bits = std::bit_cast<std::uint32_t>(number);
    for (unsigned shift = 0; shift < 32; shift += 8) {
      bytes.push_back(static_cast<std::uint8_t>(bits >> shift & 0xFFU));
    }
  }
  return add(bytes);
}

std::size_t Blobs::add(std::span<const Rgb> colors) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(3 * colors.size());
  for (const Rgb color : colors) {
    bytes.insert(bytes.end(), {color.r, color.g, color.b});
  }
  return add(bytes);
}

namespace {

// Calls work(row) with the stored part of each row.
void for_each_row(ConstMatrix weights, bool triangle, const auto& work) {
  for (std::size_t query = 0; query < weights.rows; ++query) {
    work(triangle ? weights.row(query).first(query + 1) : weights.row(query));
  }
}

template <class Code>
std::vector<Code> codes(ConstMatrix weights, bool triangle, const PackedPattern& pattern) {
  constexpr double kNan = std::numeric_limits<Code>::max();
  constexpr double kMost = kNan - 1.0;
  const double low = static_cast<double>(pattern.low);
  const double span = static_cast<double>(pattern.high) - low;
  std::vector<Code> all;
  all.reserve(packed_size(weights.rows, weights.cols, triangle));
  for_each_row(weights, triangle, [&](std::span<const float> row) {
    for (const float weight : row) {
      double share = std::clamp((static_cast<double>(weight) - low) / span, 0.0, 1.0);
      share = pattern.squares ? std::sqrt(share) : share;
      all.push_back(static_cast<Code>(std::isfinite(weight) ? std::round(share * kMost) : kNan));
    }
  });
  return all;
}

}  // namespace

std::size_t packed_size(std::size_t n_queries, std::size_t n_keys, bool triangle) noexcept {
  return triangle ? n_queries * (n_queries + 1) / 2 : n_queries * n_keys;
}

bool is_triangle(ConstMatrix weights) {
  for (std::size_t query = 0; query < weights.rows; ++query) {
    const auto later = weights.row(query).subspan(std::min(query + 1, weights.cols));
    if (std::ranges::any_of(later, [](float weight) { return weight != 0.0f; })) {
      return false;
    }
  }
  return true;
}

PackedPattern packed_pattern(ConstMatrix weights, bool triangle, WeightCode code) {
  PackedPattern pattern;
  if (code == WeightCode::kFloat) {
    std::vector<float> all;
    all.reserve(packed_size(weights.rows, weights.cols, triangle));
    for_each_row(weights, triangle, [&](std::span<const float> row) {
      all.insert(all.end(), row.begin(), row.end());
    });
    pattern.values = std::move(all);
    return pattern;
  }
  float low = std::numeric_limits<float>::infinity();
  float high = -low;
  for_each_row(weights, triangle, [&](std::span<const float> row) {
    for (const float weight : row) {
      if (std::isfinite(weight)) {
        low = std::min(low, weight);
        high = std::max(high, weight);
      }
    }
  });
  if (low <= high) {
    pattern.low = std::min(low, 0.0f);  // masked weights are 0
    pattern.high = pattern.low < high ? high : pattern.low < 0.0f ? 0.0f : 1.0f;
  }
  pattern.squares = code == WeightCode::k8 && pattern.low >= 0.0f;
  if (code == WeightCode::k16) {
    pattern.values = codes<std::uint16_t>(weights, triangle, pattern);
  } else {
    pattern.values = codes<std::uint8_t>(weights, triangle, pattern);
  }
  return pattern;
}

namespace {

// ALiBi's penalties, which fall off linearly with the distance, the same from every query.
MatrixBuffer bias_of(const Inspection& head) {
  const std::size_t at = head.query > 0 ? 0 : std::min<std::size_t>(1, head.n_tokens() - 1);
  const std::size_t distance = std::max(head.query, at) - std::min(head.query, at);
  const float slope =
      distance > 0 ? head.bias[at] / static_cast<float>(distance) * head.request.temperature : 0.0f;
  MatrixBuffer bias(head.n_tokens(), head.n_tokens());
  for (std::size_t query = 0; query < head.n_tokens(); ++query) {
    for (std::size_t key = 0; key < head.n_tokens(); ++key) {
      const std::size_t apart = std::max(query, key) - std::min(query, key);
      bias.view()(query, key) = slope * static_cast<float>(apart);
    }
  }
  return bias;
}

Record vectors_record(const Inspection& head, Blobs& blobs) {
  const auto blob = [&blobs](ConstMatrix matrix) {
    std::vector<float> numbers;
    for (std::size_t row = 0; row < matrix.rows; ++row) {
      numbers.insert(numbers.end(), matrix.row(row).begin(), matrix.row(row).end());
    }
    return blobs.add(std::span<const float>(numbers));
  };
  const float temperature = head.soft_cap > 0.0f ? 1.0f : head.request.temperature;
  const MatrixBuffer bias = head.bias.empty() ? MatrixBuffer() : bias_of(head);
  return {{"layer", head.head.layer},
          {"head", head.head.head},
          {"query", head.query},
          {"q", blob(head.q.view())},
          {"k", blob(head.k.view())},
          {"v", blob(head.v.view())},
          {"d_head", head.d_head()},
          {"d_value", head.d_value()},
          {"scale", head.factor * temperature},  // undoes the temperature
          {"soft_cap", head.soft_cap},
          {"scores", {}},
          {"bias", head.bias.empty() ? Datum() : Datum(blob(bias.view()))}};
}

}  // namespace

Record page_steps(std::span<const Inspection> followed, Blobs& blobs) {
  return {{"temperature", followed.front().request.temperature},
          {"heads", list_of(followed, [&blobs](const Inspection& head) {
             return vectors_record(head, blobs);
           })}};
}

}  // namespace attnviz
