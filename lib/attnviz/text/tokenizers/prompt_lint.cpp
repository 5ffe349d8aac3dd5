#include "attnviz/text/tokenizers/prompt_lint.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <string_view>

#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/text/unicode_classes.h"
#include "attnviz/text/units.h"

namespace attnviz {

namespace {

bool is_in_pieces(std::span<const Token> tokens, std::string_view word) {
  constexpr std::size_t kManyPieces = 3;
  return !is_utf8(word) || (tokens.size() >= kManyPieces && has_letter(word));
}

}  // namespace

VocabularyFit vocabulary_fit(const TokenizedText& text) {
  constexpr std::size_t kMostNamed = 3;
  VocabularyFit fit;
  const std::vector<std::size_t> words = word_numbers(text);
  const std::string_view source = text.source;
  std::set<std::string_view> met;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = static_cast<std::size_t>(
        std::upper_bound(words.begin() + static_cast<std::ptrdiff_t>(begin), words.end(),
                         words[begin]) -
        words.begin());
    const std::span<const Token> tokens = std::span(text.tokens).subspan(begin, end - begin);
    begin = end;
    if (tokens.front().added) {
      continue;
    }
    fit.n_tokens += tokens.size();
    std::string_view word =
        source.substr(tokens.front().begin, tokens.back().end - tokens.front().begin);
    word.remove_prefix(std::min(word.find_first_not_of(' '), word.size()));
    if (tokens.front().special || !is_in_pieces(tokens, word)) {
      continue;
    }
    fit.n_in_pieces += tokens.size();
    if (met.insert(word).second && fit.named.size() < kMostNamed) {
      fit.named.emplace_back(word);
    }
  }
  fit.n_words = met.size();
  return fit;
}

namespace {

// Markers that begin, end or introduce a turn in the templates of well-known models.
constexpr std::string_view kSigns[] = {"<|im_start|>",
                                       "<|im_end|>",
                                       "<|im_sep|>",
                                       "<|start_header_id|>",
                                       "<|end_header_id|>",
                                       "<|eot_id|>",
                                       "<|header_start|>",
                                       "<|header_end|>",
                                       "<|eot|>",
                                       "<start_of_turn>",
                                       "<end_of_turn>",
                                       "<|turn>",
                                       "<turn|>",
                                       "[INST]",
                                       "[/INST]",
                                       "[SYSTEM_PROMPT]",
                                       "<<SYS>>",
                                       "<|system|>",
                                       "<|user|>",
                                       "<|assistant|>",
                                       "<|end|>",
                                       "<|start_of_role|>",
                                       "<|end_of_role|>",
                                       "<|START_OF_TURN_TOKEN|>",
                                       "<|END_OF_TURN_TOKEN|>",
                                       "<|start|>assistant",
                                       "<|channel|>",
                                       "<｜User｜>",
                                       "<｜Assistant｜>",
                                       "### Instruction:",
                                       "### Response:"};

bool begins_twice(const TokenizedText& text, const ModelTokenizer& tokenizer) {
  const std::optional<TokenId> bos = tokenizer.special_ids().bos;
  return bos && text.size() > 1 && text.tokens[0].id == *bos && text.tokens[1].id == *bos;
}

// Whether all of these bytes are one special token.
bool is_token(const TokenizedText& text, std::size_t begin, std::size_t end) {
  // Ranges ascend from token to token.
  const auto first = std::ranges::lower_bound(text.tokens, end, {}, &Token::end);
  const auto last = std::ranges::upper_bound(text.tokens, begin, {}, &Token::begin);
  return first < last && std::any_of(first, last, [](const Token& token) { return token.special; });
}

// The first marker that is plain text here.
std::string_view plain_sign(const TokenizedText& text) {
  std::size_t first = text.source.size();
  std::string_view found;
  for (const std::string_view sign : kSigns) {
    for (std::size_t at = 0; (at = text.source.find(sign, at)) < first; at += sign.size()) {
      if (!is_token(text, at, at + sign.size())) {
        first = at;
        found = sign;
      }
    }
  }
  return found;
}

}  // namespace

std::string prompt_fault(const TokenizedText& text, const ModelTokenizer& tokenizer) {
  if (begins_twice(text, tokenizer)) {
    return fmt::format(
        "the text begins with {} twice; models expect one{}",
        in_quotes(tokenizer.piece(*tokenizer.special_ids().bos)),
        text.tokens.front().added ? "; the one that the tokenizer adds can be left out" : "");
  }
  const std::string_view sign = text.turns.empty() ? plain_sign(text) : std::string_view();
  if (sign.empty()) {
    return {};
  }
  const ChatTemplate* const chat = tokenizer.chat_template();
  const std::string way = chat != nullptr ? "; the model's own template renders a chat" : "";
  if (tokenizer.id_of(sign)) {
    return fmt::format("{} is plain text here, not the model's token of that name{}",
                       in_quotes(sign), way);
  }
  if (chat != nullptr && chat->source.find(sign) != std::string::npos) {
    return fmt::format("{}: the text looks like turns of a chat that were written by hand{}",
                       in_quotes(sign), way);
  }
  return fmt::format(
      "{} is not a token of this model: the text looks like a chat for another model{}",
      in_quotes(sign), way);
}

}  // namespace attnviz
