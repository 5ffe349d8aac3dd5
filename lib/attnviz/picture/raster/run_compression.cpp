#include "attnviz/picture/raster/run_compression.h"

#include <libdeflate.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <concepts>
#include <cstring>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace attnviz {

namespace {

constexpr std::size_t kLeastMatch = 3;
constexpr std::size_t kMostMatch = 258;
constexpr std::size_t kSymbols = 286;  // literals, end of block, lengths
constexpr std::size_t kEndOfBlock = 256;
constexpr unsigned kLongestCode = 15;

struct Bits {
  std::uint32_t bits = 0;  // the lowest is written first
  unsigned count = 0;
};

constexpr std::size_t kFirstMatchToken = 256;
constexpr std::size_t kLastToken = kFirstMatchToken + kMostMatch - kLeastMatch;

// RFC 1951, 3.2.5: a match's symbol, and the bits that tell its length from others of the symbol.
struct LengthCode {
  std::uint16_t symbol = 0;
  Bits extra;
};

constexpr LengthCode length_code(std::size_t length) noexcept {
  if (length == kMostMatch) {
    return {285, {}};
  }
  const auto index = static_cast<std::uint32_t>(length - kLeastMatch);
  // Groups of four symbols, each group with one extra bit more than the one before it.
  const unsigned extra = index < 8 ? 0 : static_cast<unsigned>(std::bit_width(index)) - 3;
  return {static_cast<std::uint16_t>(257 + (index >> extra) + 4 * extra),
          {index & ((1u << extra) - 1u), extra}};
}

constexpr auto kLengthCodes = [] {
  std::array<LengthCode, kMostMatch - kLeastMatch + 1> codes{};
  for (std::size_t i = 0; i < codes.size(); ++i) {
    codes[i] = length_code(kLeastMatch + i);
  }
  return codes;
}();

std::size_t symbol_of(std::size_t token) noexcept {
  return token < kFirstMatchToken ? token : kLengthCodes[token - kFirstMatchToken].symbol;
}

using Counts = std::array<std::uint64_t, kSymbols>;
using CodeLengths = std::array<unsigned, kSymbols>;

// Huffman's code lengths, without a limit; 0 for a symbol that does not occur.
CodeLengths unlimited_lengths(const Counts& counts) {
  struct Node {
    std::uint64_t count;
    std::size_t index;
    bool operator>(const Node& other) const noexcept {
      return std::pair(count, index) > std::pair(other.count, other.index);
    }
  };
  std::priority_queue<Node, std::vector<Node>, std::greater<>> open;
  for (std::size_t symbol = 0; symbol < kSymbols; ++symbol) {
    if (counts[symbol] > 0) {
      open.push({counts[symbol], symbol});
    }
  }
  std::vector<std::size_t> parents(2 * kSymbols, 0);
  std::size_t next = kSymbols;
  while (open.size() > 1) {
    const Node first = open.top();
    open.pop();
    const Node second = open.top();
    open.pop();
    parents[first.index] = parents[second.index] = next;
    open.push({first.count + second.count, next++});
  }
  CodeLengths lengths{};
  for (std::size_t symbol = 0; symbol < kSymbols; ++symbol) {
    for (std::size_t node = symbol; counts[symbol] > 0 && parents[node] != 0;
         node = parents[node]) {
      ++lengths[symbol];
    }
  }
  return lengths;
}

// At least two symbols must occur. Counts that are more alike give shorter codes.
CodeLengths code_lengths(Counts counts) {
  for (;;) {
    const CodeLengths lengths = unlimited_lengths(counts);
    if (*std::max_element(lengths.begin(), lengths.end()) <= kLongestCode) {
      return lengths;
    }
    for (std::uint64_t& count : counts) {
      count = (count + 1) / 2;
    }
  }
}

// A number that is written from its highest bit on, as codes are, unlike everything else.
Bits reversed(std::uint32_t number, unsigned count) noexcept {
  std::uint32_t bits = 0;
  for (unsigned bit = 0; bit < count; ++bit) {
    bits |= (number >> bit & 1u) << (count - 1 - bit);
  }
  return {bits, count};
}

// RFC 1951, 3.2.2.
std::array<Bits, kSymbols> codes_of(const CodeLengths& lengths) noexcept {
  std::array<Bits, kSymbols> codes;
  std::uint32_t next = 0;
  for (unsigned length = 1; length <= kLongestCode; ++length) {
    for (std::size_t symbol = 0; symbol < kSymbols; ++symbol) {
      if (lengths[symbol] == length) {
        codes[symbol] = reversed(next++, length);
      }
    }
    next <<= 1;
  }
  return codes;
}

// Writes bits from the lowest of each byte on, into memory with kSlack bytes behind what they need.
class BitWriter {
 public:
  static constexpr std::size_t kSlack = 8;

  explicit BitWriter(char* to) noexcept : to_(to) {}

  // At most 56 at once. Without a branch: whether bytes are full is as good as random.
  void put(std::same_as<Bits> auto... bits) noexcept {
    (append(bits), ...);
    store();
    to_ += count_ / 8;
    waiting_ >>= count_ / 8 * 8;
    count_ %= 8;
  }
  // Fills the last byte up and returns the end.
  char* finish() noexcept {
    store();
    return to_ + (count_ + 7) / 8;
  }

 private:
  void append(Bits bits) noexcept {
    waiting_ |= std::uint64_t{bits.bits} << count_;
    count_ += bits.count;
  }
  void store() noexcept {
    if constexpr (std::endian::native == std::endian::little) {
      std::memcpy(to_, &waiting_, sizeof waiting_);
    } else {
      for (unsigned i = 0; i < 8; ++i) {
        to_[i] = static_cast<char>(waiting_ >> 8 * i & 0xFF);
      }
    }
  }

  char* to_;
  std::uint64_t waiting_ = 0;
  unsigned count_ = 0;
};

// RFC 1951, 3.2.7, in the plainest form: each code length as a number of four bits.
constexpr std::size_t kHeaderBits = 3 + 5 + 5 + 4 + 19 * 3 + (kSymbols + 1) * 4;

void put_header(BitWriter& writer, const CodeLengths& lengths) {
  writer.put(Bits{0b101, 3});           // the last block, with codes of its own
  writer.put(Bits{kSymbols - 257, 5});  // all symbols,
  writer.put(Bits{0, 5});               // one distance,
  writer.put(Bits{15, 4});              // 19 lengths of lengths, in this order:
  for (int i = 0; i < 3; ++i) {
    writer.put(Bits{0, 3});  // no repeated lengths,
  }
  for (int i = 0; i < 16; ++i) {
    writer.put(Bits{4, 3});  // the lengths 0 to 15 as themselves
  }
  for (const unsigned length : lengths) {
    writer.put(reversed(length, 4));
  }
  writer.put(reversed(1, 4));  // distance 1, in one bit
}

// 0 where eight bytes equal those that begin one before them.
std::uint64_t changes(const std::uint8_t* at) noexcept {
  std::uint64_t here = 0;
  std::uint64_t before = 0;
  std::memcpy(&here, at, sizeof here);
  std::memcpy(&before, at - 1, sizeof before);
  return here ^ before;
}

// How many bytes from `begin` on equal the one before it.
std::size_t run_length(const std::uint8_t* begin, const std::uint8_t* end) noexcept {
  const std::uint8_t* at = begin;
  if constexpr (std::endian::native == std::endian::little) {
    constexpr std::size_t kWord = sizeof(std::uint64_t);
    for (; at + kWord <= end; at += kWord) {
      if (const std::uint64_t change = changes(at)) {
        return static_cast<std::size_t>(at - begin) +
               static_cast<std::size_t>(std::countr_zero(change)) / 8;
      }
      // What is longer than a cell is mostly much longer.
      while (at + 5 * kWord <= end && (changes(at + kWord) | changes(at + 2 * kWord) |
                                       changes(at + 3 * kWord) | changes(at + 4 * kWord)) == 0) {
        at += 4 * kWord;
      }
    }
  }
  while (at != end && *at == at[-1]) {
    ++at;
  }
  return static_cast<std::size_t>(at - begin);
}

// Adler-32 (RFC 1950, 8.2) of `count` more bytes that are 0: the first sum stays, and is added to
// the second one each time.
std::uint32_t with_zeros(std::uint32_t checksum, std::size_t count) noexcept {
  constexpr std::uint64_t kModulus = 65521;
  const std::uint64_t first = checksum & 0xFFFF;
  const std::uint64_t second = (checksum >> 16) + count % kModulus * first;
  return static_cast<std::uint32_t>(second % kModulus << 16 | first);
}

}  // namespace

RunCompression::RunCompression(std::size_t size, std::size_t most) : most_(most) {
  constexpr std::size_t kTokensAByte = 2;
  limit_ = kTokensAByte * most + kTokensAByte;
  // The last run that begins within the limit may go on to the end.
  tokens_.reset(new Token[limit_ + size / kMostMatch + kLeastMatch + 1]);
}

// Ends the run after the last literal.
void RunCompression::put_run() noexcept {
  if (run_ == 0) {
    return;
  }
  Token* next = tokens_.get() + n_tokens_;
  for (; run_ > kMostMatch; run_ -= kMostMatch) {
    *next++ = kLastToken;
  }
  if (run_ >= kLeastMatch) {
    *next++ = static_cast<Token>(kFirstMatchToken + run_ - kLeastMatch);
  } else {
    next = std::fill_n(next, run_, literal_);
  }
  run_ = 0;
  n_tokens_ = static_cast<std::size_t>(next - tokens_.get());
}

bool RunCompression::put_literal(std::uint8_t byte) noexcept {
  put_run();
  if (!fits()) {
    return false;
  }
  tokens_[n_tokens_++] = literal_ = byte;
  return true;
}

bool RunCompression::add(std::span<const std::uint8_t> bytes) {
  checksum_ = libdeflate_adler32(checksum_, bytes.data(), bytes.size());
  const std::uint8_t* at = bytes.data();
  const std::uint8_t* const end = at + bytes.size();
  if (n_tokens_ > 0 && at != end && *at == literal_) {
    ++run_;
    ++at;
    const std::size_t run = at == end ? 0 : run_length(at, end);
    run_ += run;
    at += run;
  }
  while (at != end) {
    if (!put_literal(*at++)) {
      return false;
    }
    run_ = at == end ? 0 : run_length(at, end);
    at += run_;
  }
  return true;
}

bool RunCompression::add_zeros(std::size_t count) {
  if (count == 0) {
    return true;
  }
  checksum_ = with_zeros(checksum_, count);
  if (n_tokens_ == 0 || literal_ != 0) {
    if (!put_literal(0)) {
      return false;
    }
    --count;
  }
  run_ += count;
  return true;
}

std::optional<std::string> RunCompression::finish() {
  put_run();
  if (!fits()) {
    return std::nullopt;
  }
  const std::span<const Token> list(tokens_.get(), n_tokens_);
  std::array<std::uint64_t, kLastToken + 1> token_counts{};
  for (const Token token : list) {
    ++token_counts[token];
  }
  Counts counts{};
  counts[0] = counts[kEndOfBlock] = 1;  // a code needs two symbols
  for (std::size_t token = 0; token < token_counts.size(); ++token) {
    counts[symbol_of(token)] += token_counts[token];
  }
  const CodeLengths lengths = code_lengths(counts);
  const std::array<Bits, kSymbols> codes = codes_of(lengths);
  std::array<Bits, kLastToken + 1> token_bits;
  for (std::size_t token = 0; token < token_bits.size(); ++token) {
    Bits bits = codes[symbol_of(token)];
    if (token >= kFirstMatchToken) {  // then the rest of the length, and the one bit of a distance
      const Bits extra = kLengthCodes[token - kFirstMatchToken].extra;
      bits.bits |= extra.bits << bits.count;
      bits.count += extra.count + 1;
    }
    token_bits[token] = bits;
  }

  constexpr std::size_t kZlibHeader = 2;
  constexpr std::size_t kChecksum = 4;
  std::size_t bits = kHeaderBits + codes[kEndOfBlock].count;
  for (std::size_t token = 0; token < token_bits.size(); ++token) {
    bits += token_counts[token] * token_bits[token].count;
  }
  const std::size_t size = kZlibHeader + (bits + 7) / 8 + kChecksum;
  if (size > most_) {
    return std::nullopt;
  }
  std::string out(size + BitWriter::kSlack, '\0');
  out[0] = '\x78';  // deflate with a window of 32 KB,
  out[1] = '\x01';  // fastest
  BitWriter writer(out.data() + kZlibHeader);
  put_header(writer, lengths);
  static_assert(2 * (kLongestCode + 5 + 1) <= 56);  // a length's symbol, its rest and a distance
  for (std::size_t i = 0; i + 1 < list.size(); i += 2) {
    writer.put(token_bits[list[i]], token_bits[list[i + 1]]);
  }
  if (list.size() % 2 != 0) {
    writer.put(token_bits[list.back()]);
  }
  writer.put(codes[kEndOfBlock]);
  char* end = writer.finish();
  for (int shift = 24; shift >= 0; shift -= 8) {
    *end++ = static_cast<char>(checksum_ >> shift & 0xFF);
  }
  assert(end == out.data() + size);
  out.resize(size);
  return out;
}

}  // namespace attnviz
