#include "attnviz/text/tokenizers/tokenizer_parts.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/text/unicode_classes.h"

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

// Replaces the texts in `outer` by the result of `inner` for a single text.
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

namespace {

// The last character of a text; precondition: not empty.
CodePoint last_character(std::string_view text) noexcept {
  std::size_t begin = text.size() - 1;
  while (begin > 0 && text.size() - begin < 4 &&
         (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) {
    --begin;
  }
  const CodePoint point = decode_utf8(text, begin);
  return begin + point.length == text.size()
             ? point
             : CodePoint{static_cast<unsigned char>(text.back()), 1, false};
}

bool is_white(const CodePoint& point) noexcept {
  return point.valid && is_white_space(point.value);
}

bool stands_alone(std::string_view text, ByteRange range) noexcept {
  const auto is_part_of_word = [](const CodePoint& point) {
    return point.valid && is_word(point.value);
  };
  return (range.begin == 0 || !is_part_of_word(last_character(text.substr(0, range.begin)))) &&
         (range.end == text.size() || !is_part_of_word(decode_utf8(text, range.end)));
}

}  // namespace

AddedTokenFinder::AddedTokenFinder(std::vector<AddedToken> tokens) : tokens_(std::move(tokens)) {
  std::vector<std::string_view> contents;
  contents.reserve(tokens_.size());
  for (const AddedToken& token : tokens_) {
    if (token.content.size() > PrefixIndex::kLongestPiece) {
      throw Error(ErrorKind::kUnsupported,
                  fmt::format("added token {}: expected at most {} bytes{}, found {}",
                              in_quotes(token.content), PrefixIndex::kLongestPiece,
                              token.normalized ? " when normalized" : "", token.content.size()));
    }
    contents.push_back(token.content);
  }
  index_ = PrefixIndex(std::move(contents));
}

std::vector<AddedTokenFinder::Part> AddedTokenFinder::split(std::string_view text) const {
  std::vector<Part> parts;
  std::size_t done = 0;
  for (std::size_t i = 0; i < text.size() && !index_.empty();) {
    const AddedToken* token = nullptr;
    ByteRange range{i, i};
    index_.prefixes(text.substr(i), [&](std::uint32_t number, std::size_t size) {
      token = &tokens_[number];
      range.end = i + size;
    });
    if (token == nullptr) {
      ++i;
      continue;
    }
    i = range.end;
    if (token->single_word && !stands_alone(text, range)) {
      continue;
    }
    while (token->lstrip && range.begin > done) {
      const CodePoint point = last_character(text.substr(0, range.begin));
      if (!is_white(point)) {
        break;
      }
      range.begin = std::max(done, range.begin - point.length);
    }
    while (token->rstrip && range.end < text.size() && is_white(decode_utf8(text, range.end))) {
      range.end += decode_utf8(text, range.end).length;
    }
    if (done < range.begin) {
      parts.push_back({{done, range.begin}, std::nullopt});
    }
    parts.push_back({range, token->id});
    done = range.end;
    i = done;
  }
  if (done < text.size()) {
    parts.push_back({{done, text.size()}, std::nullopt});
  }
  return parts;
}

}  // namespace attnviz
