#include "attnviz/text/truncation.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"

namespace attnviz {

namespace {

// Where the second text of a pair begins: behind the added tokens that stand between the texts.
std::size_t second_text(const std::vector<Token>& tokens) {
  const auto is_text = [](const Token& token) { return !token.added; };
  const auto is_added = [](const Token& token) { return token.added; };
  const auto first = std::find_if(tokens.begin(), tokens.end(), is_text);
  const auto between = std::find_if(first, tokens.end(), is_added);
  return static_cast<std::size_t>(std::find_if(between, tokens.end(), is_text) - tokens.begin());
}

}  // namespace

TokenizedText truncated(TokenizedText text, std::size_t most, TruncateSide side) {
  if (text.size() <= most) {
    return text;
  }
  // The places of what may go, of each text.
  const std::size_t second = second_text(text.tokens);
  std::array<std::vector<std::size_t>, 2> places;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!text.tokens[i].added) {
      places[i < second ? 0 : 1].push_back(i);
    }
  }
  std::array<std::size_t, 2> kept = {places[0].size(), places[1].size()};
  const std::size_t added = text.size() - kept[0] - kept[1];
  if (added > most) {
    throw Error(ErrorKind::kUsage, fmt::format("the tokenizer adds {}, more than the {} that fit",
                                               counted(added, "token"), most));
  }
  const std::size_t room = most - added;
  while (kept[0] + kept[1] > room) {
    --kept[kept[0] > kept[1] ? 0 : 1];
  }
  std::vector<bool> leaves(text.size(), false);
  for (std::size_t part = 0; part < places.size(); ++part) {
    const std::size_t gone = places[part].size() - kept[part];
    const std::size_t first = side == TruncateSide::kLeft ? 0 : kept[part];
    for (std::size_t i = first; i < first + gone; ++i) {
      leaves[places[part][i]] = true;
    }
  }
  std::vector<Token> tokens;
  tokens.reserve(most);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!leaves[i]) {
      tokens.push_back(std::move(text.tokens[i]));
    }
  }
  text.tokens = std::move(tokens);
  return text;
}

}  // namespace attnviz
