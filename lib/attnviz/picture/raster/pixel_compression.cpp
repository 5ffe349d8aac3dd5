#include "attnviz/picture/raster/png_encode.h"

#include <libdeflate.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace attnviz {

namespace {

// Shorter ones take more bits than a picture's literals.
constexpr std::size_t kLeastRun = 4;
constexpr std::size_t kLeastMatch = 6;

std::uint64_t word(const std::uint8_t* at) noexcept {
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, at, sizeof bytes);
  return bytes;
}

// 0 where eight bytes are equal.
std::uint64_t difference(const std::uint8_t* a, const std::uint8_t* b) noexcept {
  return word(a) ^ word(b);
}

std::size_t equal_bytes(std::uint64_t found) noexcept {
  return static_cast<std::size_t>(std::endian::native == std::endian::little
                                      ? std::countr_zero(found)
                                      : std::countl_zero(found)) /
         8;
}

// Returns how many bytes from `at` on equal those from `before` on, if the first eight do.
std::size_t long_match(const std::uint8_t* at, const std::uint8_t* before,
                       const std::uint8_t* end) noexcept {
  const std::uint8_t* const begin = at;
  const auto step = [&](std::ptrdiff_t count) { at += count, before += count; };
  step(8);
  // Matches longer than a cell are usually much longer.
  while (end - at >= 32 &&
         (difference(at, before) | difference(at + 8, before + 8) |
          difference(at + 16, before + 16) | difference(at + 24, before + 24)) == 0) {
    step(32);
  }
  for (; end - at >= 8; step(8)) {
    if (const std::uint64_t found = difference(at, before)) {
      return static_cast<std::size_t>(at - begin) + equal_bytes(found);
    }
  }
  while (at < end && *at == *before) {
    step(1);
  }
  return static_cast<std::size_t>(at - begin);
}

// The same for any bytes; at least eight must exist.
inline std::size_t match_length(const std::uint8_t* at, const std::uint8_t* before,
                                const std::uint8_t* end) noexcept {
  const std::uint64_t found = difference(at, before);
  return found != 0 ? equal_bytes(found) : long_match(at, before, end);
}

struct Match {
  std::size_t length = 0;
  std::size_t distance = 0;
};

// Splits bytes into literals and matches. It keeps as many past bytes as a match can reach back to,
// and some bytes ahead, so that matches are not cut at the end of a row.
class MatchFinder {
 public:
  explicit MatchFinder(std::string& out)
      : writer_(out), buffer_(new std::uint8_t[kBufferBytes]), places_(1u << kPlaceBits) {}

  void add(std::span<const std::uint8_t> bytes) {
    while (!bytes.empty()) {
      const auto part = bytes.first(std::min(bytes.size(), kWindow));
      if (end_ + part.size() > kBufferBytes) {
        sum_up();
        const std::size_t unused = at_ - kWindow;
        std::memmove(buffer_.get(), buffer_.get() + unused, end_ - unused);
        start_ += unused;
        at_ -= unused;
        end_ -= unused;
        summed_up_ = end_;
      }
      std::memcpy(buffer_.get() + end_, part.data(), part.size());
      end_ += part.size();
      cut(DeflateWriter::kLongestMatch);
      bytes = bytes.subspan(part.size());
    }
  }
  // Returns the checksum of all bytes.
  std::uint32_t finish() {
    sum_up();
    cut(0);
    writer_.finish();
    return checksum_;
  }

 private:
  static constexpr std::size_t kWindow = DeflateWriter::kWindow;
  static constexpr std::size_t kBufferBytes = 4 * kWindow;
  static constexpr unsigned kPlaceBits = 12;

  void sum_up() noexcept {
    checksum_ = libdeflate_adler32(checksum_, buffer_.get() + summed_up_, end_ - summed_up_);
  }

  // Splits all but the last `ahead` bytes.
  void cut(std::ptrdiff_t ahead) {
    const std::uint8_t* const begin = buffer_.get();
    const std::uint8_t* const end = begin + end_;
    const auto run_length = [end](const std::uint8_t* from) {
      return match_length(from, from - 1, end);
    };
    const std::uint8_t* at = begin + at_;
    while (end - at > ahead) {
      Match match;
      if (end - at > 8 && at > begin) {
        match = {run_length(at), 1};
        if (match.length < kLeastRun) {
          match = longest_match(at, end);
          // A run that begins with the next byte may be longer.
          if (match.length > 0 && match.length <= 1 + run_length(at + 1)) {
            match.length = 0;
          }
        }
      }
      if (match.length < kLeastRun) {
        writer_.literal(*at++);
      } else {
        writer_.match(match.length, match.distance);
        at += match.length;
      }
    }
    at_ = static_cast<std::size_t>(at - begin);
  }

  // Finds the longest match at the last two positions where the same four bytes as at `at` began.
  Match longest_match(const std::uint8_t* at, const std::uint8_t* end) noexcept {
    constexpr std::uint32_t kGoldenRatio = 0x9E3779B1;  // Knuth's multiplicative hashing
    std::uint32_t four = 0;
    std::memcpy(&four, at, sizeof four);
    auto& [last, one_before] = places_[four * kGoldenRatio >> (32 - kPlaceBits)];
    const std::size_t here = start_ + static_cast<std::size_t>(at - buffer_.get());
    Match best;
    for (const std::size_t distance : {here - last, here - one_before}) {
      if (distance > 0 && distance <= kWindow) {
        const std::size_t length = match_length(at, at - distance, end);
        if (length >= kLeastMatch && length > best.length) {
          best = {length, distance};
        }
      }
    }
    one_before = std::exchange(last, static_cast<std::uint32_t>(here));
    return best;
  }

  DeflateWriter writer_;
  std::unique_ptr<std::uint8_t[]> buffer_;  // small pictures touch only a little of it
  std::size_t start_ = 0;                   // position of the buffer's first byte in all bytes
  std::size_t at_ = 0;                      // in the buffer: the first byte not yet split
  std::size_t end_ = 0;
  std::size_t summed_up_ = 0;
  std::uint32_t checksum_ = 1;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> places_;  // positions in all bytes
};

// Whether most bytes differ from those above, but only slightly, as where a pattern changes
// smoothly from pixel to pixel and nothing repeats. Judged by a sample of the bytes.
bool is_smooth(std::span<const std::uint8_t> row, std::span<const std::uint8_t> above) noexcept {
  constexpr std::size_t kStep = 61;
  const auto size_of = [](int byte) { return std::abs(static_cast<std::int8_t>(byte)); };
  long balance = 0;
  long numbers = 0;
  long differences = 0;
  for (std::size_t i = 0; i < above.size(); i += kStep) {
    balance += row[i] == above[i] ? -1 : 1;
    numbers += size_of(row[i]);
    differences += size_of(row[i] - above[i]);
  }
  return balance > 0 && 8 * differences < numbers;
}

constexpr std::string_view kZlibHeader("\x78\x01");  // deflate with a window of 32 KB, fastest

void append_checksum(std::string& zlib, std::uint32_t checksum) {
  for (const int shift : {24, 16, 8, 0}) {
    zlib.push_back(static_cast<char>(checksum >> shift & 0xFF));
  }
}

}  // namespace

std::string compress_filtered(std::span<const std::uint8_t> rows) {
  std::string out(kZlibHeader);
  MatchFinder finder(out);
  finder.add(rows);
  append_checksum(out, finder.finish());
  return out;
}

std::string compress_rows(std::span<const std::uint8_t> pixels, std::size_t row_bytes) {
  std::string out(kZlibHeader);
  MatchFinder finder(out);
  constexpr std::uint8_t kNone[] = {0};
  constexpr std::uint8_t kUp[] = {2};
  const std::vector<std::uint8_t> zeros(row_bytes);
  std::vector<std::uint8_t> differences(row_bytes);
  for (std::span<const std::uint8_t> above; !pixels.empty(); pixels = pixels.subspan(row_bytes)) {
    const auto row = pixels.first(row_bytes);
    std::span<const std::uint8_t> filtered = row;
    if (!above.empty() && std::memcmp(row.data(), above.data(), row_bytes) == 0) {
      filtered = zeros;
    } else if (is_smooth(row, above)) {
      std::ranges::transform(row, above, differences.begin(), std::minus<std::uint8_t>());
      filtered = differences;
    }
    finder.add(filtered.data() == row.data() ? kNone : kUp);
    finder.add(filtered);
    above = row;
  }
  append_checksum(out, finder.finish());
  return out;
}

}  // namespace attnviz
