#include "attnviz/text/tokenizer.h"

#include <fmt/core.h>
#include <uniwbrk.h>

#include <array>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "attnviz/core/choices.h"
#include "attnviz/core/error.h"
#include "attnviz/core/string_hash.h"
#include "attnviz/core/utf8.h"
#include "attnviz/text/unicode_classes.h"

namespace attnviz {

namespace {

const std::array<std::string, 3> kNames = {"words", "chars", "bytes"};

bool is_white(std::string_view piece) {
  for (std::size_t i = 0; i < piece.size();) {
    const CodePoint point = decode_utf8(piece, i);
    if (!point.valid || !is_white_space(point.value)) {
      return false;
    }
    i += point.length;
  }
  return true;
}

// Views into `text`, in order and without gaps.
using Pieces = std::vector<std::string_view>;

void append_word_segments(std::string_view valid, Pieces& pieces) {
  std::vector<char> breaks(valid.size());
  u8_wordbreaks(reinterpret_cast<const std::uint8_t*>(valid.data()), valid.size(), breaks.data());
  std::size_t begin = 0;
  for (std::size_t i = 1; i <= valid.size(); ++i) {
    if (i == valid.size() || breaks[i] != 0) {
      pieces.push_back(valid.substr(begin, i - begin));
      begin = i;
    }
  }
}

Pieces split_words(std::string_view text) {
  Pieces pieces;
  std::size_t valid_begin = 0;
  const auto end_valid_run = [&](std::size_t end) {
    if (end > valid_begin) {
      append_word_segments(text.substr(valid_begin, end - valid_begin), pieces);
    }
  };
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint point = decode_utf8(text, i);
    if (!point.valid) {
      end_valid_run(i);
      pieces.push_back(text.substr(i, 1));
      valid_begin = i + 1;
    }
    i += point.length;
  }
  end_valid_run(text.size());
  std::erase_if(pieces, is_white);
  return pieces;
}

Pieces split_bytes(std::string_view text) {
  Pieces pieces;
  pieces.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    pieces.push_back(text.substr(i, 1));
  }
  return pieces;
}

struct Scheme {
  const std::string& name;
  Pieces (*split)(std::string_view text);
  std::string_view separator;  // joins pieces that are given as ids
};

const std::array<Scheme, 3> kSchemes = {
    Scheme{kNames[0], split_words, " "},
    Scheme{kNames[1], grapheme_clusters, ""},
    Scheme{kNames[2], split_bytes, ""},
};

std::vector<std::string> all_bytes() {
  std::vector<std::string> bytes;
  bytes.reserve(256);
  for (int value = 0; value < 256; ++value) {
    bytes.emplace_back(1, static_cast<char>(value));
  }
  return bytes;
}

class SchemeTokenizer : public Tokenizer {
 public:
  using Tokenizer::tokenize;
  SchemeTokenizer(const Scheme& scheme, std::vector<std::string> vocabulary)
      : scheme_(scheme), vocabulary_(std::move(vocabulary)) {
    for (const std::string& piece : vocabulary_) {
      known_.emplace(piece, static_cast<TokenId>(known_.size()));
    }
  }

  std::string_view name() const noexcept override { return scheme_.name; }

  TokenizedText tokenize(std::string_view text) const override {
    TokenizedText result{std::string(text), {}};
    Ids seen = no_ids();
    for (const std::string_view piece : scheme_.split(text)) {
      const auto begin = static_cast<std::size_t>(piece.data() - text.data());
      result.tokens.push_back(
          {id_of(piece, seen), std::string(piece), begin, begin + piece.size()});
    }
    return result;
  }

  TokenizedText from_ids(std::span<const TokenId> ids) const override {
    if (vocabulary_.empty()) {
      throw Error(
          ErrorKind::kUsage,
          fmt::format(
              "token ids need a vocabulary: the \"{}\" tokenizer numbers words as they come; "
              "take a model with embeddings or the tokenizer \"bytes\"",
              scheme_.name),
          "tokenizer");
    }
    TokenizedText result;
    for (const TokenId id : ids) {
      if (id >= vocabulary_.size()) {
        throw Error(ErrorKind::kUsage,
                    fmt::format("token id {}: expected 0 to {}, the vocabulary's last", id,
                                vocabulary_.size() - 1));
      }
      if (!result.tokens.empty()) {
        result.source += scheme_.separator;
      }
      const std::string& piece = vocabulary_[id];
      const std::size_t begin = result.source.size();
      result.source += piece;
      result.tokens.push_back({id, piece, begin, result.source.size()});
    }
    return result;
  }

 private:
  using Ids = std::unordered_map<std::string_view, TokenId, StringHash>;

  Ids no_ids() const { return Ids(0, StringHash{reinterpret_cast<std::uintptr_t>(this)}); }

  TokenId id_of(std::string_view piece, Ids& seen) const {
    if (const auto known = known_.find(piece); known != known_.end()) {
      return known->second;
    }
    return seen.emplace(piece, static_cast<TokenId>(vocabulary_.size() + seen.size()))
        .first->second;
  }

  const Scheme& scheme_;
  std::vector<std::string> vocabulary_;
  Ids known_ = no_ids();  // views into vocabulary_
};

}  // namespace

TokenizedText Tokenizer::tokenize(std::string_view text, const TokenizeOptions& options) const {
  if (options.bos.value_or(false) || options.parse_special || options.pair) {
    throw Error(ErrorKind::kUsage,
                fmt::format("{}: the tokenizer \"{}\" has no special tokens; a trained model's has",
                            options.pair            ? "a second text"
                            : options.parse_special ? "special tokens in the text"
                                                    : "a token that begins the text",
                            name()));
  }
  return tokenize(text);
}

std::span<const std::string> tokenizer_names() {
  return kNames;
}

std::unique_ptr<Tokenizer> make_tokenizer(std::string_view name,
                                          std::span<const std::string> vocabulary) {
  for (const Scheme& scheme : kSchemes) {
    if (name == scheme.name) {
      std::vector<std::string> pieces(vocabulary.begin(), vocabulary.end());
      if (pieces.empty() && scheme.split == split_bytes) {
        pieces = all_bytes();
      }
      return std::make_unique<SchemeTokenizer>(scheme, std::move(pieces));
    }
  }
  throw Error(ErrorKind::kUsage, fmt::format("tokenizer \"{}\": expected words, chars or bytes{}",
                                             name, did_you_mean(name, kNames)));
}

}  // namespace attnviz
