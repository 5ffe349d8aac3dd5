#include "attnviz/text/template/python.h"

#include <unicase.h>
#include <unictype.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "attnviz/core/utf8.h"
#include "attnviz/text/unicode_classes.h"

namespace attnviz::templates {

namespace {

// The end of the character at `at`.
std::size_t end_of(std::string_view text, std::size_t at) noexcept {
  return at + decode_utf8(text, at).length;
}

std::vector<std::string_view> views_of(std::string_view text) {
  std::vector<std::string_view> views;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = end_of(text, at);
    views.push_back(text.substr(at, end - at));
    at = end;
  }
  return views;
}

// Python's isspace(): includes the separators of files, groups, records and units.
bool is_space(char32_t point) noexcept {
  return is_white_space(point) || (point >= 0x1C && point <= 0x1F);
}

template <class Change>
std::string changed(std::string_view text, const Change& change) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint step = decode_utf8(text, at);
    if (step.valid) {
      change(step.value, at, out);
    } else {
      out += text.substr(at, step.length);
    }
    at += step.length;
  }
  return out;
}

utf8proc_category_t category_of(char32_t point) noexcept {
  return utf8proc_category(static_cast<utf8proc_int32_t>(point));
}

// The upper case of a lower-case letter, or its title case, as at the beginning of words: "FI",
// "Fi" for ﬁ.
void append_capital(std::string& out, char32_t point, bool only_first) {
  std::string one;
  append_utf8(one, point);
  std::array<std::uint8_t, 32> made{};  // a letter becomes three at most
  std::size_t size = made.size();
  (only_first ? u8_totitle : u8_toupper)(reinterpret_cast<const std::uint8_t*>(one.data()),
                                         one.size(), nullptr, nullptr, made.data(), &size);
  out.append(reinterpret_cast<const char*>(made.data()), size);
}

bool is_cased(char32_t point) noexcept {
  return uc_is_property_cased(point);
}

// Whether the Σ at `at` ends a word: a letter comes before it, and none after it.
bool is_last_letter(std::string_view text, std::size_t at) noexcept {
  const auto is_letter = [&](bool backward) {
    for (std::size_t i = at;;) {
      if (backward ? i == 0 : end_of(text, i) == text.size()) {
        return false;
      }
      i = backward ? i - 1 : end_of(text, i);
      while (backward && i > 0 && (static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80U) {
        --i;
      }
      const CodePoint step = decode_utf8(text, i);
      if (!step.valid || !uc_is_property_case_ignorable(step.value)) {
        return step.valid && is_cased(step.value);
      }
    }
  };
  return is_letter(/*backward=*/true) && !is_letter(/*backward=*/false);
}

void append_small(std::string& out, char32_t point, std::string_view text, std::size_t at) {
  append_lower(out, point == U'Σ' && is_last_letter(text, at) ? U'ς' : point);
}

}  // namespace

std::size_t n_characters(std::string_view text) noexcept {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); at = end_of(text, at)) {
    ++count;
  }
  return count;
}

namespace {

struct SliceBounds {
  std::int64_t first, end, step;
};

SliceBounds slice_bounds(std::size_t size, std::optional<std::int64_t> first,
                         std::optional<std::int64_t> end, std::int64_t step) noexcept {
  const auto n = static_cast<std::int64_t>(size);
  const std::int64_t lowest = step > 0 ? 0 : -1;
  const std::int64_t highest = step > 0 ? n : n - 1;
  const auto place = [&](std::optional<std::int64_t> given, std::int64_t otherwise) {
    if (!given) {
      return otherwise;
    }
    const std::int64_t index = std::clamp(*given, -n - 1, n + 1);
    return std::clamp(index < 0 ? index + n : index, lowest, highest);
  };
  return {place(first, step > 0 ? lowest : highest), place(end, step > 0 ? highest : lowest),
          std::clamp(step, -n - 1, n + 1)};
}

std::vector<std::size_t> indices_of(const SliceBounds& of) {
  std::vector<std::size_t> indices;
  for (std::int64_t i = of.first; of.step > 0 ? i < of.end : i > of.end; i += of.step) {
    indices.push_back(static_cast<std::size_t>(i));
  }
  return indices;
}

// The beginning of the character with this index.
std::size_t place_of(std::string_view text, std::int64_t index) noexcept {
  std::size_t at = 0;
  for (; at < text.size() && index > 0; --index) {
    at = end_of(text, at);
  }
  return at;
}

}  // namespace

std::vector<std::size_t> slice_indices(std::size_t size, std::optional<std::int64_t> first,
                                       std::optional<std::int64_t> end, std::int64_t step) {
  return indices_of(slice_bounds(size, first, end, step));
}

std::string sliced(std::string_view text, std::optional<std::int64_t> first,
                   std::optional<std::int64_t> end, std::int64_t step) {
  const SliceBounds bounds = slice_bounds(n_characters(text), first, end, step);
  if (step == 1) {
    const std::size_t begin = place_of(text, bounds.first);
    const std::string_view rest = text.substr(begin);
    return std::string(rest.substr(0, place_of(rest, bounds.end - bounds.first)));
  }
  const std::vector<std::string_view> all = views_of(text);
  std::string out;
  for (const std::size_t i : indices_of(bounds)) {
    out += all[i];
  }
  return out;
}

std::optional<std::string> character_at(std::string_view text, std::int64_t index) {
  const std::int64_t place =
      index < 0 ? index + static_cast<std::int64_t>(n_characters(text)) : index;
  if (place < 0) {
    return std::nullopt;
  }
  const std::size_t at = place_of(text, place);
  return at == text.size() ? std::nullopt
                           : std::optional<std::string>(text.substr(at, end_of(text, at) - at));
}

std::vector<std::string> characters_of(std::string_view text) {
  const std::vector<std::string_view> all = views_of(text);
  return {all.begin(), all.end()};
}

std::string_view stripped(std::string_view text, Side side,
                          std::optional<std::string_view> characters) {
  const auto goes = [&](std::size_t at) {
    if (characters) {
      return characters->find(text.substr(at, end_of(text, at) - at)) != std::string_view::npos;
    }
    const CodePoint step = decode_utf8(text, at);
    return step.valid && is_space(step.value);
  };
  if (side != Side::kRight) {
    std::size_t begin = 0;
    while (begin < text.size() && goes(begin)) {
      begin = end_of(text, begin);
    }
    text.remove_prefix(begin);
  }
  if (side != Side::kLeft) {
    std::size_t kept = 0;
    for (std::size_t at = 0; at < text.size(); at = end_of(text, at)) {
      kept = goes(at) ? kept : end_of(text, at);
    }
    text = text.substr(0, kept);
  }
  return text;
}

std::vector<std::string> split_words(std::string_view text, std::size_t most) {
  std::vector<std::string> parts;
  text = stripped(text, Side::kLeft);
  while (!text.empty() && parts.size() < most) {
    std::size_t end = 0;
    while (end < text.size()) {
      const CodePoint step = decode_utf8(text, end);
      if (step.valid && is_space(step.value)) {
        break;
      }
      end += step.length;
    }
    parts.emplace_back(text.substr(0, end));
    text = stripped(text.substr(end), Side::kLeft);
  }
  if (!text.empty()) {
    parts.emplace_back(text);
  }
  return parts;
}

std::vector<std::string> split_at(std::string_view text, std::string_view separator,
                                  std::size_t most) {
  std::vector<std::string> parts;
  for (std::size_t found = text.find(separator);
       found != std::string_view::npos && parts.size() < most; found = text.find(separator)) {
    parts.emplace_back(text.substr(0, found));
    text.remove_prefix(found + separator.size());
  }
  parts.emplace_back(text);
  return parts;
}

std::vector<std::string_view> lines_of(std::string_view text, bool keep_ends, Budget& budget) {
  constexpr std::u32string_view kEnds = U"\n\v\f\r\x1C\x1D\x1E\u0085\u2028\u2029";
  std::vector<std::string_view> lines;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint step = decode_utf8(text, at);
    if (!step.valid || kEnds.find(step.value) == std::u32string_view::npos) {
      at += step.length;
      continue;
    }
    const std::size_t end = at + (text.substr(at).starts_with("\r\n") ? 2 : step.length);
    budget.make(Budget::kBytesPerItem);
    lines.push_back(text.substr(begin, (keep_ends ? end : at) - begin));
    begin = at = end;
  }
  if (begin < text.size()) {
    lines.push_back(text.substr(begin));
  }
  return lines;
}

std::size_t n_parts(std::string_view text, std::string_view separator) noexcept {
  std::size_t count = 1;
  for (std::size_t at = text.find(separator); at != std::string_view::npos;
       at = text.find(separator, at + separator.size())) {
    ++count;
  }
  return count;
}

std::string replaced(std::string_view text, std::string_view from, std::string_view to,
                     std::size_t most) {
  if (from.empty()) {  // between all characters
    std::string out;
    for (const std::string_view one : views_of(text)) {
      out += most > 0 ? to : std::string_view();
      most -= most > 0 ? 1 : 0;
      out += one;
    }
    return out + std::string(most > 0 ? to : std::string_view());
  }
  std::string out;
  for (const std::string& part : split_at(text, from, most)) {
    out += part;
    out += to;
  }
  out.resize(out.size() - to.size());
  return out;
}

bool is_all_digits(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); at = end_of(text, at)) {
    const CodePoint step = decode_utf8(text, at);
    const auto category = step.valid ? category_of(step.value) : UTF8PROC_CATEGORY_CN;
    if (category == UTF8PROC_CATEGORY_NO) {
      fail("isdigit() is not supported for numbers other than plain digits");
    }
    if (category != UTF8PROC_CATEGORY_ND) {
      return false;
    }
  }
  return !text.empty();
}

std::string lower_case(std::string_view text) {
  return changed(text, [text](char32_t point, std::size_t at, std::string& out) {
    append_small(out, point, text, at);
  });
}

std::string upper_case(std::string_view text) {
  return changed(text, [](char32_t point, std::size_t, std::string& out) {
    append_capital(out, point, /*only_first=*/false);
  });
}

namespace {

// One capital letter, then lower case as long as the word continues after each character.
template <class GoesOn>
std::string capitalized_words(std::string_view text, bool only_first, const GoesOn& goes_on) {
  bool is_inside = false;
  std::size_t begin = 0;  // of the word that decides how letters are lowered
  return changed(text, [&](char32_t point, std::size_t at, std::string& out) {
    if (is_inside) {
      append_small(out, point, text.substr(begin), at - begin);
    } else {
      append_capital(out, point, only_first);
      begin = only_first ? 0 : end_of(text, at);  // Jinja's filter lowers each part separately
    }
    is_inside = goes_on(point);
  });
}

}  // namespace

std::string title_case(std::string_view text) {
  return capitalized_words(text, /*only_first=*/true, is_cased);
}

std::string headline_case(std::string_view text) {
  return capitalized_words(text, /*only_first=*/false, [](char32_t point) {
    constexpr std::u32string_view kBegins = U"-({[<";
    return !is_space(point) && kBegins.find(point) == std::u32string_view::npos;
  });
}

std::string capitalized(std::string_view text) {
  return capitalized_words(text, /*only_first=*/true, [](char32_t) { return true; });
}

std::string with_line_feeds(std::string_view source) {
  std::string lines;
  lines.reserve(source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r') {
      i += source.substr(i).starts_with("\r\n") ? 1U : 0U;
      lines += '\n';
    } else {
      lines += source[i];
    }
  }
  return lines;
}

}  // namespace attnviz::templates
