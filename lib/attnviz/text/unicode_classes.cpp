#include "attnviz/text/unicode_classes.h"

#include <unictype.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>

#include "attnviz/core/utf8.h"

namespace attnviz {

namespace {

utf8proc_category_t category(char32_t point) noexcept {
  return utf8proc_category(static_cast<utf8proc_int32_t>(point));
}

bool is_between(utf8proc_category_t value, utf8proc_category_t first,
                utf8proc_category_t last) noexcept {
  return value >= first && value <= last;
}

// Whether the text has a valid character of a class.
template <class IsOfClass>
bool has_any(std::string_view text, const IsOfClass& is_of_class) noexcept {
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint point = decode_utf8(text, i);
    if (point.valid && is_of_class(point.value)) {
      return true;
    }
    i += point.length;
  }
  return false;
}

bool is_letter_or_number(char32_t c) noexcept {
  return !is_white_space(c) && !is_punctuation(c) && !is_control(c) &&
         category(c) != UTF8PROC_CATEGORY_CN;
}

}  // namespace

bool is_white_space(char32_t point) noexcept {
  if (point < 0x80) {
    return point == ' ' || (point >= '\t' && point <= '\r');
  }
  return point == 0x85 || point == 0x2028 || point == 0x2029 ||
         category(point) == UTF8PROC_CATEGORY_ZS;
}

bool is_punctuation(char32_t point) noexcept {
  if (point < 0x80) {
    return (point >= '!' && point <= '/') || (point >= ':' && point <= '@') ||
           (point >= '[' && point <= '`') || (point >= '{' && point <= '~');
  }
  return is_between(category(point), UTF8PROC_CATEGORY_PC, UTF8PROC_CATEGORY_PO);
}

bool is_number(char32_t point) noexcept {
  return is_between(category(point), UTF8PROC_CATEGORY_ND, UTF8PROC_CATEGORY_NO);
}

bool is_lower_case(char32_t point) noexcept {
  return category(point) == UTF8PROC_CATEGORY_LL;
}

bool is_mark(char32_t point) noexcept {
  return is_between(category(point), UTF8PROC_CATEGORY_MN, UTF8PROC_CATEGORY_ME);
}

bool is_spacing_free_mark(char32_t point) noexcept {
  return category(point) == UTF8PROC_CATEGORY_MN;
}

bool is_control(char32_t point) noexcept {
  return is_between(category(point), UTF8PROC_CATEGORY_CC, UTF8PROC_CATEGORY_CO);
}

bool is_word(char32_t point) noexcept {
  const utf8proc_category_t found = category(point);
  return is_between(found, UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_ND) ||
         found == UTF8PROC_CATEGORY_PC || uc_is_property_alphabetic(point) ||
         uc_is_property_join_control(point);
}

bool is_han(char32_t point) noexcept {
  constexpr std::array<std::array<char32_t, 2>, 8> kBlocks = {{{0x3400, 0x4DBF},
                                                               {0x4E00, 0x9FFF},
                                                               {0xF900, 0xFAFF},
                                                               {0x20000, 0x2A6DF},
                                                               {0x2A700, 0x2B73F},
                                                               {0x2B740, 0x2B81F},
                                                               {0x2B820, 0x2CEAF},
                                                               {0x2F800, 0x2FA1F}}};
  return point >= kBlocks[0][0] && std::any_of(kBlocks.begin(), kBlocks.end(), [&](auto block) {
           return point >= block[0] && point <= block[1];
         });
}

const char* joined_script(char32_t point) noexcept {
  constexpr char32_t kLongVowel = U'ー';
  static const uc_script_t* const han = uc_script_byname("Han");
  static const uc_script_t* const kana[] = {uc_script_byname("Hiragana"),
                                            uc_script_byname("Katakana")};
  const uc_script_t* const own = uc_script(point);
  const bool is_kana = point == kLongVowel || own == kana[0] || own == kana[1];
  const uc_script_t* const script = is_kana ? han : own;
  return script == nullptr ? nullptr : script->name;
}

bool has_letter(std::string_view text) noexcept {
  return has_any(text, [](char32_t c) { return is_letter_or_number(c) && !is_number(c); });
}

bool has_letter_or_number(std::string_view text) noexcept {
  return has_any(text, is_letter_or_number);
}

bool is_all_punctuation(std::string_view text) noexcept {
  std::size_t i = 0;
  while (i < text.size()) {
    const CodePoint point = decode_utf8(text, i);
    if (!point.valid ||
        !is_between(category(point.value), UTF8PROC_CATEGORY_PC, UTF8PROC_CATEGORY_PO)) {
      return false;
    }
    i += point.length;
  }
  return !text.empty();
}

void append_lower(std::string& out, char32_t point) {
  if (point == 0x130) {  // the only character whose lower case is two characters: i and a dot above
    out += "i\u0307";
    return;
  }
  append_utf8(out, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(point))));
}

}  // namespace attnviz
