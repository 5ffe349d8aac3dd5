#include "attnviz/core/utf8.h"

#include <fmt/core.h>
#include <unicase.h>
#include <uninorm.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <new>

namespace attnviz {

namespace {

constexpr char32_t kZeroWidthJoiner = 0x200D;
constexpr char32_t kTextPresentation = 0xFE0E;
constexpr char32_t kEmojiPresentation = 0xFE0F;

utf8proc_category_t category(char32_t code_point) noexcept {
  return utf8proc_category(static_cast<utf8proc_int32_t>(code_point));
}

bool is_control(char32_t code_point) noexcept {
  return category(code_point) == UTF8PROC_CATEGORY_CC;
}

// Characters that change how others look or leave no trace themselves: bidi controls, soft hyphens,
// tags, line and paragraph separators, private and unassigned characters. Emoji sequences keep
// their joiners.
bool is_invisible(char32_t code_point) noexcept {
  if (code_point == kTextPresentation || code_point == kEmojiPresentation) {
    return false;
  }
  switch (category(code_point)) {
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CN:
      return true;
    default:
      return code_point == 0x034F || code_point == 0x115F || code_point == 0x1160 ||
             code_point == 0x3164 || code_point == 0xFFA0;  // fillers that draw nothing
  }
}

bool is_space(char32_t code_point) noexcept {
  return category(code_point) == UTF8PROC_CATEGORY_ZS;
}

bool is_emoji_like(char32_t code_point) noexcept {
  const utf8proc_property_t* property =
      utf8proc_get_property(static_cast<utf8proc_int32_t>(code_point));
  return property->boundclass == UTF8PROC_BOUNDCLASS_EXTENDED_PICTOGRAPHIC;
}

std::string hex_byte(char32_t byte) {
  return fmt::format("\\x{:02X}", static_cast<std::uint32_t>(byte));
}
std::string hex_code_point(char32_t value) {
  return fmt::format("\\u{{{:04X}}}", static_cast<std::uint32_t>(value));
}

// Whether the code point at `position` is a joiner between two emoji, which makes them one glyph.
bool joins_emoji(std::string_view text, std::size_t position, const CodePoint& point,
                 char32_t previous) {
  if (point.value != kZeroWidthJoiner) {
    return false;
  }
  if (previous != kEmojiPresentation && !is_emoji_like(previous) &&
      !(previous >= 0x1F3FB && previous <= 0x1F3FF)) {  // skin tones come between emoji and joiner
    return false;
  }
  const std::size_t next = position + point.length;
  if (next >= text.size()) {
    return false;
  }
  const CodePoint following = decode_utf8(text, next);
  return following.valid && is_emoji_like(following.value);
}

bool is_hex_digit(char c) noexcept {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F');
}

// The length of the `<F0 9F>` that begins at `begin`; 0 if none does. The output of valid_utf8() is
// made printable later, and the spaces in these marks are not part of the original text.
std::size_t shown_bytes(std::string_view text, std::size_t begin) noexcept {
  for (std::size_t i = begin; i + 3 < text.size(); i += 3) {
    if (text[i] != (i == begin ? '<' : ' ') || !is_hex_digit(text[i + 1]) ||
        !is_hex_digit(text[i + 2])) {
      return 0;
    }
    if (text[i + 3] == '>') {
      return i + 4 - begin;
    }
  }
  return 0;
}

// `text` with put(out, point, place) called for each of its characters. Invalid bytes are written
// as append_invalid_bytes() does; marks in this form stay.
template <class Put>
std::string rewritten(std::string_view text, Put put) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint point = decode_utf8(text, i);
    if (!point.valid) {
      i = append_invalid_bytes(text, i, out);
    } else if (const std::size_t shown = shown_bytes(text, i); shown > 0) {
      out += text.substr(i, shown);
      i += shown;
    } else {
      put(out, point, i);
      i += point.length;
    }
  }
  return out;
}

enum class Spaces { kVisible, kKept };

std::string make_printable(std::string_view text, Spaces spaces) {
  const bool kept = spaces == Spaces::kKept;
  CodePoint previous;
  std::size_t end = 0;  // of `previous`
  return rewritten(text, [&](std::string& out, const CodePoint& point, std::size_t i) {
    if (point.value == ' ') {
      out += kept ? " " : "␠";
    } else if (point.value == '\t') {
      out += "⇥";
    } else if (point.value == '\n') {
      out += kept ? "\n" : "⏎";
    } else if (is_control(point.value)) {
      out += point.value < 0x80 ? hex_byte(point.value) : hex_code_point(point.value);
    } else if (is_space(point.value) ||
               (is_invisible(point.value) &&
                !joins_emoji(text, i, point, end == i ? previous.value : 0))) {
      out += hex_code_point(point.value);
    } else {
      out += text.substr(i, point.length);
    }
    previous = point;
    end = i + point.length;
  });
}

std::size_t cluster_width(std::string_view cluster) {
  std::size_t width = 0;
  for (std::size_t i = 0; i < cluster.size();) {
    const CodePoint point = decode_utf8(cluster, i);
    if (point.valid && point.value == kEmojiPresentation && width == 1) {
      return 2;  // a text character displayed as emoji
    }
    if (point.valid && !is_control(point.value) && width == 0) {
      const int columns = utf8proc_charwidth(static_cast<utf8proc_int32_t>(point.value));
      width = columns > 0 ? static_cast<std::size_t>(columns) : 0;
      // Two regional indicators are one flag.
      if (point.value >= 0x1F1E6 && point.value <= 0x1F1FF) {
        width = 2;
      }
    }
    i += point.length;
  }
  return width;
}

}  // namespace

CodePoint decode_utf8(std::string_view text, std::size_t position) noexcept {
  utf8proc_int32_t value = -1;
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data() + position);
  const std::size_t available = std::min<std::size_t>(text.size() - position, 4);
  const utf8proc_ssize_t length =
      utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(available), &value);
  if (length <= 0 || value < 0) {
    return {static_cast<char32_t>(bytes[0]), 1, false};
  }
  return {static_cast<char32_t>(value), static_cast<std::size_t>(length), true};
}

std::size_t valid_utf8_prefix(std::string_view text, std::size_t end) noexcept {
  std::size_t i = 0;
  const std::size_t stop = std::min(end, text.size());
  while (i < stop) {
    std::uint64_t eight = 0;
    if (text.size() - i >= sizeof eight) {
      std::memcpy(&eight, text.data() + i, sizeof eight);
      if ((eight & 0x8080808080808080) == 0) {
        i += sizeof eight;
        continue;
      }
    }
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x80) {
      ++i;
      continue;
    }
    // In byte-level vocabularies, sequences of two bytes are the most common.
    if (byte >= 0xC2 && byte < 0xE0 && i + 1 < text.size() &&
        (static_cast<unsigned char>(text[i + 1]) & 0xC0) == 0x80) {
      i += 2;
      continue;
    }
    const CodePoint point = decode_utf8(text, i);
    if (!point.valid) {
      break;
    }
    i += point.length;
  }
  return i;
}

bool is_utf8(std::string_view text) noexcept {
  return valid_utf8_prefix(text) == text.size();
}

bool is_ascii(std::string_view text) noexcept {
  return std::none_of(text.begin(), text.end(),
                      [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
}

void append_utf8(std::string& out, char32_t point) {
  std::array<utf8proc_uint8_t, 4> bytes{};
  const auto length = utf8proc_encode_char(static_cast<utf8proc_int32_t>(point), bytes.data());
  out.append(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(length));
}

std::size_t append_invalid_bytes(std::string_view text, std::size_t begin, std::string& out) {
  std::size_t i = begin;
  for (CodePoint point = decode_utf8(text, i); !point.valid; point = decode_utf8(text, i)) {
    out += fmt::format("{}{:02X}", i == begin ? "<" : " ", static_cast<std::uint32_t>(point.value));
    if (++i == text.size()) {
      break;
    }
  }
  out += '>';
  return i;
}

std::vector<std::string_view> grapheme_clusters(std::string_view text) {
  std::vector<std::string_view> clusters;
  std::size_t begin = 0;
  utf8proc_int32_t state = 0;
  CodePoint previous;
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint point = decode_utf8(text, i);
    if (i > 0) {
      const bool breaks =
          !previous.valid || !point.valid ||
          utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(previous.value),
                                           static_cast<utf8proc_int32_t>(point.value), &state);
      if (breaks) {
        clusters.push_back(text.substr(begin, i - begin));
        begin = i;
      }
      if (!previous.valid || !point.valid) {
        state = 0;
      }
    }
    previous = point;
    i += point.length;
  }
  if (begin < text.size()) {
    clusters.push_back(text.substr(begin));
  }
  return clusters;
}

std::size_t display_width(std::string_view text) {
  const bool ascii =
      std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7F; });
  if (ascii) {
    return text.size();
  }
  std::size_t width = 0;
  for (const std::string_view cluster : grapheme_clusters(text)) {
    width += cluster_width(cluster);
  }
  return width;
}

std::string printable(std::string_view text) {
  return make_printable(text, Spaces::kVisible);
}

std::string printable_message(std::string_view text) {
  return make_printable(text, Spaces::kKept);
}

std::string printable_ascii(std::string_view text) {
  return rewritten(text, [](std::string& out, const CodePoint& point, std::size_t) {
    if (point.value == ' ') {
      out += "\\s";
    } else if (point.value == '\t') {
      out += "\\t";
    } else if (point.value == '\n') {
      out += "\\n";
    } else if (point.value > 0x20 && point.value < 0x7F) {
      out += static_cast<char>(point.value);
    } else {
      out += point.value < 0x80 ? hex_byte(point.value) : hex_code_point(point.value);
    }
  });
}

std::string valid_utf8(std::string_view text) {
  return rewritten(text, [&](std::string& out, const CodePoint& point, std::size_t i) {
    out += text.substr(i, point.length);
  });
}

std::string fit_width(std::string_view text, std::size_t columns, std::string_view ellipsis) {
  if (display_width(text) <= columns) {
    return std::string(text);
  }
  const std::size_t ellipsis_width = display_width(ellipsis);
  const bool has_ellipsis = columns > ellipsis_width;
  const std::size_t room = has_ellipsis ? columns - ellipsis_width : columns;
  std::string out;
  std::size_t width = 0;
  for (const std::string_view cluster : grapheme_clusters(text)) {
    width += cluster_width(cluster);
    if (width > room) {
      break;
    }
    out += cluster;
  }
  return has_ellipsis ? out.append(ellipsis) : out;
}

std::string pad_left(std::string_view text, std::size_t columns) {
  const std::size_t width = display_width(text);
  return std::string(columns > width ? columns - width : 0, ' ').append(text);
}

std::string pad_right(std::string_view text, std::size_t columns) {
  const std::size_t width = display_width(text);
  return std::string(text).append(columns > width ? columns - width : 0, ' ');
}

std::string normal_form_c(std::string_view text, LetterCase letter_case) {
  if (text.empty() || !is_utf8(text)) {
    return std::string(text);
  }
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  std::size_t size = 0;
  const std::unique_ptr<std::uint8_t, decltype(&std::free)> made(
      letter_case == LetterCase::kFolded
          ? u8_casefold(bytes, text.size(), nullptr, UNINORM_NFC, nullptr, &size)
          : u8_normalize(UNINORM_NFC, bytes, text.size(), nullptr, &size),
      &std::free);
  if (made == nullptr) {
    throw std::bad_alloc();
  }
  return {reinterpret_cast<const char*>(made.get()), size};
}

}  // namespace attnviz
