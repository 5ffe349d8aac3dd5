// The HTML around every page's data: head, style and script, joined at build time from assets/page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "attnviz/analysis/inspection.h"
#include "attnviz/color/colormap.h"
#include "attnviz/core/mapped_file.h"
#include "attnviz/core/tensor.h"
#include "attnviz/report/json/datum.h"

namespace attnviz {

/// Replaces the sign for spaces in a picture's label by one that browsers' fonts have; pictures
/// draw theirs themselves.
std::string browser_label(std::string text);

/// Escapes `text` for HTML text or a double-quoted attribute, after printable_message().
std::string html_text(std::string_view text);

/// Writes one HTML document: its title, `body` unchanged (HTML), and the output of `write_data`
/// (JSON) as data for the script, with every < escaped. Its policy allows only the frame's script
/// and style, and nothing from elsewhere.
void write_page(std::string_view title, std::string_view body,
                const std::function<void(const ByteSink&)>& write_data, const ByteSink& sink);

extern const std::span<const unsigned char> kPageFrame;

// Binary parts of a page, compressed and written as text: attention weights in fewer bytes than
// floats, and queries, keys and values of heads, from which a page computes attention step by step.

/// Numbered parts. Each is compressed as raw DEFLATE (RFC 1951), which browsers unpack, and written
/// in base64 (RFC 4648). Floats are little-endian. For 16-bit numbers all lower bytes come first,
/// then all upper ones, which resemble each other and compress better side by side.
class Blobs {
 public:
  /// Adds a part and returns its number. Throws std::bad_alloc.
  std::size_t add(std::span<const std::uint8_t> bytes);
  std::size_t add(std::span<const std::uint16_t> numbers);
  std::size_t add(std::span<const float> numbers);
  std::size_t add(std::span<const Rgb> colors);

  /// In base64, by number.
  const std::vector<std::string>& texts() const noexcept { return texts_; }

 private:
  std::vector<std::string> texts_;
};

/// Floats, or codes c of 16 or 8 bits, of which the largest M stands for NaN. With t = c / (M - 1),
/// a 16-bit code means low + t (high - low), within half a step: (high - low) / (M - 1). An 8-bit
/// code means low + t² (high - low), within a step, so that small weights keep more digits; if some
/// are negative, it is linear as for 16 bits.
enum class WeightCode { kFloat, k16, k8 };

/// Consecutive rows: all keys, or, for a triangle, those up to the query.
struct PackedPattern {
  std::variant<std::vector<float>, std::vector<std::uint16_t>, std::vector<std::uint8_t>> values;
  float low = 0.0f;
  float high = 1.0f;
  bool squares = false;
};

/// Whether all keys after their query have weight 0.
bool is_triangle(ConstMatrix weights);

/// Packs `weights` [n_queries, n_keys]. Codes span 0 and the range of its finite values. Infinities
/// become NaN in codes. Precondition: a triangle has as many keys as queries.
PackedPattern packed_pattern(ConstMatrix weights, bool triangle, WeightCode code);

/// Returns the number of values in the packed pattern.
std::size_t packed_size(std::size_t n_queries, std::size_t n_keys, bool triangle) noexcept;

/// Returns the record of `followed`, at least one head; their matrices are added to `blobs`.
Record page_steps(std::span<const Inspection> followed, Blobs& blobs);

}  // namespace attnviz
