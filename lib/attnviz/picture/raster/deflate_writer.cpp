#include "attnviz/picture/raster/png_encode.h"

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstring>
#include <functional>
#include <queue>
#include <span>
#include <utility>

namespace attnviz {

namespace {

constexpr std::size_t kSymbols = 286;  // literals, end of block, lengths
constexpr std::size_t kEndOfBlock = 256;
constexpr std::size_t kFirstLength = 257;
constexpr std::size_t kDistances = DeflateWriter::kDistances;
constexpr unsigned kLongestCode = 15;

// Upper bounds: 4 bits for each code length; 15 + 5 bits for a match's length, 15 + 13 for its
// distance.
constexpr std::size_t kHeaderBytes = 300;
constexpr std::size_t kItemBytes = 6;

struct Bits {
  std::uint32_t bits = 0;  // the lowest is written first
  unsigned count = 0;
};

// RFC 1951, 3.2.5: several numbers share a symbol, and extra bits select one of them. The first
// 2^(group + 1) have a symbol each; then each 2^group symbols have one bit more than those before.
struct SymbolCode {
  std::uint16_t symbol = 0;
  Bits extra;
};

constexpr SymbolCode symbol_code(std::size_t number, unsigned group,
                                 std::uint32_t first_symbol = 0) noexcept {
  const auto index = static_cast<std::uint32_t>(number);
  const unsigned width = static_cast<unsigned>(std::bit_width(index));
  const unsigned extra = width <= group + 1 ? 0 : width - group - 1;
  return {static_cast<std::uint16_t>(first_symbol + (index >> extra) + (extra << group)),
          {index & ((1u << extra) - 1u), extra}};
}

// A literal or a match's length, numbered together.
constexpr std::size_t kFirstMatch = DeflateWriter::kFirstMatch;
constexpr std::size_t kTokens = DeflateWriter::kTokens;

constexpr auto kTokenCodes = [] {
  std::array<SymbolCode, kTokens> codes{};
  for (std::size_t token = 0; token < kTokens; ++token) {
    codes[token].symbol = static_cast<std::uint16_t>(token);
    if (token >= kFirstMatch) {
      codes[token] = symbol_code(token - kFirstMatch, 2, kFirstLength);
    }
  }
  codes.back() = {kSymbols - 1, {}};
  return codes;
}();

constexpr SymbolCode distance_code(std::size_t distance) noexcept {
  return symbol_code(distance - 1, 1);
}

template <std::size_t n>
using Counts = std::array<std::uint32_t, n>;
template <std::size_t n>
using CodeLengths = std::array<unsigned, n>;

// Huffman code lengths of at most kLongestCode bits: if codes are too long, counts are made more
// alike. At least two symbols must occur; one that does not has length 0.
template <std::size_t n>
CodeLengths<n> code_lengths(Counts<n> counts) {
  using Node = std::pair<std::uint32_t, std::size_t>;  // count and index
  for (;; std::ranges::for_each(counts, [](auto& count) { count = (count + 1) / 2; })) {
    std::priority_queue<Node, std::vector<Node>, std::greater<>> open;
    for (std::size_t symbol = 0; symbol < n; ++symbol) {
      if (counts[symbol] > 0) {
        open.emplace(counts[symbol], symbol);
      }
    }
    std::array<std::size_t, 2 * n> parents{};
    std::size_t root = n - 1;
    while (open.size() > 1) {
      const Node first = open.top();
      open.pop();
      const Node second = open.top();
      open.pop();
      parents[first.second] = parents[second.second] = ++root;
      open.emplace(first.first + second.first, root);
    }
    std::array<unsigned, 2 * n> depths{};
    for (std::size_t node = root; node-- > 0;) {
      depths[node] = node >= n || counts[node] > 0 ? depths[parents[node]] + 1 : 0;
    }
    CodeLengths<n> lengths;
    std::copy_n(depths.begin(), n, lengths.begin());
    if (*std::ranges::max_element(lengths) <= kLongestCode) {
      return lengths;
    }
  }
}

// Reverses a number for writing from its highest bit on, as codes are, unlike everything else.
Bits reversed(std::uint32_t number, unsigned count) noexcept {
  std::uint32_t bits = 0;
  for (unsigned bit = 0; bit < count; ++bit) {
    bits |= (number >> bit & 1u) << (count - 1 - bit);
  }
  return {bits, count};
}

// RFC 1951, 3.2.2.
template <std::size_t n>
std::array<Bits, n> codes_of(const CodeLengths<n>& lengths) noexcept {
  std::array<Bits, n> codes;
  std::uint32_t next = 0;
  for (unsigned length = 1; length <= kLongestCode; ++length) {
    for (std::size_t symbol = 0; symbol < n; ++symbol) {
      if (lengths[symbol] == length) {
        codes[symbol] = reversed(next++, length);
      }
    }
    next <<= 1;
  }
  return codes;
}

// Writes bits, from the lowest of each byte on; may write up to eight bytes past the last.
class BitWriter {
 public:
  BitWriter(char* to, std::uint64_t waiting, unsigned n_waiting) noexcept
      : to_(to), waiting_(waiting), n_waiting_(n_waiting) {}

  // At most 56 at once. Without a branch, since whether bytes are full is unpredictable.
  void put(std::same_as<Bits> auto... bits) noexcept {
    (append(bits), ...);
    if constexpr (std::endian::native == std::endian::little) {
      std::memcpy(to_, &waiting_, sizeof waiting_);
    } else {
      for (unsigned i = 0; i < 8; ++i) {
        to_[i] = static_cast<char>(waiting_ >> 8 * i & 0xFF);
      }
    }
    to_ += n_waiting_ / 8;
    waiting_ >>= n_waiting_ / 8 * 8;
    n_waiting_ %= 8;
  }

  // After the last full byte.
  const char* end() const noexcept { return to_; }
  // The bits of the next byte, fewer than eight.
  std::uint64_t waiting() const noexcept { return waiting_; }
  unsigned n_waiting() const noexcept { return n_waiting_; }

 private:
  void append(Bits bits) noexcept {
    waiting_ |= std::uint64_t{bits.bits} << n_waiting_;
    n_waiting_ += bits.count;
  }

  char* to_;
  std::uint64_t waiting_;
  unsigned n_waiting_;
};

// RFC 1951, 3.2.7, in the simplest form: each code length as a number of four bits.
void put_header(BitWriter& bits, bool is_last, std::span<const unsigned> lengths,
                std::span<const unsigned> distance_lengths) noexcept {
  bits.put(Bits{is_last ? 0b101u : 0b100u, 3});  // dynamic codes,
  bits.put(Bits{kSymbols - 257, 5});             // all symbols
  bits.put(Bits{kDistances - 1, 5});             // and distances,
  bits.put(Bits{15, 4});                         // 19 lengths of lengths, in this order:
  bits.put(Bits{0, 9});                          // no repeated lengths,
  for (int i = 0; i < 16; ++i) {
    bits.put(Bits{4, 3});  // the lengths 0 to 15 as themselves
  }
  for (const auto& part : {lengths, distance_lengths}) {
    for (const unsigned length : part) {
      bits.put(reversed(length, 4));
    }
  }
}

}  // namespace

DeflateWriter::DeflateWriter(std::string& out)
    : out_(out),
      items_(new Item[kBlockItems]),
      bytes_(new char[kHeaderBytes + kBlockItems * kItemBytes]) {}

void DeflateWriter::match(std::size_t length, std::size_t distance) {
  const std::size_t symbol = distance_code(distance).symbol;
  while (length > 0) {
    // The rest must be empty, or long enough for a match.
    const std::size_t part = length <= kLongestMatch                   ? length
                             : length < kLongestMatch + kShortestMatch ? length - kShortestMatch
                                                                       : kLongestMatch;
    ++distances_[symbol];
    add(kFirstMatch + part - kShortestMatch, distance);
    length -= part;
  }
}

void DeflateWriter::write(bool is_last) {
  Counts<kSymbols> symbols{};
  symbols[0] = symbols[kEndOfBlock] = 1;  // a code needs two symbols
  for (std::size_t token = 0; token < kTokens; ++token) {
    symbols[kTokenCodes[token].symbol] += tokens_[token];
  }
  ++distances_[0];
  ++distances_[1];
  const CodeLengths<kSymbols> lengths = code_lengths(symbols);
  const CodeLengths<kDistances> distance_lengths = code_lengths(distances_);
  const std::array<Bits, kSymbols> codes = codes_of(lengths);
  const std::array<Bits, kDistances> distance_codes = codes_of(distance_lengths);
  std::array<Bits, kTokens> token_bits;
  for (std::size_t token = 0; token < kTokens; ++token) {
    const auto& [symbol, extra] = kTokenCodes[token];
    token_bits[token] = {codes[symbol].bits | extra.bits << codes[symbol].count,
                         codes[symbol].count + extra.count};
  }

  BitWriter bits(bytes_.get(), waiting_, n_waiting_);
  put_header(bits, is_last, lengths, distance_lengths);
  for (const auto [token, distance] : std::span(items_.get(), n_items_)) {
    if (distance == 0) {
      bits.put(token_bits[token]);
    } else {
      const SymbolCode back = distance_code(distance);
      bits.put(token_bits[token], distance_codes[back.symbol], back.extra);
    }
  }
  bits.put(codes[kEndOfBlock]);
  waiting_ = bits.waiting();
  n_waiting_ = bits.n_waiting();
  const char* const end = bits.end() + (is_last && n_waiting_ > 0 ? 1 : 0);
  out_.append(bytes_.get(), static_cast<std::size_t>(end - bytes_.get()));
  n_items_ = 0;
  tokens_ = {};
  distances_ = {};
}

}  // namespace attnviz
