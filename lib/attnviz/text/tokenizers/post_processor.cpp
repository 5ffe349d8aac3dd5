#include "attnviz/text/tokenizers/post_processor.h"

namespace attnviz {

namespace {

using Kind = TemplateItem::Kind;

TemplateItem special(TokenId id, std::size_t segment) {
  return {Kind::kSpecial, id, segment};
}

void append_text(Template& items, const std::vector<TokenId>& first, TemplateItem text,
                 const std::vector<TokenId>& last) {
  for (const TokenId id : first) {
    items.push_back(special(id, text.segment));
  }
  items.push_back(text);
  for (const TokenId id : last) {
    items.push_back(special(id, text.segment));
  }
}

// The texts of `outer` stand for what `inner` makes of a single text.
Template composed(const Template& inner, const Template& outer) {
  Template items;
  items.reserve(inner.size() + outer.size());
  for (const TemplateItem& item : outer) {
    if (item.kind == Kind::kSpecial) {
      items.push_back(item);
      continue;
    }
    for (const TemplateItem& part : inner) {
      items.push_back({part.kind == Kind::kSpecial ? part.kind : item.kind, part.id, item.segment});
    }
  }
  return items;
}

}  // namespace

PostProcessor composed(const PostProcessor& inner, const PostProcessor& outer) {
  if (!outer.adds_tokens()) {
    return inner;
  }
  return {composed(inner.single, outer.single), composed(inner.single, outer.pair)};
}

PostProcessor surrounding(const std::vector<TokenId>& first, const std::vector<TokenId>& last) {
  PostProcessor made{{}, {}};
  append_text(made.single, first, {Kind::kFirst, 0, 0}, last);
  append_text(made.pair, first, {Kind::kFirst, 0, 0}, last);
  append_text(made.pair, first, {Kind::kSecond, 0, 1}, last);
  return made;
}

PostProcessor bert_post_processor(TokenId cls, TokenId sep) {
  PostProcessor made{{}, {}};
  append_text(made.single, {cls}, {Kind::kFirst, 0, 0}, {sep});
  append_text(made.pair, {cls}, {Kind::kFirst, 0, 0}, {sep});
  append_text(made.pair, {}, {Kind::kSecond, 0, 1}, {sep});
  return made;
}

PostProcessor roberta_post_processor(TokenId cls, TokenId sep) {
  PostProcessor made{{}, {}};
  append_text(made.single, {cls}, {Kind::kFirst, 0, 0}, {sep});
  append_text(made.pair, {cls}, {Kind::kFirst, 0, 0}, {sep});
  append_text(made.pair, {sep}, {Kind::kSecond, 0, 0}, {sep});
  return made;
}

}  // namespace attnviz
