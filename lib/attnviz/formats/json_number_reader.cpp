#include "attnviz/formats/json_number_reader.h"

#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <system_error>

namespace attnviz {

namespace {

bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

const char* skip_space(const char* at, const char* end) noexcept {
  while (at != end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t')) {
    ++at;
  }
  return at;
}

// A number's text, and the number when that is digits · 10^exponent with at most 19 digits.
struct Scanned {
  const char* end = nullptr;  // nullptr: no number
  std::uint64_t digits = 0;
  int exponent = 0;
  std::ptrdiff_t n_digits = 0;  // zeros in front count
  bool is_negative = false;
};

// Takes digits into `scanned` and returns their end.
const char* take_digits(const char* at, const char* end, Scanned& scanned) noexcept {
  const char* const begin = at;
  for (; at != end && is_digit(*at); ++at) {
    scanned.digits = scanned.digits * 10 + static_cast<std::uint64_t>(*at - '0');
  }
  scanned.n_digits += at - begin;
  return at;
}

// RFC 8259, section 6.
Scanned scan_number(const char* at, const char* end) noexcept {
  constexpr int kLargestExponent = 10'000;  // past what any number needs
  Scanned scanned;
  if (at != end && *at == '-') {
    scanned.is_negative = true;
    ++at;
  }
  const char* const whole = at;
  at = take_digits(at, end, scanned);
  if (at == whole || (*whole == '0' && at - whole > 1)) {
    return scanned;
  }
  if (at != end && *at == '.') {
    const char* const fraction = ++at;
    at = take_digits(at, end, scanned);
    if (at == fraction) {
      return scanned;
    }
    scanned.exponent = -static_cast<int>(std::min<std::ptrdiff_t>(at - fraction, kLargestExponent));
  }
  if (at != end && (*at == 'e' || *at == 'E')) {
    ++at;
    const bool is_negative = at != end && *at == '-';
    if (at != end && (*at == '-' || *at == '+')) {
      ++at;
    }
    const char* const begin = at;
    int exponent = 0;
    for (; at != end && is_digit(*at); ++at) {
      exponent = std::min(exponent * 10 + (*at - '0'), kLargestExponent);
    }
    if (at == begin) {
      return scanned;
    }
    scanned.exponent += is_negative ? -exponent : exponent;
  }
  scanned.end = at;
  return scanned;
}

// The float nearest to digits · 10^exponent, when doubles tell it. Both numbers and the power are
// exact doubles, so that the product or quotient is the double nearest to it (W. Clinger, "How to
// read floating point numbers accurately", 1990). Rounding that again gives the nearest float,
// unless it stands half way between two: it may have been rounded onto that place.
std::optional<float> nearest_float(const Scanned& scanned) noexcept {
  constexpr std::array<double, 23> kPowers = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                              1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                              1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  constexpr std::uint64_t kExact = std::uint64_t{1} << 53;
  constexpr std::ptrdiff_t kMostDigits = 19;  // no more fit the 64 bits
  constexpr double kSmallest = 0x1p-126;      // of the floats of full precision
  constexpr double kLargest = 0x1p127;
  if (scanned.n_digits > kMostDigits || scanned.digits > kExact) {
    return std::nullopt;
  }
  const auto places = static_cast<std::size_t>(std::abs(scanned.exponent));
  if (places >= kPowers.size()) {
    return std::nullopt;
  }
  const auto digits = static_cast<double>(scanned.digits);
  const double size = scanned.exponent < 0 ? digits / kPowers[places] : digits * kPowers[places];
  constexpr std::uint64_t kBelowFloat = (std::uint64_t{1} << 29) - 1;  // bits that a float drops
  constexpr std::uint64_t kHalfWay = std::uint64_t{1} << 28;
  if ((std::bit_cast<std::uint64_t>(size) & kBelowFloat) == kHalfWay ||
      (size != 0.0 && (size < kSmallest || size > kLargest))) {
    return std::nullopt;
  }
  return static_cast<float>(scanned.is_negative ? -size : size);
}

// How long a null or a -Infinity is that stands here; 0: neither does.
std::size_t null_length(const char* at, const char* end) noexcept {
  if (is_digit(*at)) {
    return 0;
  }
  const std::string_view text(at, static_cast<std::size_t>(end - at));
  for (const std::string_view word : {std::string_view("null"), std::string_view("-Infinity")}) {
    if (text.starts_with(word)) {
      return word.size();
    }
  }
  return 0;
}

// Whether what stands here may be taken.
bool begins_number(const char* at, const char* end, bool takes_nulls) noexcept {
  return at != end && (is_digit(*at) || *at == '-' || (takes_nulls && *at == 'n'));
}

}  // namespace

bool is_json_number(std::string_view text) noexcept {
  const char* const end = text.data() + text.size();
  return scan_number(text.data(), end).end == end;
}

std::size_t read_json_numbers(std::string_view text, std::vector<float>& numbers,
                              std::size_t* n_nulls) {
  const char* const end = text.data() + text.size();
  const char* taken = text.data();
  const char* begin = skip_space(taken, end);
  const bool takes_nulls = n_nulls != nullptr;
  while (begins_number(begin, end, takes_nulls)) {
    const std::size_t null = takes_nulls ? null_length(begin, end) : 0;
    const Scanned scanned = null > 0 ? Scanned{begin + null} : scan_number(begin, end);
    if (scanned.end == nullptr) {
      break;
    }
    const char* next = skip_space(scanned.end, end);
    const bool is_last = next != end && *next == ']';
    if (!is_last) {
      if (next == end || *next != ',') {
        break;
      }
      next = skip_space(next + 1, end);
      if (!begins_number(next, end, takes_nulls)) {
        break;
      }
    }
    std::optional<float> number =
        null > 0 ? std::optional(-std::numeric_limits<float>::infinity()) : nearest_float(scanned);
    if (null > 0) {
      ++*n_nulls;
    }
    if (!number) {
      float exact = 0.0f;
      if (std::from_chars(begin, scanned.end, exact).ec != std::errc()) {
        break;
      }
      number = exact;
    }
    numbers.push_back(*number);
    taken = begin = next;
    if (is_last) {
      break;
    }
  }
  return static_cast<std::size_t>(taken - text.data());
}

}  // namespace attnviz
