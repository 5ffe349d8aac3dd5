#include "attnviz/text/tokenizers/prompt_lint.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "attnviz/core/message.h"

namespace attnviz {

namespace {

// What begins, ends or introduces a turn in the templates of well-known models.
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
  // Ranges grow from token to token.
  const auto first = std::ranges::lower_bound(text.tokens, end, {}, &Token::end);
  const auto last = std::ranges::upper_bound(text.tokens, begin, {}, &Token::begin);
  return first < last && std::any_of(first, last, [](const Token& token) { return token.special; });
}

// The first sign that is plain text here.
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
    return fmt::format("the text begins with {} twice; models expect one{}",
                       quoted(tokenizer.piece(*tokenizer.special_ids().bos)),
                       text.tokens.front().added ? "; without the tokenizer's: bos false" : "");
  }
  const std::string_view sign = text.turns.empty() ? plain_sign(text) : std::string_view();
  if (sign.empty()) {
    return {};
  }
  const ChatTemplate* const chat = tokenizer.chat_template();
  const std::string way = chat != nullptr ? "; the model's own template renders a chat" : "";
  if (tokenizer.id_of(sign)) {
    return fmt::format("{} is plain text here, not the model's token of that name{}", quoted(sign),
                       way);
  }
  if (chat != nullptr && chat->source.find(sign) != std::string::npos) {
    return fmt::format("{}: the text looks like turns of a chat that were written by hand{}",
                       quoted(sign), way);
  }
  return fmt::format("{} is no token of this model: the text looks like a chat of another one{}",
                     quoted(sign), way);
}

}  // namespace attnviz
