#include "attnviz/text/tokenizers/byte_level.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/stored_matrix.h"
#include "attnviz/core/utf8.h"
#include "attnviz/text/tokenizers/vocabulary.h"

namespace attnviz {

namespace {

constexpr std::size_t kBytes = 256;
// The last character is U+0143: U+0100 + the 68 bytes that are not printable in Latin-1.
constexpr std::size_t kCharacters = 0x144;

constexpr bool is_printable(std::size_t byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

struct Character {
  std::array<char, 2> bytes{};
  std::size_t size = 0;
};

constexpr Character encoded(std::size_t point) {
  if (point < 0x80) {
    return {{static_cast<char>(point), 0}, 1};
  }
  return {{static_cast<char>(0xC0 | (point >> 6)), static_cast<char>(0x80 | (point & 0x3F))}, 2};
}

struct Alphabet {
  std::array<Character, kBytes> characters{};
  std::array<std::int16_t, kCharacters> bytes{};
};

constexpr Alphabet make_alphabet() {
  Alphabet alphabet;
  alphabet.bytes.fill(-1);
  std::size_t next = 0x100;
  for (std::size_t byte = 0; byte < kBytes; ++byte) {
    const std::size_t point = is_printable(byte) ? byte : next++;
    alphabet.characters[byte] = encoded(point);
    alphabet.bytes[point] = static_cast<std::int16_t>(byte);
  }
  return alphabet;
}

constexpr Alphabet kAlphabet = make_alphabet();

}  // namespace

std::string_view byte_level_character(unsigned char byte) noexcept {
  const Character& character = kAlphabet.characters[byte];
  return {character.bytes.data(), character.size};
}

std::string byte_level_decoded(std::string_view piece) {
  std::string bytes;
  for (std::size_t i = 0; i < piece.size();) {
    const CodePoint point = decode_utf8(piece, i);
    const std::size_t value = point.valid ? point.value : kCharacters;
    if (value >= kCharacters || kAlphabet.bytes[value] < 0) {
      return std::string(piece);
    }
    bytes += static_cast<char>(kAlphabet.bytes[value]);
    i += point.length;
  }
  return bytes;
}

namespace {

struct Found {
  std::size_t length = 0;  // in bytes of the text
  std::string_view replacement;
};

class CharsMap {
 public:
  CharsMap() = default;
  CharsMap(std::vector<std::uint32_t> units, std::string_view replacements)
      : units_(std::move(units)), replacements_(replacements) {}

  // The longest entry that `text` begins with. The limit guards against a trie that leads back into
  // itself, whose entries never end.
  std::optional<Found> find(std::string_view text) const noexcept {
    constexpr std::size_t kLongest = 64;
    std::optional<Found> longest;
    if (units_.empty()) {
      return longest;
    }
    text = text.substr(0, kLongest);
    std::size_t node = offset_of(units_[0]);
    for (std::size_t i = 0; i < text.size(); ++i) {
      node ^= static_cast<unsigned char>(text[i]);
      // A unit's label is its lowest byte; the highest bit marks values, and no byte equals it.
      constexpr std::uint32_t kLabel = 0x800000FF;
      if (node >= units_.size() || (units_[node] & kLabel) != static_cast<unsigned char>(text[i])) {
        break;
      }
      const bool has_value = (units_[node] >> 8 & 1) != 0;
      node ^= offset_of(units_[node]);
      if (has_value && node < units_.size()) {
        const std::size_t begin = units_[node] & 0x7FFFFFFF;
        if (begin < replacements_.size()) {
          longest = {i + 1, std::string_view(replacements_).substr(begin)};
        }
      }
    }
    if (longest) {
      longest->replacement = longest->replacement.substr(0, longest->replacement.find('\0'));
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

// Limits their length, because the end of a replacement is searched for at each use.
void check_replacements(std::string_view replacements, std::string_view where) {
  constexpr std::size_t kLongest = 1024;
  for (std::size_t begin = 0; begin < replacements.size();) {
    const std::size_t size = std::min(replacements.find('\0', begin), replacements.size()) - begin;
    if (size > kLongest) {
      throw Error(ErrorKind::kMalformed,
                  fmt::format("{}expected replacements of at most {}, found {}", where,
                              counted(kLongest, "byte"), size));
    }
    begin += size + 1;
  }
}

CharsMap read_map(std::string_view bytes, std::string_view where) {
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
  check_replacements(replacements, where);
  if (!is_utf8(replacements)) {
    throw Error(ErrorKind::kMalformed,
                fmt::format("{}expected replacements in UTF-8, found other bytes", where));
  }
  return {std::move(units), replacements};
}

class CharsMapNormalizer {
 public:
  CharsMapNormalizer(CharsMap map, KeptStrings kept)
      : map_(std::move(map)),
        kept_(std::move(kept)),
        index_({kept_.strings.begin(), kept_.strings.end()}) {}
  CharsMapNormalizer(const CharsMapNormalizer&) = delete;  // the index has views
  CharsMapNormalizer& operator=(const CharsMapNormalizer&) = delete;

  void apply(AlignedText& text) const {
    AlignedBuilder builder(text);
    bool is_changed = false;
    bool after_space = true;
    for (std::size_t i = 0; i < text.size();) {
      const std::string_view rest = text.text().substr(i);
      std::size_t size = 0;
      index_.prefixes(rest, [&](std::uint32_t, std::size_t length) { size = length; });
      std::string_view made = rest.substr(0, size);
      if (size > 0) {
        is_changed |= keep_string(text.text(), {i, i + size}, after_space, builder);
      } else if (const auto found = map_.find(rest)) {
        size = found->length;
        made = found->replacement;
        if (made == rest.substr(0, size)) {
          builder.keep({i, i + size});
        } else {
          builder.put(made, {i, i + size});
          is_changed = true;
        }
      } else {
        size = decode_utf8(text.text(), i).length;
        made = rest.substr(0, size);
        builder.keep({i, i + size});
      }
      after_space = made.empty() ? after_space : made.ends_with(' ');
      i += size;
    }
    if (is_changed) {
      text = builder.finish();
    }
  }

 private:
  // Returns whether part of the string was changed.
  bool keep_string(std::string_view text, ByteRange range, bool after_space,
                   AlignedBuilder& builder) const {
    bool is_changed = false;
    for (std::size_t i = range.begin; i < range.end; ++i) {
      after_space = after_space && text[i] == ' ';
      if (text[i] == ' ' && !after_space && i + 1 < range.end && !kept_.inner_space.empty()) {
        builder.put(kept_.inner_space, {i, i + 1});
        is_changed = true;
      } else {
        builder.keep({i, i + 1});
      }
    }
    return is_changed;
  }

  CharsMap map_;
  KeptStrings kept_;
  PrefixIndex index_;
};

}  // namespace

Normalizer charsmap_normalizer(std::string_view bytes, std::string_view where, KeptStrings kept) {
  const auto has_space = [](const std::string& string) { return string.find(' ') != string.npos; };
  if (bytes.empty() &&
      (kept.inner_space.empty() || std::ranges::none_of(kept.strings, has_space))) {
    return {};
  }
  const auto normalizer =
      std::make_shared<const CharsMapNormalizer>(read_map(bytes, where), std::move(kept));
  return [normalizer](AlignedText& text) { normalizer->apply(text); };
}

}  // namespace attnviz
