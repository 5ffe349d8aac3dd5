#include "attnviz/text/tokenizers/tokenizer_parts.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/text/tokenizers/vocabulary.h"

namespace attnviz {

namespace {

bool is_character_begin(std::string_view text, std::size_t i) noexcept {
  return i >= text.size() || (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80;
}

class WordPiece : public TokenModel {
 public:
  WordPiece(Vocabulary vocabulary, const WordPieceOptions& options, std::string_view where)
      : vocabulary_(std::move(vocabulary)),
        options_(options),
        where_(where),
        unknown_(vocabulary_.find(options.unknown)) {}

  std::string_view kind() const noexcept override { return "WordPiece"; }
  const Vocabulary& vocabulary() const noexcept override { return vocabulary_; }
  std::optional<TokenId> unknown() const noexcept override { return unknown_; }
  bool keeps_apart(std::string_view) const override { return false; }
  void tokenize(std::string_view word, std::vector<ModelToken>& tokens) const override;

 private:
  bool cut(std::string_view word, std::vector<ModelToken>& tokens) const;

  Vocabulary vocabulary_;
  WordPieceOptions options_;
  std::string where_;
  std::optional<TokenId> unknown_;
};

bool WordPiece::cut(std::string_view word, std::vector<ModelToken>& tokens) const {
  // No real piece is longer, and every length is tried.
  constexpr std::size_t kLongest = 256;
  const std::size_t longest = std::min(kLongest, vocabulary_.longest());
  std::string candidate;
  for (std::size_t begin = 0; begin < word.size();) {
    candidate = begin == 0 ? options_.begin : options_.prefix;
    const std::size_t n_prefix = candidate.size();
    candidate += word.substr(begin, longest);
    std::size_t size = candidate.size() - n_prefix;
    std::optional<TokenId> id;
    for (; size > 0; --size) {
      if (is_character_begin(word, begin + size)) {
        id = vocabulary_.find(std::string_view(candidate).substr(0, n_prefix + size));
        if (id) {
          break;
        }
      }
    }
    if (!id) {
      return false;
    }
    tokens.push_back({*id, {begin, begin + size}});
    begin += size;
  }
  return true;
}

void WordPiece::tokenize(std::string_view word, std::vector<ModelToken>& tokens) const {
  std::size_t n_characters = 0;
  for (std::size_t i = 0; i < word.size(); ++i) {
    n_characters += is_character_begin(word, i) ? 1u : 0u;
  }
  const std::size_t before = tokens.size();
  if (n_characters > options_.longest_word || !cut(word, tokens)) {
    if (!unknown_) {
      fail_without_unknown(where_, options_.unknown, word);
    }
    tokens.resize(before, {*unknown_, {}});
    tokens.push_back({*unknown_, {0, word.size()}});
  }
}

class WordLevel : public TokenModel {
 public:
  WordLevel(Vocabulary vocabulary, const std::string& unknown)
      : vocabulary_(std::move(vocabulary)), unknown_(vocabulary_.find(unknown)) {}

  std::string_view kind() const noexcept override { return "WordLevel"; }
  const Vocabulary& vocabulary() const noexcept override { return vocabulary_; }
  std::optional<TokenId> unknown() const noexcept override { return unknown_; }
  bool keeps_apart(std::string_view) const override { return false; }
  void tokenize(std::string_view word, std::vector<ModelToken>& tokens) const override {
    const auto id = vocabulary_.find(word);
    if (id || unknown_) {
      tokens.push_back({id ? *id : *unknown_, {0, word.size()}});
    }
  }

 private:
  Vocabulary vocabulary_;
  std::optional<TokenId> unknown_;
};

}  // namespace

std::unique_ptr<TokenModel> make_word_piece(Vocabulary vocabulary, const WordPieceOptions& options,
                                            std::string_view where) {
  return std::make_unique<WordPiece>(std::move(vocabulary), options, where);
}

std::unique_ptr<TokenModel> make_word_level(Vocabulary vocabulary, const std::string& unknown) {
  return std::make_unique<WordLevel>(std::move(vocabulary), unknown);
}

namespace {

// From each character, all pieces that the text begins with are tried: a dozen in a real
// vocabulary.
void check_nesting(const PrefixIndex& index, const std::vector<std::string_view>& pieces) {
  constexpr std::size_t kMost = 128;
  for (const std::string_view piece : pieces) {
    std::size_t count = 0;
    if (piece.size() > kMost) {
      index.prefixes(piece, [&count](std::uint32_t, std::size_t) { ++count; });
    }
    if (count > kMost) {
      throw Error(
          ErrorKind::kUnsupported,
          fmt::format("the piece {} of a Unigram vocabulary begins with {} pieces: expected "
                      "at most {}",
                      in_quotes(piece), count, kMost));
    }
  }
}

class Unigram : public TokenModel {
 public:
  Unigram(Vocabulary vocabulary, std::vector<double> scores, const UnigramOptions& options);

  std::string_view kind() const noexcept override { return "Unigram"; }
  const Vocabulary& vocabulary() const noexcept override { return vocabulary_; }
  std::optional<TokenId> unknown() const noexcept override { return options_.unknown; }
  bool keeps_apart(std::string_view mark) const override;
  void tokenize(std::string_view word, std::vector<ModelToken>& tokens) const override;

 private:
  // The last piece of the best path to a position in the word.
  struct Step {
    double score = -std::numeric_limits<double>::infinity();
    std::uint32_t begin = 0;
    TokenId id = kNoToken;  // kNoToken: an unknown character
  };
  std::vector<Step> best_steps(std::string_view word) const;
  double rounded(double sum) const noexcept {
    return options_.sums_floats ? static_cast<float>(sum) : sum;
  }
  void add_unknown(std::string_view word, ByteRange range, std::vector<ModelToken>& tokens) const;

  Vocabulary vocabulary_;
  std::vector<double> scores_;
  UnigramOptions options_;
  PrefixIndex index_;
  double unknown_score_ = 0.0;
  std::array<TokenId, 256> bytes_{};
  bool has_bytes_ = false;
};

Unigram::Unigram(Vocabulary vocabulary, std::vector<double> scores, const UnigramOptions& options)
    : vocabulary_(std::move(vocabulary)), scores_(std::move(scores)), options_(options) {
  scores_.resize(vocabulary_.size(), std::numeric_limits<double>::quiet_NaN());
  std::vector<std::string_view> pieces(scores_.size());
  double least = std::numeric_limits<double>::max();
  for (std::size_t id = 0; id < scores_.size(); ++id) {
    if (!std::isnan(scores_[id])) {
      pieces[id] = vocabulary_.piece(static_cast<TokenId>(id));
      least = std::min(least, scores_[id]);
    }
  }
  constexpr double kPenalty = 10.0;
  least = options_.least_score.value_or(least);
  unknown_score_ = rounded((least == std::numeric_limits<double>::max() ? 0.0 : least) - kPenalty);
  index_ = PrefixIndex(pieces);
  check_nesting(index_, pieces);
  has_bytes_ = options_.byte_fallback;
  for (std::size_t byte = 0; byte < bytes_.size(); ++byte) {
    const auto id = vocabulary_.find(fmt::format("<0x{:02X}>", byte));
    bytes_[byte] = id.value_or(kNoToken);
    has_bytes_ = has_bytes_ && id;
  }
}

bool Unigram::keeps_apart(std::string_view mark) const {
  const auto is_scored = [&](std::size_t id) {
    return id < scores_.size() && !std::isnan(scores_[id]);
  };
  const auto own = vocabulary_.find(mark);
  if (!own || !is_scored(*own) || own == options_.unknown) {
    return false;
  }
  for (std::size_t id = 0; id < scores_.size(); ++id) {
    std::string_view piece = vocabulary_.piece(static_cast<TokenId>(id));
    while (piece.starts_with(mark)) {
      piece.remove_prefix(mark.size());
    }
    if (is_scored(id) && piece.find(mark) != std::string_view::npos) {
      return false;
    }
  }
  return true;
}

std::vector<Unigram::Step> Unigram::best_steps(std::string_view word) const {
  std::vector<Step> steps(word.size() + 1);  // by the byte where a piece ends
  steps[0].score = 0.0;
  for (std::size_t i = 0; i < word.size();) {
    const double so_far = steps[i].score;
    const std::size_t length = decode_utf8(word, i).length;
    bool has_character = false;
    const auto offer = [&](std::size_t size, double sum, TokenId id) {
      Step& step = steps[i + size];
      if (sum > step.score) {
        step = {rounded(sum), static_cast<std::uint32_t>(i), id};
      }
    };
    index_.prefixes(word.substr(i), [&](std::uint32_t id, std::size_t size) {
      offer(size, so_far + scores_[id], id);
      has_character = has_character || size == length;
    });
    if (!has_character) {
      offer(length, rounded(so_far + unknown_score_), kNoToken);
    }
    i += length;
  }
  return steps;
}

void Unigram::add_unknown(std::string_view word, ByteRange range,
                          std::vector<ModelToken>& tokens) const {
  // A run of unknown characters may spell a piece that is only found as a whole.
  if (const auto id = vocabulary_.find(word.substr(range.begin, range.size()))) {
    tokens.push_back({*id, range});
  } else if (has_bytes_) {
    for (std::size_t i = range.begin; i < range.end; ++i) {
      tokens.push_back({bytes_[static_cast<unsigned char>(word[i])], {i, i + 1}});
    }
  } else if (options_.unknown) {
    tokens.push_back({*options_.unknown, range});
  }
}

void Unigram::tokenize(std::string_view word, std::vector<ModelToken>& tokens) const {
  const std::vector<Step> steps = best_steps(word);
  std::vector<ModelToken> path;
  for (std::size_t end = word.size(); end > 0; end = steps[end].begin) {
    // Sums of large negative scores overflow to -infinity, which is not better than the initial
    // value: then no step leads to the end.
    const std::size_t begin = std::min<std::size_t>(steps[end].begin, end - 1);
    const bool is_unknown = steps[end].id == kNoToken || steps[end].id == options_.unknown;
    path.push_back({is_unknown ? kNoToken : steps[end].id, {begin, end}});
    if (steps[end].begin >= end) {
      break;
    }
  }
  std::reverse(path.begin(), path.end());
  for (std::size_t i = 0; i < path.size();) {
    if (path[i].id != kNoToken) {
      tokens.push_back(path[i++]);
      continue;
    }
    ByteRange run = path[i].range;
    while (++i < path.size() && path[i].id == kNoToken) {
      run.end = path[i].range.end;
    }
    add_unknown(word, run, tokens);
  }
}

}  // namespace

std::unique_ptr<TokenModel> make_unigram(Vocabulary vocabulary, std::vector<double> scores,
                                         const UnigramOptions& options) {
  return std::make_unique<Unigram>(std::move(vocabulary), std::move(scores), options);
}

}  // namespace attnviz
