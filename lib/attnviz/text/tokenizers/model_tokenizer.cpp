#include "attnviz/text/tokenizers/model_tokenizer.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/string_hash.h"
#include "attnviz/text/tokenizers/tokenizer_parts.h"

namespace attnviz {

namespace {

using Kind = TemplateItem::Kind;

// The result of `work`; errors of stages that do too much get the name of their file.
template <class Work>
auto with_place(const std::string& where, const Work& work) {
  try {
    return work();
  } catch (const StagesTooLong& error) {
    throw Error(error.kind(), where + error.what());
  }
}

// Sets the normalized form of all added tokens.
TokenizerParts with_normalized_tokens(TokenizerParts parts, StageSteps& steps) {
  for (AddedToken& token : parts.added) {
    if (token.normalized && parts.normalizer && !token.as_normalized) {
      AlignedText content(token.content, 0, &steps);
      with_place(parts.where, [&] { parts.normalizer(content); });
      token.as_normalized = std::string(content.text());
    }
  }
  return parts;
}

// The added tokens to search for in the source, or in the normalized text.
std::vector<AddedToken> chosen(const TokenizerParts& parts, bool normalized, bool with_special) {
  std::vector<AddedToken> tokens;
  for (const AddedToken& token : parts.added) {
    if (token.normalized == normalized && (with_special || !token.special)) {
      tokens.push_back(token);
      tokens.back().content = token.as_normalized.value_or(token.content);
    }
  }
  return tokens;
}

// Removes BOS from the beginning only: the same token may also end a text.
template <class IsBos>
void without_bos(Template& items, const IsBos& is_bos) {
  if (items.empty() || !is_bos(items.front())) {
    return;
  }
  items.erase(items.begin());
  const auto second = std::find_if(items.begin(), items.end(), [](const TemplateItem& item) {
    return item.kind == Kind::kSecond;
  });
  if (second != items.end() && second != items.begin() && is_bos(*(second - 1))) {
    items.erase(second - 1);
  }
}

struct PlacedId {
  TokenId id;
  ByteRange range;  // in the source
};

// Words recur: the pieces of short words are remembered for the length of a text.
class WordCache {
 public:
  explicit WordCache(const TokenModel& model)
      : model_(model), known_(0, StringHash{reinterpret_cast<std::uintptr_t>(this)}) {}

  const std::vector<ModelToken>& pieces(std::string_view word) {
    constexpr std::size_t kLongest = 64;
    constexpr std::size_t kMostWords = std::size_t{1} << 16;
    if (word.size() <= kLongest) {
      const auto found = known_.find(word);
      if (found != known_.end()) {
        return found->second;
      }
    }
    const bool has_room = word.size() <= kLongest && known_.size() < kMostWords;
    std::vector<ModelToken>& tokens = has_room ? known_[std::string(word)] : other_word_;
    tokens.clear();
    model_.tokenize(word, tokens);
    return tokens;
  }

 private:
  const TokenModel& model_;
  std::unordered_map<std::string, std::vector<ModelToken>, StringHash, std::equal_to<>> known_;
  std::vector<ModelToken> other_word_;
};

}  // namespace

struct ModelTokenizer::State {
  struct Finders {
    Finders(const TokenizerParts& parts, bool with_special)
        : in_source(chosen(parts, false, with_special)),
          in_normalized(chosen(parts, true, with_special)) {}

    AddedTokenFinder in_source;
    AddedTokenFinder in_normalized;
  };

  explicit State(TokenizerParts made)
      : parts(with_normalized_tokens(std::move(made), *steps)),
        plain(parts, false),
        all(parts, true) {
    size = parts.model->vocabulary().size();
    // SentencePiece's files do not cut text into words, and texts are long.
    if (parts.model->keeps_apart("▁")) {
      parts.pre_tokenizer = sequence_cut({parts.pre_tokenizer, mark_cut("▁")});
    }
    for (const AddedToken& token : parts.added) {
      added.push_back(&token);
      size = std::max(size, std::size_t{token.id} + 1);
    }
    std::ranges::stable_sort(added, {}, &AddedToken::id);
  }

  std::vector<PlacedId> encode(std::string_view text, bool parse_special) const;
  void encode_words(AlignedText text, WordCache& cache, std::vector<PlacedId>& ids) const;
  Template chosen_template(const TokenizeOptions& options) const;
  const AddedToken* added_token(TokenId id) const {
    const auto found = std::ranges::lower_bound(added, id, {}, &AddedToken::id);
    return found == added.end() || (*found)->id != id ? nullptr : *found;
  }
  std::string_view raw_piece(TokenId id) const {
    const AddedToken* token = added_token(id);
    return token != nullptr ? token->content : parts.model->vocabulary().piece(id);
  }
  std::string text_of(TokenId id) const {
    const AddedToken* token = added_token(id);
    return token != nullptr ? token->content
                            : parts.decoder.piece_text(parts.model->vocabulary().piece(id));
  }
  // Adds a token to those of a text, and its bytes to the total.
  void put(TokenId id, ByteRange range, std::size_t segment, std::vector<Token>& tokens,
           std::size_t& n_bytes) const {
    const AddedToken* found = added_token(id);
    tokens.push_back(
        {id, text_of(id), range.begin, range.end, found != nullptr && found->special, segment});
    n_bytes += tokens.back().text.size();
    check_piece_bytes(n_bytes, tokens.size(), parts.where);
  }

  std::unique_ptr<StageSteps> steps = std::make_unique<StageSteps>();
  TokenizerParts parts;
  Finders plain;  // without special tokens
  Finders all;
  std::vector<const AddedToken*> added;  // by id
  std::size_t size = 0;
};

void ModelTokenizer::State::encode_words(AlignedText text, WordCache& cache,
                                         std::vector<PlacedId>& ids) const {
  WordCut cut;
  cut.words.push_back({0, text.size()});
  cut.text = std::move(text);
  if (parts.pre_tokenizer && cut.text.size() > 0) {
    parts.pre_tokenizer(cut);
  }
  for (const ByteRange& word : cut.words) {
    if (word.size() == 0) {
      continue;
    }
    for (const ModelToken& token : cache.pieces(cut.text.text(word))) {
      ids.push_back({token.id, cut.text.source({word.begin + token.range.begin,
                                                word.begin + token.range.end})});
    }
  }
}

std::vector<PlacedId> ModelTokenizer::State::encode(std::string_view text,
                                                    bool parse_special) const {
  const Finders& finders = parse_special ? all : plain;
  std::vector<PlacedId> ids;
  WordCache cache(*parts.model);
  steps->allow_for(text.size());
  for (const AddedTokenFinder::Part& part : finders.in_source.split(text)) {
    if (part.id) {
      ids.push_back({*part.id, part.range});
      continue;
    }
    AlignedText piece(text.substr(part.range.begin, part.range.size()), part.range.begin,
                      steps.get());
    if (!parts.takes_any_byte) {
      piece = with_valid_utf8(std::move(piece));
    }
    if (parts.normalizer) {
      parts.normalizer(piece);
    }
    const auto inner = finders.in_normalized.split(piece.text());
    if (inner.size() == 1 && !inner[0].id) {
      encode_words(std::move(piece), cache, ids);
      continue;
    }
    for (const AddedTokenFinder::Part& inside : inner) {
      if (inside.id) {
        ids.push_back({*inside.id, piece.source(inside.range)});
      } else {
        encode_words(piece.part(inside.range), cache, ids);
      }
    }
  }
  return ids;
}

Template ModelTokenizer::State::chosen_template(const TokenizeOptions& options) const {
  const PostProcessor none;
  const PostProcessor& post = options.add_special_tokens ? parts.post : none;
  Template items = options.pair ? post.pair : post.single;
  if (!options.bos) {
    return items;
  }
  const auto bos = parts.special.bos;
  if (*options.bos && !bos) {
    throw Error(ErrorKind::kUsage, fmt::format("this {} tokenizer has no token that begins a text",
                                               parts.model->kind()));
  }
  const auto is_bos = [&](const TemplateItem& item) {
    return item.kind == Kind::kSpecial && item.id == (bos ? bos : parts.special.cls);
  };
  if (!*options.bos) {
    if (!items.empty() && items.front().kind == Kind::kSpecial && !is_bos(items.front())) {
      throw Error(
          ErrorKind::kUsage,
          fmt::format("this {} tokenizer begins a text with {}, which is not a BOS token and stays",
                      parts.model->kind(), in_quotes(text_of(items.front().id))));
    }
    without_bos(items, is_bos);
  } else if (items.empty() || !is_bos(items.front())) {
    items.insert(items.begin(), {Kind::kSpecial, *bos, 0});
  }
  return items;
}

ModelTokenizer::ModelTokenizer(TokenizerParts parts)
    : state_(std::make_unique<const State>(std::move(parts))) {}

ModelTokenizer::~ModelTokenizer() = default;

std::string_view ModelTokenizer::name() const noexcept {
  return state_->parts.model->kind();
}

TokenizedText ModelTokenizer::tokenize(std::string_view text) const {
  return tokenize(text, {});
}

TokenizedText ModelTokenizer::tokenize(std::string_view text,
                                       const TokenizeOptions& options) const {
  const std::string_view second = options.pair.value_or(std::string_view());
  if (text.size() >= UINT32_MAX || second.size() >= UINT32_MAX) {
    throw Error(ErrorKind::kUsage, "a text to tokenize must be below 4 GiB");
  }
  TokenizedText result{std::string(text), {}};
  std::size_t second_begin = result.source.size();
  if (options.pair) {
    result.source += '\n';
    second_begin = result.source.size();
    result.source += second;
  }
  std::size_t place = 0;
  std::size_t n_bytes = 0;
  const auto put = [&](TokenId id, ByteRange range, std::size_t segment) {
    state_->put(id, range, segment, result.tokens, n_bytes);
  };
  for (const TemplateItem& item : state_->chosen_template(options)) {
    if (item.kind == Kind::kSpecial) {
      put(item.id, {place, place}, item.segment);
      result.tokens.back().added = true;
      continue;
    }
    const bool is_first = item.kind == Kind::kFirst;
    const std::size_t offset = is_first ? 0 : second_begin;
    const std::vector<PlacedId> ids = with_place(state_->parts.where, [&] {
      return state_->encode(is_first ? text : second, options.parse_special);
    });
    result.tokens.reserve(result.tokens.size() + ids.size() + 1);
    for (const PlacedId& placed : ids) {
      put(placed.id, {offset + placed.range.begin, offset + placed.range.end}, item.segment);
    }
    place = is_first ? text.size() : result.source.size();
  }
  return result;
}

TokenizedText ModelTokenizer::from_ids(std::span<const TokenId> ids) const {
  std::vector<Decoder::Piece> pieces;
  pieces.reserve(ids.size());
  std::size_t n_bytes = 0;
  for (const TokenId id : ids) {
    if (id >= state_->size) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("token id {}: expected 0 to {}, the vocabulary's last", id,
                              state_->size - 1));
    }
    pieces.push_back({std::string(state_->raw_piece(id)), state_->added_token(id) != nullptr});
    n_bytes += pieces.back().text.size();
    check_piece_bytes(n_bytes, ids.size(), state_->parts.where);
  }
  state_->parts.decoder.decode(pieces);
  TokenizedText result;
  result.tokens.reserve(ids.size());
  n_bytes = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::size_t begin = result.source.size();
    result.source += pieces[i].text;
    state_->put(ids[i], {begin, result.source.size()}, 0, result.tokens, n_bytes);
  }
  return result;
}

std::size_t ModelTokenizer::vocabulary_size() const noexcept {
  return state_->size;
}

std::string ModelTokenizer::piece(TokenId id) const {
  return state_->text_of(id);
}

std::optional<TokenId> ModelTokenizer::id_of(std::string_view piece) const {
  return find_token(state_->parts, piece);
}

bool ModelTokenizer::is_special(TokenId id) const {
  const AddedToken* token = state_->added_token(id);
  return token != nullptr && token->special;
}

const SpecialIds& ModelTokenizer::special_ids() const noexcept {
  return state_->parts.special;
}

const std::vector<IgnoredKey>& ModelTokenizer::ignored_keys() const noexcept {
  return state_->parts.ignored_keys;
}

const std::vector<std::string>& ModelTokenizer::unknown_keys() const noexcept {
  return state_->parts.unknown_keys;
}

const ChatTemplate* ModelTokenizer::chat_template() const noexcept {
  return chat_ ? &*chat_ : nullptr;
}

void ModelTokenizer::check_chat_template() const {
  if (!chat_ && chat_error_) {
    throw Error(*chat_error_);
  }
}

std::optional<TokenId> find_token(const TokenizerParts& parts, std::string_view name) {
  for (const AddedToken& token : parts.added) {
    if (token.content == name) {
      return token.id;
    }
  }
  return parts.model->vocabulary().find(name);
}

}  // namespace attnviz
