#include "attnviz/text/tokenizers/charsmap.h"

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/core/load_number.h"
#include "attnviz/core/utf8.h"
#include "attnviz/text/tokenizers/prefix_index.h"

namespace attnviz {

namespace {

struct Found {
  std::size_t length = 0;  // bytes of the text
  std::string_view replacement;
};

class CharsMap {
 public:
  CharsMap(std::vector<std::uint32_t> units, std::string_view replacements)
      : units_(std::move(units)), replacements_(replacements) {}

  // The longest entry that `text` begins with. A trie that leads back into itself has entries
  // without end.
  std::optional<Found> find(std::string_view text) const noexcept {
    constexpr std::size_t kLongest = 64;
    text = text.substr(0, kLongest);
    std::optional<Found> longest;
    std::size_t node = offset_of(units_[0]);
    for (std::size_t i = 0; i < text.size(); ++i) {
      node ^= static_cast<unsigned char>(text[i]);
      // A unit's label is its lowest byte; the highest bit marks values, which no byte equals.
      constexpr std::uint32_t kLabel = 0x800000FF;
      if (node >= units_.size() || (units_[node] & kLabel) != static_cast<unsigned char>(text[i])) {
        break;
      }
      const bool has_value = (units_[node] >> 8 & 1) != 0;
      node ^= offset_of(units_[node]);
      if (has_value && node < units_.size()) {
        const std::size_t begin = units_[node] & 0x7FFFFFFF;
        if (begin < replacements_.size()) {
          const std::string_view rest = std::string_view(replacements_).substr(begin);
          longest = {i + 1, rest.substr(0, rest.find('\0'))};
        }
      }
    }
    return longest;
  }

 private:
  static std::size_t offset_of(std::uint32_t unit) noexcept {
    return std::size_t{unit >> 10} << ((unit & 0x200) >> 6);
  }

  std::vector<std::uint32_t> units_;
  std::string replacements_;
};

void apply(const CharsMap& map, const PrefixIndex& as_they_are, AlignedText& text) {
  AlignedBuilder builder(text);
  bool is_changed = false;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t kept = 0;
    as_they_are.prefixes(text.text().substr(i),
                         [&](std::uint32_t, std::size_t size) { kept = size; });
    if (kept > 0) {
      builder.keep({i, i + kept});
      i += kept;
    } else if (const auto found = map.find(text.text().substr(i))) {
      const ByteRange range{i, i + found->length};
      if (found->replacement == text.text(range)) {
        builder.keep(range);
      } else {
        builder.put(found->replacement, range);
        is_changed = true;
      }
      i = range.end;
    } else {
      const std::size_t end = i + decode_utf8(text.text(), i).length;
      builder.keep({i, end});
      i = end;
    }
  }
  if (is_changed) {
    text = builder.finish();
  }
}

}  // namespace

Normalizer charsmap_normalizer(std::string_view bytes, std::string_view where,
                               std::vector<std::string> as_they_are) {
  if (bytes.empty()) {
    return {};
  }
  constexpr std::size_t kHead = 4;
  const std::size_t size = bytes.size() < kHead ? 0 : load_number<std::uint32_t>(bytes.data());
  if (size == 0 || size % 4 != 0 || size > bytes.size() - kHead) {
    throw Error(ErrorKind::kMalformed,
                fmt::format("{}expected a trie of up to {} bytes, a multiple of 4, found a size "
                            "of {}",
                            where, bytes.size() < kHead ? 0 : bytes.size() - kHead, size));
  }
  std::vector<std::uint32_t> units(size / 4);
  for (std::size_t i = 0; i < units.size(); ++i) {
    units[i] = load_number<std::uint32_t>(bytes.data() + kHead + 4 * i);
  }
  const std::string_view replacements = bytes.substr(kHead + size);
  if (!is_utf8(replacements)) {
    throw Error(ErrorKind::kMalformed,
                fmt::format("{}expected replacements in UTF-8, found other bytes", where));
  }
  const auto map = std::make_shared<const CharsMap>(std::move(units), replacements);
  const auto strings = std::make_shared<const std::vector<std::string>>(std::move(as_they_are));
  const auto kept = std::make_shared<const PrefixIndex>(
      std::vector<std::string_view>(strings->begin(), strings->end()));
  return [map, strings, kept](AlignedText& text) { apply(*map, *kept, text); };
}

std::string decoded_base64(std::string_view text, std::string_view where) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  while (text.ends_with('=')) {
    text.remove_suffix(1);
  }
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 3);
  std::uint32_t bits = 0;
  unsigned n_bits = 0;
  for (const char c : text) {
    const std::size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) {
      throw Error(ErrorKind::kMalformed,
                  fmt::format("{}expected base64, found other characters", where));
    }
    bits = (bits << 6) | static_cast<std::uint32_t>(digit);
    n_bits += 6;
    if (n_bits >= 8) {
      n_bits -= 8;
      bytes += static_cast<char>((bits >> n_bits) & 0xFF);
    }
  }
  return bytes;
}

}  // namespace attnviz
