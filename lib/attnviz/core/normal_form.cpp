#include "attnviz/core/normal_form.h"

#include <unicase.h>
#include <uninorm.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#include "attnviz/core/utf8.h"

namespace attnviz {

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
