#include "attnviz/formats/json_reader.h"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>

namespace attnviz {

namespace {

// A sign, nine digits, a point and an exponent of four characters, or sixteen written at once.
constexpr std::size_t kLongestNumber = 17;
constexpr std::size_t kLongestItem = kLongestNumber + 2;  // and ", " before it
// Fits into the nearest cache.
constexpr std::size_t kPieceSize = 4096;

constexpr std::size_t kMostDigits = 9;
constexpr std::array<std::uint32_t, kMostDigits + 1> kPowersOf10 = {
    1, 10, 100, 1000, 10'000, 100'000, 1'000'000, 10'000'000, 100'000'000, 1'000'000'000};

char* put(char* out, std::string_view text) noexcept {
  std::memcpy(out, text.data(), text.size());
  return out + text.size();
}

// Writes as std::to_chars, with a point added to whole numbers, so that readers that distinguish
// integers from floats keep the type.
char* put_any(char* out, float size) noexcept {
  if (size == 0.0f) {
    return put(out, "0.0");
  }
  char* const end = std::to_chars(out, out + kLongestNumber, size).ptr;
  const std::string_view text(out, static_cast<std::size_t>(end - out));
  return text.find_first_of(".e") == std::string_view::npos ? put(end, ".0") : end;
}

constexpr unsigned kMantissaBits = 23;
constexpr float kLeastFraction = 0x1p-27f;

// A number c · 2^-q is c · 5^places / 2^shift · 10^-places; the numerator fits 62 bits.
struct Scale {
  std::uint64_t power_of_5 = 1;
  unsigned places = 0;
  unsigned shift = 0;
};

// For the numbers in [2^(i - 28), 2^(i - 27)): the step from one float to the next is at least one
// unit of 10^-places, and less than ten.
constexpr auto kScales = [] {
  std::array<Scale, 28> scales{};
  for (unsigned i = 0; i < scales.size(); ++i) {
    const unsigned q = kMantissaBits + 28 - i;
    Scale& scale = scales[i];
    while (scale.power_of_5 >> (q - scale.places) == 0) {
      scale.power_of_5 *= 5;
      ++scale.places;
    }
    scale.shift = q - scale.places;
  }
  return scales;
}();

// digits · 10^-places, without trailing zeros.
struct Decimal {
  std::uint32_t digits = 0;
  unsigned places = 0;
};

// Returns, among the decimals with the fewest digits that read back to `number`, the nearest one.
// Precondition: from kLeastFraction to 1, and not a power of two. Without branches, because they
// would be unpredictable. After R. Giulietti, "The Schubfach way to render doubles", 2020, in whole
// numbers.
Decimal shortest(float number) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(number);
  const std::uint64_t c = (bits & ((1u << kMantissaBits) - 1)) | 1u << kMantissaBits;
  const Scale& scale = kScales[(bits >> kMantissaBits) - (127 - 28)];
  const unsigned quarters = scale.shift + 2;
  // Everything between low and high reads back; so do the ends when c is even, because floats round
  // to even.
  const std::uint64_t middle = 4 * c * scale.power_of_5;
  const std::uint64_t low = middle - 2 * scale.power_of_5 + (c & 1);
  const std::uint64_t high = middle + 2 * scale.power_of_5 - (c & 1);

  const std::uint64_t below = middle >> quarters;
  const std::uint64_t fewer = below / 10;
  const bool has_next_fewer = (10 * fewer + 10) << quarters <= high;
  const bool has_fewer = has_next_fewer | ((10 * fewer) << quarters >= low);
  const std::uint64_t half = std::uint64_t{1} << (quarters - 1);  // ties go to the even one
  const bool is_next = middle - (below << quarters) + (below & 1) > half;
  const std::uint64_t with_fewer = fewer + std::uint64_t{has_next_fewer};
  const std::uint64_t with_all = below + std::uint64_t{is_next};
  const std::uint64_t all_or_fewer = std::uint64_t{has_fewer} - 1;  // a mask
  return {static_cast<std::uint32_t>(with_fewer ^ ((with_fewer ^ with_all) & all_or_fewer)),
          scale.places - unsigned{has_fewer}};
}

std::size_t count_digits(std::uint32_t number) noexcept {
  // 1233 / 4096 is slightly more than log10(2).
  const auto guess = static_cast<std::size_t>(std::bit_width(number) * 1233) >> 12;
  return guess + static_cast<std::size_t>(number >= kPowersOf10[guess]);
}

// The decimal digits of a number below 10^8, one byte each, the first digit in the lowest byte.
// Divides all parts at once: by 10^4, then the halves by 100, then the quarters by 10, with a
// multiplication and a shift that are exact for numbers of this size.
std::uint64_t eight_digits(std::uint32_t number) noexcept {
  const std::uint64_t fours = number / 10'000 | std::uint64_t{number % 10'000} << 32;
  const std::uint64_t hundreds = fours * 10'486 >> 20 & 0x0000007F'0000007F;
  const std::uint64_t twos = hundreds | (fours - hundreds * 100) << 16;
  const std::uint64_t tens = twos * 103 >> 10 & 0x000F000F'000F000F;
  return tens | (twos - tens * 10) << 8;
}

// Writes a number that shortest() accepts as std::to_chars does: with an exponent where that is
// shorter. Always stores up to 16 characters, regardless of the length.
char* put_fraction(char* out, float number) noexcept {
  const Decimal decimal = shortest(number);
  const std::size_t count = count_digits(decimal.digits);
  const std::uint32_t nine = decimal.digits * kPowersOf10[kMostDigits - count];
  const std::uint64_t others = eight_digits(nine % kPowersOf10[kMostDigits - 1]);
  const auto first = static_cast<char>('0' + nine / kPowersOf10[kMostDigits - 1]);
  const std::size_t significant =
      kMostDigits - static_cast<std::size_t>(std::countl_zero(others)) / 8;
  const auto put_others = [others](char* to) {  // one store, in either byte order
    const std::uint64_t characters = others + 0x30303030'30303030;
    for (std::size_t i = 0; i < sizeof characters; ++i) {
      to[i] = static_cast<char>(characters >> 8 * i & 0xFF);
    }
  };

  const std::size_t zeros = decimal.places - count;  // after the point
  const std::size_t several = significant > 1 ? 1 : 0;
  if (zeros <= 2 + several) {
    put(out, "0.000");
    out += 2 + zeros;
    *out = first;
    put_others(out + 1);
    return out + significant;
  }
  out[0] = first;
  out[1] = '.';
  put_others(out + 2);
  out = put(out + significant + several, "e-0");
  *out = static_cast<char>('0' + zeros + 1);  // all numbers here exceed 10^-9
  return out + 1;
}

// Writes at most kLongestNumber characters and returns their end.
char* put_number(char* out, float number) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(number);
  if (bits == 0) {
    return put(out, "0.0");
  }
  if (!std::isfinite(number)) {
    return put(out, "null");
  }
  *out = '-';
  out += bits >> 31;
  const float size = std::fabs(number);
  const bool is_power_of_2 = bits << (32 - kMantissaBits) == 0;
  return size < 1.0f && size >= kLeastFraction && !is_power_of_2 ? put_fraction(out, size)
                                                                 : put_any(out, size);
}

}  // namespace

void append_json_number(std::string& out, float number) {
  std::array<char, kLongestNumber> text;
  out.append(text.data(), put_number(text.data(), number));
}

void append_json_items(std::string& out, std::span<const float> numbers) {
  std::array<char, kPieceSize> piece;
  char* at = piece.data();
  const char* const last_begin = piece.data() + piece.size() - kLongestItem;
  bool first = true;
  for (const float number : numbers) {
    if (at > last_begin) {
      out.append(piece.data(), at);
      at = piece.data();
    }
    if (!first) {
      at = put(at, ", ");
    }
    first = false;
    at = put_number(at, number);
  }
  out.append(piece.data(), at);
}

void append_json_values(std::string& out, std::span<const float> numbers) {
  out += '[';
  append_json_items(out, numbers);
  out += ']';
}

void append_json_row(std::string& out, std::span<const float> row) {
  if (!out.empty()) {
    out += ", ";
  }
  append_json_values(out, row);
}

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

// A number's text, and its value as digits · 10^exponent if it has at most 19 digits.
struct Scanned {
  const char* end = nullptr;  // nullptr: no number
  std::uint64_t digits = 0;
  int exponent = 0;
  std::ptrdiff_t n_digits = 0;  // including leading zeros
  bool is_negative = false;
};

// Adds digits to `scanned` and returns their end.
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
  constexpr int kLargestExponent = 10'000;  // beyond any float
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

// The float nearest to digits · 10^exponent, if doubles can determine it. Digits and power are
// exact doubles, so that the product or quotient is the double nearest to the result (W. Clinger,
// "How to read floating point numbers accurately", 1990). Rounding that again gives the nearest
// float, unless the double lies half way between two floats: it may have been rounded to that
// point.
std::optional<float> nearest_float(const Scanned& scanned) noexcept {
  constexpr std::array<double, 23> kPowers = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                              1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                              1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  constexpr std::uint64_t kExact = std::uint64_t{1} << 53;
  constexpr std::ptrdiff_t kMostRead = 19;  // the most that fit 64 bits
  constexpr double kSmallest = 0x1p-126;    // of the floats with full precision
  constexpr double kLargest = 0x1p127;
  if (scanned.n_digits > kMostRead || scanned.digits > kExact) {
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

// The length of a null or a -Infinity at this position; 0 if neither is here.
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

// Whether a number, or with `takes_nulls` a null, may begin here.
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
