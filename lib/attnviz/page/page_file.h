// The frame of every page: head, style, script, and where its data stand. The HTML around every
// page's data, joined at build time from assets/page.
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

/// A label that pictures have, with a sign for spaces that fonts of browsers have: pictures draw
/// theirs themselves.
std::string browser_label(std::string text);

/// `text` where HTML has text or an attribute in double quotes, as printable_message() makes it.
std::string html_text(std::string_view text);

/// Writes one HTML document: its title, `body` as it is (HTML), and what `write_data` writes (JSON)
/// as data for the script, in which no < is left as it is. Its policy allows no script and no style
/// but the frame's, and nothing from elsewhere.
void write_page(std::string_view title, std::string_view body,
                const std::function<void(const ByteSink&)>& write_data, const ByteSink& sink);

extern const std::span<const unsigned char> kPageFrame;

// Binary parts of a page: packed, and written as text. Attention weights in fewer bytes than floats
// take. Queries, keys and values of heads, from which a page computes their attention step by step.

/// Numbered parts. Each is compressed as raw DEFLATE (RFC 1951), which browsers unpack, and written
/// in base64 (RFC 4648). Floats are little-endian; of 16-bit numbers all lower bytes come first,
/// then all upper ones, which are alike and so take less room side by side.
class Blobs {
 public:
  /// Takes a part's bytes and gives its number. Throws std::bad_alloc.
  std::size_t add(std::span<const std::uint8_t> bytes);
  std::size_t add(std::span<const std::uint16_t> numbers);
  std::size_t add(std::span<const float> numbers);
  std::size_t add(std::span<const Rgb> colors);

  /// In base64, by number.
  const std::vector<std::string>& texts() const noexcept { return texts_; }

 private:
  std::vector<std::string> texts_;
};

/// As floats; or as codes c of 16 or 8 bits, of which the largest M stands for NaN. With t = c / (M
/// - 1) a code of 16 bits is low + t (high - low), within half a step: (high - low) / (M - 1). Of 8
/// bits it is low + t² (high - low), within a step, so that small weights keep more digits; where
/// some are negative as of 16.
enum class WeightCode { kFloat, k16, k8 };

/// Rows one after the other: all keys, or, of a triangle, those up to the query.
struct PackedPattern {
  std::variant<std::vector<float>, std::vector<std::uint16_t>, std::vector<std::uint8_t>> values;
  float low = 0.0f;
  float high = 1.0f;
  bool squares = false;
};

/// Whether no key behind its query has any weight.
bool is_triangle(ConstMatrix weights);

/// Packs `weights` [n_queries, n_keys]. Codes span 0 and the range of its finite values. Infinities
/// are NaN in codes. Precondition: of a triangle as many keys as queries.
PackedPattern packed_pattern(ConstMatrix weights, bool triangle, WeightCode code);

/// How many numbers such a pattern has.
std::size_t packed_size(std::size_t n_queries, std::size_t n_keys, bool triangle) noexcept;

/// The object of `followed`, at least one head, whose matrices go to `blobs`.
Record page_steps(std::span<const Inspection> followed, Blobs& blobs);

}  // namespace attnviz
