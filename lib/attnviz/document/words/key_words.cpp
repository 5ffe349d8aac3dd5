#include "attnviz/document/words/key_words.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "attnviz/core/message.h"

namespace attnviz {

namespace {

// Equal but for the rounding of floats.
bool about_equal(float a, float b) noexcept {
  return std::abs(a - b) <= 2e-6f * std::max(std::abs(a), std::abs(b));
}

}  // namespace

KeyWords::KeyWords(const Inspection& head, const TokenNames& names)
    : head_(head), names_(names), query_(names.quoted(head.query)) {
  for (std::size_t key = 0; key < head.n_tokens(); ++key) {
    (head.is_visible(key) ? visible_ : hidden_).push_back(key);
  }
}

KeyWords::Keys KeyWords::ties(const Keys& sorted, std::span<const float> values) {
  Keys first;
  for (const std::size_t key : sorted) {
    if (!about_equal(values[key], values[sorted.front()])) {
      break;
    }
    first.push_back(key);
  }
  std::sort(first.begin(), first.end());
  return first;
}

KeyWords::Keys KeyWords::sorted_by(Keys keys, std::span<const float> values) {
  std::stable_sort(keys.begin(), keys.end(),
                   [&](std::size_t a, std::size_t b) { return values[a] > values[b]; });
  return keys;
}

std::string KeyWords::named(const Keys& keys, bool refers_back) const {
  constexpr std::size_t kMostNamed = 4;
  std::vector<std::string> items;
  items.reserve(kMostNamed);
  for (std::size_t i = 0; i < std::min(keys.size(), kMostNamed); ++i) {
    items.push_back(refers_back ? itself_or(keys[i]) : names_.quoted(keys[i]));
  }
  if (keys.size() > kMostNamed) {
    items.back() = fmt::format("{} others", keys.size() - kMostNamed + 1);
  }
  return joined(items, "and");
}

std::string KeyWords::itself_or(std::size_t key) const {
  return key == head_.query ? "itself" : names_.quoted(key);
}

}  // namespace attnviz
