#include "attnviz/document/patterns/marked_tokens.h"

#include <algorithm>
#include <set>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/document/patterns/shown_tokens.h"
#include "attnviz/document/words/token_names.h"

namespace attnviz {

namespace {

void append(const TokenMarks& more, std::size_t first, TokenMarks& marks) {
  for (const auto& [from, to] : {std::pair{&more.special, &marks.special},
                                 {&more.added, &marks.added},
                                 {&more.generated, &marks.generated}}) {
    for (const std::size_t token : *from) {
      to->push_back(first + token);
    }
  }
}

// Those that the tokenizer did not add.
std::vector<std::size_t> kept_tokens(const TokenMarks& marks, std::size_t n_tokens) {
  std::vector<std::size_t> kept;
  for (std::size_t token = 0; token < n_tokens; ++token) {
    if (!std::ranges::binary_search(marks.added, token)) {
      kept.push_back(token);
    }
  }
  if (kept.empty()) {
    throw Error(ErrorKind::kUsage,
                "no_special: the tokenizer added every token; nothing would be left", "no_special");
  }
  return kept;
}

}  // namespace

TokenMarks shown_marks(const AttentionDocument& document, bool draws_sinks) {
  TokenMarks marks = document.marks;
  if (!document.is_of_one_text()) {
    append(document.key_marks, document.query_tokens.size(), marks);
  }
  if (document.drawing.no_special) {
    std::erase_if(marks.special, [&added = marks.added](std::size_t token) {
      return std::ranges::binary_search(added, token);
    });
    marks.added.clear();
  }
  // Where it sees others, too, it stays as a query.
  if (document.drawing.drop_sink && !draws_sinks && document.run.mask &&
      !document.run.mask->visible(0, 1) && document.is_of_one_text()) {
    for (std::vector<std::size_t>* const some : {&marks.special, &marks.added, &marks.generated}) {
      std::erase(*some, 0);
    }
  }
  return marks;
}

std::vector<std::string> added_tokens(const AttentionDocument& document) {
  std::vector<std::string> tokens;
  std::set<std::string> known;
  const auto add = [&](const TokenMarks& marks, const std::vector<std::string>& names) {
    for (const std::size_t token : marks.added) {
      if (const auto [name, is_new] = known.insert(quoted_token(names[token])); is_new) {
        tokens.push_back(*name);
      }
    }
  };
  add(document.marks, document.query_tokens);
  if (!document.is_of_one_text()) {
    add(document.key_marks, document.key_tokens);
  }
  return tokens;
}

std::size_t n_added(const AttentionDocument& document) {
  return document.marks.added.size() +
         (document.is_of_one_text() ? 0 : document.key_marks.added.size());
}

Heatmap without_added(const Heatmap& heatmap, const AttentionDocument& document) {
  return with_tokens(heatmap, kept_tokens(document.marks, heatmap.n_queries()),
                     kept_tokens(document.marks_of_keys(), heatmap.n_keys()));
}

}  // namespace attnviz
