// The last stage of a tokenizer: where special tokens go around a text, or around a pair.
#pragma once

#include <cstddef>
#include <vector>

#include "attnviz/text/tokenized_text.h"

namespace attnviz {

struct TemplateItem {
  enum class Kind { kSpecial, kFirst, kSecond };

  Kind kind = Kind::kFirst;
  TokenId id = 0;           // of a special token
  std::size_t segment = 0;  // its token type
};

using Template = std::vector<TemplateItem>;

struct PostProcessor {
  Template single = {{TemplateItem::Kind::kFirst, 0, 0}};
  Template pair = {{TemplateItem::Kind::kFirst, 0, 0}, {TemplateItem::Kind::kSecond, 0, 1}};

  bool adds_tokens() const noexcept { return single.size() > 1; }
};

/// `outer` with the text itself in each place replaced by `inner`.
PostProcessor composed(const PostProcessor& inner, const PostProcessor& outer);
/// `first` at the beginning of each text, `last` at its end.
PostProcessor surrounding(const std::vector<TokenId>& first, const std::vector<TokenId>& last);
/// As BERT has them: `cls A sep`, `cls A sep B sep` with segment 1 from B on.
PostProcessor bert_post_processor(TokenId cls, TokenId sep);
/// As RoBERTa has them: `cls A sep`, `cls A sep sep B sep`, all of segment 0.
PostProcessor roberta_post_processor(TokenId cls, TokenId sep);

}  // namespace attnviz
