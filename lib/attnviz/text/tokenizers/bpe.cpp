#include "attnviz/text/tokenizers/tokenizer_parts.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/threads.h"
#include "attnviz/core/utf8.h"

namespace attnviz {

namespace {

struct Merged {
  std::uint32_t rank = UINT32_MAX;
  TokenId id = kNoToken;
};

struct MergeEntry {
  TokenId left = kNoToken;
  TokenId right = kNoToken;
  Merged made;
};

// Maps two neighbours to the result of their merge: a hash table of positions in the list of
// merges. Files choose the ids and could make them collide: the seed differs from run to run, as
// addresses do.
class MergeTable {
 public:
  explicit MergeTable(std::vector<MergeEntry> entries)
      : entries_(std::move(entries)),
        slots_(std::bit_ceil(entries_.size() + entries_.size() / 2 + 2)),
        seed_(reinterpret_cast<std::uintptr_t>(slots_.data())) {
    for (std::uint32_t i = 0; i < entries_.size(); ++i) {
      slots_[slot_of(entries_[i].left, entries_[i].right)] = i + 1;
    }
  }

  Merged find(TokenId left, TokenId right) const noexcept {
    const std::uint32_t slot = slots_[slot_of(left, right)];
    return slot == 0 ? Merged{} : entries_[slot - 1].made;
  }
  const std::vector<MergeEntry>& entries() const noexcept { return entries_; }

 private:
  std::size_t slot_of(TokenId left, TokenId right) const noexcept {
    const std::size_t mask = slots_.size() - 1;
    const std::uint64_t key = (std::uint64_t{left} << 32) | right;
    constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15;
    std::uint64_t hash = (key ^ seed_) * kFactor;
    hash = (hash ^ (hash >> 32)) * kFactor;
    std::size_t i = (hash >> 32) & mask;
    for (; slots_[i] != 0; i = (i + 1) & mask) {
      const MergeEntry& entry = entries_[slots_[i] - 1];
      if (entry.left == left && entry.right == right) {
        break;
      }
    }
    return i;
  }

  std::vector<MergeEntry> entries_;
  std::vector<std::uint32_t> slots_;  // 0: free, else the position in entries_ plus 1
  std::uint64_t seed_;
};

constexpr std::uint32_t kEnd = UINT32_MAX;

// A linked list in an array; a symbol merged into its left neighbour has no bytes.
struct Symbol {
  TokenId id;
  std::uint32_t begin;
  std::uint32_t end;
  std::uint32_t previous;
  std::uint32_t next;
  Merged merged;  // with the next symbol
};

class Bpe : public TokenModel {
 public:
  Bpe(Vocabulary vocabulary, MergeTable merges, const BpeOptions& options,
      std::optional<std::string> where)
      : vocabulary_(std::move(vocabulary)),
        merges_(std::move(merges)),
        options_(options),
        where_(std::move(where)) {
    if (options_.unknown) {
      unknown_ = vocabulary_.find(*options_.unknown);
    }
    bytes_.fill(kNoToken);
    for (std::size_t byte = 0; options_.byte_fallback && byte < bytes_.size(); ++byte) {
      bytes_[byte] = vocabulary_.find(fmt::format("<0x{:02X}>", byte)).value_or(kNoToken);
    }
  }

  std::string_view kind() const noexcept override { return options_.kind; }
  const Vocabulary& vocabulary() const noexcept override { return vocabulary_; }
  std::optional<TokenId> unknown() const noexcept override { return unknown_; }
  bool keeps_apart(std::string_view mark) const override;
  void tokenize(std::string_view word, std::vector<ModelToken>& tokens) const override;

 private:
  std::vector<Symbol> characters(std::string_view word) const;
  void merge(std::vector<Symbol>& symbols) const;

  Vocabulary vocabulary_;
  MergeTable merges_;
  BpeOptions options_;
  std::optional<std::string> where_;  // of unk_token, if unknown text is an error
  std::optional<TokenId> unknown_;
  std::array<TokenId, 256> bytes_{};
};

// The characters of a word that are in the vocabulary, before any merge.
std::vector<Symbol> Bpe::characters(std::string_view word) const {
  std::vector<Symbol> symbols;
  symbols.reserve(word.size());
  const auto add = [&](TokenId id, std::size_t begin, std::size_t end) {
    symbols.push_back(
        {id, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end), 0, 0, {}});
  };
  std::string decorated;
  for (std::size_t i = 0; i < word.size();) {
    const std::size_t end = i + decode_utf8(word, i).length;
    std::string_view character = word.substr(i, end - i);
    const bool has_prefix = i > 0 && !options_.prefix.empty();
    if (has_prefix || (end == word.size() && !options_.suffix.empty())) {
      decorated = has_prefix ? options_.prefix : "";
      decorated += character;
      decorated += end == word.size() ? options_.suffix : "";
      character = decorated;
    }
    const auto is_missing = [](TokenId id) { return id == kNoToken; };
    if (const auto id = vocabulary_.find(character)) {
      add(*id, i, end);
    } else if (std::none_of(word.begin() + static_cast<std::ptrdiff_t>(i),
                            word.begin() + static_cast<std::ptrdiff_t>(end), [&](char c) {
                              return is_missing(bytes_[static_cast<unsigned char>(c)]);
                            })) {
      for (std::size_t byte = i; byte < end; ++byte) {
        add(bytes_[static_cast<unsigned char>(word[byte])], byte, byte + 1);
      }
    } else if (unknown_) {
      if (options_.fuse_unknown && !symbols.empty() && symbols.back().id == *unknown_ &&
          symbols.back().end == i) {
        symbols.back().end = static_cast<std::uint32_t>(end);
      } else {
        add(*unknown_, i, end);
      }
    } else if (options_.unknown && where_) {
      fail_without_unknown(*where_, *options_.unknown, word.substr(i, end - i));
    }
    i = end;
  }
  return symbols;
}

void Bpe::merge(std::vector<Symbol>& symbols) const {
  // The smallest rank is merged next; among equal ranks, the leftmost. Outdated entries stay in the
  // heap and are recognised by a rank that is not the symbol's own.
  std::vector<std::uint64_t> heap;
  heap.reserve(symbols.size());
  const auto find = [&](std::uint32_t i) {
    Symbol& symbol = symbols[i];
    symbol.merged =
        symbol.next == kEnd ? Merged{} : merges_.find(symbol.id, symbols[symbol.next].id);
    return symbol.merged.id != kNoToken;
  };
  const auto key = [&](std::uint32_t i) {
    return (std::uint64_t{symbols[i].merged.rank} << 32) | i;
  };
  for (std::uint32_t i = 0; i < symbols.size(); ++i) {
    symbols[i].previous = i == 0 ? kEnd : i - 1;
    symbols[i].next = i + 1 == symbols.size() ? kEnd : i + 1;
    if (find(i)) {
      heap.push_back(key(i));
    }
  }
  std::make_heap(heap.begin(), heap.end(), std::greater<>());
  const auto look_at = [&](std::uint32_t i) {
    if (find(i)) {
      heap.push_back(key(i));
      std::push_heap(heap.begin(), heap.end(), std::greater<>());
    }
  };
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), std::greater<>());
    const std::uint64_t top = heap.back();
    heap.pop_back();
    const auto i = static_cast<std::uint32_t>(top);
    Symbol& symbol = symbols[i];
    if (symbol.begin == symbol.end || symbol.merged.id == kNoToken || key(i) != top) {
      continue;
    }
    Symbol& next = symbols[symbol.next];
    symbol.id = symbol.merged.id;
    symbol.end = next.end;
    next.begin = next.end;
    symbol.next = next.next;
    if (symbol.next != kEnd) {
      symbols[symbol.next].previous = i;
    }
    look_at(i);
    if (symbol.previous != kEnd) {
      look_at(symbol.previous);
    }
  }
}

bool Bpe::keeps_apart(std::string_view mark) const {
  if (!vocabulary_.find(mark) || options_.ignore_merges || !options_.prefix.empty() ||
      !options_.suffix.empty()) {
    return false;
  }
  return std::none_of(merges_.entries().begin(), merges_.entries().end(),
                      [&](const MergeEntry& entry) {
                        return vocabulary_.piece(entry.right).starts_with(mark) &&
                               !vocabulary_.piece(entry.left).ends_with(mark);
                      });
}

void Bpe::tokenize(std::string_view word, std::vector<ModelToken>& tokens) const {
  if (options_.ignore_merges) {
    if (const auto id = vocabulary_.find(word)) {
      tokens.push_back({*id, {0, word.size()}});
      return;
    }
  }
  std::vector<Symbol> symbols = characters(word);
  if (symbols.size() > 1) {
    merge(symbols);
  }
  for (const Symbol& symbol : symbols) {
    if (symbol.begin != symbol.end) {
      tokens.push_back({symbol.id, {symbol.begin, symbol.end}});
    }
  }
}

// Looks up the pieces of some merges and their results.
void resolve(const Vocabulary& vocabulary, std::span<const Merge> merges, std::size_t n_prefix,
             std::span<MergeEntry> entries) {
  constexpr std::size_t kBatch = 64;
  std::string made;
  std::array<std::size_t, kBatch + 1> ends{};
  std::array<std::string_view, 3 * kBatch> pieces;
  std::array<TokenId, 3 * kBatch> ids{};
  for (std::size_t begin = 0; begin < merges.size(); begin += kBatch) {
    const std::size_t n = std::min(kBatch, merges.size() - begin);
    made.clear();
    for (std::size_t i = 0; i < n; ++i) {
      const Merge& merge = merges[begin + i];
      made += merge.left;
      made += merge.right.substr(std::min(n_prefix, merge.right.size()));
      ends[i + 1] = made.size();
    }
    for (std::size_t i = 0; i < n; ++i) {
      pieces[3 * i] = merges[begin + i].left;
      pieces[3 * i + 1] = merges[begin + i].right;
      pieces[3 * i + 2] = std::string_view(made).substr(ends[i], ends[i + 1] - ends[i]);
    }
    vocabulary.find(std::span(pieces).first(3 * n), std::span(ids).first(3 * n));
    for (std::size_t i = 0; i < n; ++i) {
      entries[begin + i] = {ids[3 * i], ids[3 * i + 1], {0, ids[3 * i + 2]}};
    }
  }
}

}  // namespace

void fail_without_unknown(std::string_view where, std::string_view unknown, std::string_view text) {
  throw Error(ErrorKind::kMalformed,
              fmt::format("{}unk_token: expected a piece of the vocabulary, which {} needs, found "
                          "{}",
                          where, in_quotes(text), in_quotes(unknown)));
}

std::unique_ptr<TokenModel> make_bpe(Vocabulary vocabulary, std::span<const Merge> merges,
                                     const BpeOptions& options, std::string_view where) {
  // Looking up pieces is most of the work of loading a tokenizer.
  constexpr std::size_t kBlock = 8192;
  std::vector<MergeEntry> entries(merges.size());
  const std::size_t n_blocks = (merges.size() + kBlock - 1) / kBlock;
  const std::size_t n_threads = std::min<std::size_t>(n_blocks, 4);
  parallel_for(n_blocks, n_threads, [&](std::size_t block, std::size_t) {
    const std::size_t begin = block * kBlock;
    const std::size_t n = std::min(kBlock, merges.size() - begin);
    resolve(vocabulary, merges.subspan(begin, n), options.prefix.size(),
            std::span(entries).subspan(begin, n));
  });
  for (std::size_t i = 0; i < merges.size(); ++i) {
    MergeEntry& entry = entries[i];
    entry.made.rank = static_cast<std::uint32_t>(i);
    if (entry.left == kNoToken || entry.right == kNoToken || entry.made.id == kNoToken) {
      std::string missing(entry.left == kNoToken ? merges[i].left : merges[i].right);
      if (entry.left != kNoToken && entry.right != kNoToken) {
        missing.insert(0, merges[i].left);
      }
      throw Error(ErrorKind::kMalformed,
                  fmt::format("{}merges[{}]: expected pieces of the vocabulary, found {}", where, i,
                              in_quotes(missing)));
    }
  }
  return std::make_unique<Bpe>(std::move(vocabulary), MergeTable(std::move(entries)), options,
                               std::string(where));
}

std::unique_ptr<TokenModel> make_scored_bpe(Vocabulary vocabulary, std::span<const float> scores,
                                            const BpeOptions& options) {
  std::vector<TokenId> order;
  order.reserve(scores.size());
  for (std::size_t id = 0; id < scores.size(); ++id) {
    if (!std::isnan(scores[id])) {
      order.push_back(static_cast<TokenId>(id));
    }
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](TokenId a, TokenId b) { return scores[a] > scores[b]; });
  constexpr std::size_t kLongest = 1024;  // no real piece is longer, and it has many cuts
  std::vector<MergeEntry> entries;
  std::uint32_t rank = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    // Equal scores have equal ranks: then the leftmost is merged first.
    rank += i > 0 && scores[order[i]] < scores[order[i - 1]] ? 1u : 0u;
    const std::string_view piece = vocabulary.piece(order[i]);
    for (std::size_t cut = 0; cut < piece.size() && piece.size() <= kLongest;) {
      cut += decode_utf8(piece, cut).length;
      const auto left = vocabulary.find(piece.substr(0, cut));
      const auto right = cut < piece.size() ? vocabulary.find(piece.substr(cut)) : std::nullopt;
      if (left && right) {
        entries.push_back({*left, *right, {rank, order[i]}});
      }
    }
  }
  return std::make_unique<Bpe>(std::move(vocabulary), MergeTable(std::move(entries)), options,
                               std::nullopt);
}

}  // namespace attnviz
