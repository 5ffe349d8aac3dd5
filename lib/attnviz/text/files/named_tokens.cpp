#include "attnviz/text/files/named_tokens.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"

namespace attnviz {

namespace {

// Adds tokens to those of a tokenizer, each once.
class TokenAdder {
 public:
  explicit TokenAdder(TokenizerParts& parts)
      : parts_(parts), next_(parts.model->vocabulary().size()) {
    for (std::size_t i = 0; i < parts.added.size(); ++i) {
      remember(i);
    }
  }

  // One that is there already, by what it says.
  AddedToken* find(const std::string& content) {
    const auto found = places_.find(content);
    return found == places_.end() ? nullptr : &parts_.added[found->second];
  }
  // That which a token has in the vocabulary or gets behind it.
  std::size_t id_of(const std::string& content) const {
    const auto id = parts_.model->vocabulary().find(content);
    return id ? *id : next_;
  }
  void add(AddedToken token) {
    parts_.added.push_back(std::move(token));
    remember(parts_.added.size() - 1);
  }

 private:
  void remember(std::size_t place) {
    const AddedToken& token = parts_.added[place];
    places_.emplace(token.content, place);
    next_ = std::max(next_, std::size_t{token.id} + 1);
  }

  TokenizerParts& parts_;
  std::size_t next_;  // behind all ids
  std::map<std::string, std::size_t> places_;
};

// Of those with one id the last.
void add_with_ids(TokenizerParts& parts, std::vector<AddedToken> tokens) {
  std::vector<AddedToken> all = std::move(parts.added);
  all.insert(all.end(), std::move_iterator(tokens.begin()), std::move_iterator(tokens.end()));
  std::unordered_set<TokenId> ids;
  std::vector<AddedToken> kept;
  for (auto token = all.rbegin(); token != all.rend(); ++token) {
    if (ids.insert(token->id).second) {
      kept.push_back(std::move(*token));
    }
  }
  parts.added.assign(std::move_iterator(kept.rbegin()), std::move_iterator(kept.rend()));
}

void add_named(TokenAdder& adder, AddedToken token) {
  token.id = static_cast<TokenId>(adder.id_of(token.content));
  adder.add(std::move(token));
}

}  // namespace

void add_own_tokens(TokenizerParts& parts, const TokenizerSettings& settings, bool lstrip_of_mask) {
  std::vector<AddedToken> tokens = settings.added_tokens();
  std::set<std::string> with_ids;
  for (const AddedToken& token : tokens) {
    with_ids.insert(token.content);
  }
  add_with_ids(parts, std::move(tokens));
  TokenAdder adder(parts);
  for (AddedToken& token : settings.named_tokens(lstrip_of_mask)) {
    AddedToken* const known = adder.find(token.content);
    if (known == nullptr) {
      add_named(adder, std::move(token));
    } else if (!with_ids.contains(token.content)) {
      token.id = known->id;
      token.as_normalized = known->as_normalized;
      token.normalized = known->normalized;  // where the file looks for its own
      *known = std::move(token);
    }
  }
}

void add_missing_tokens(TokenizerParts& parts, const TokenizerSettings& settings) {
  std::vector<AddedToken> tokens = settings.added_tokens();
  std::ranges::sort(tokens, {}, &AddedToken::id);
  TokenAdder adder(parts);
  for (AddedToken& token : tokens) {
    if (AddedToken* const known = adder.find(token.content)) {
      if (settings.has_added_tokens_decoder()) {
        token.id = known->id;
        token.special |= known->special;
        *known = std::move(token);
      }
      continue;
    }
    const std::size_t id = adder.id_of(token.content);
    if (token.id != id) {
      throw Error(
          ErrorKind::kUnsupported,
          fmt::format("{}expected id {} for {}, which tokenizer.json leaves it, found {}: "
                      "which of them holds depends on the library",
                      settings.added_tokens_where(), id, attnviz::quoted(token.content), token.id));
    }
    adder.add(std::move(token));
  }
  for (AddedToken& token : settings.named_tokens(false)) {
    if (adder.find(token.content) == nullptr) {
      add_named(adder, std::move(token));
    }
  }
}

}  // namespace attnviz
