#include "attnviz/text/tokenizers/word_models.h"

#include <algorithm>
#include <utility>

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

}  // namespace attnviz
