#include "attnviz/analysis/token_roles.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "attnviz/analysis/informative_heads.h"
#include "attnviz/text/unicode_classes.h"

namespace attnviz {

namespace {

bool has_space_before(const std::string& token) {
  return without_spaces_before(token).size() != token.size();
}

bool is_word_byte(char byte) {
  return (static_cast<unsigned char>(byte) & 0x80u) != 0 || has_letter_or_number({&byte, 1});
}

// Whether a piece continues the word before it, as far as the two show: WordPiece marks such
// pieces, and where spaces begin words, they have no space. Bytes above 127 count as letters.
bool goes_on(const std::string& before, const std::string& token, bool space_begins_words) {
  constexpr std::string_view kContinuation = "##";
  if (token.size() > kContinuation.size() && token.starts_with(kContinuation)) {
    return true;
  }
  return space_begins_words && !token.empty() && !before.empty() && !has_space_before(token) &&
         is_word_byte(token.front()) && is_word_byte(before.back());
}

}  // namespace

TokenRoles::TokenRoles(const std::vector<std::string>& queries,
                       const std::vector<std::string>& keys, const TokenMarks& marks,
                       const TokenMarks& key_marks)
    : queries_(words_of(queries)), keys_(words_of(keys)), is_one_text_(queries == keys) {
  drop_marked(marks, queries_);
  drop_marked(is_one_text_ ? marks : key_marks, keys_);
}

void TokenRoles::drop_marked(const TokenMarks& marks, std::vector<Word>& words) {
  for (const auto* marked : {&marks.special, &marks.added}) {
    for (const std::size_t token : *marked) {
      if (token < words.size()) {
        words[token] = {};
      }
    }
  }
}

std::vector<TokenRoles::Word> TokenRoles::words_of(const std::vector<std::string>& tokens) {
  const bool space_begins_words = std::any_of(tokens.begin(), tokens.end(), has_space_before);
  std::vector<Word> words;
  words.reserve(tokens.size());
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    Word word;
    word.text = without_spaces_before(tokens[i]);
    word.is_pronoun = !pronoun_of(tokens[i]).empty();
    word.is_content = is_content_word(tokens[i]);
    word.is_open = !word.is_content && !word.is_pronoun && has_letter(word.text);
    if (i > 0 && goes_on(tokens[i - 1], tokens[i], space_begins_words)) {
      word.is_whole = false;
      words.back().is_whole = false;
    }
    words.push_back(std::move(word));
  }
  return words;
}

Evidence TokenRoles::evidence(std::size_t query, std::size_t key, bool reads_on) const {
  const Word& from = queries_[query];
  if (!from.is_whole || !keys_[key].is_content) {
    return Evidence::kScore;
  }
  if (reads_on && is_one_text_ && from.is_open && query + 1 == queries_.size()) {
    return Evidence::kContinuation;
  }
  const bool came_before =
      is_one_text_ && key > 0 && key < query && keys_[key - 1].text == from.text;
  if (came_before) {
    return from.is_content ? Evidence::kRepetition : Evidence::kScore;
  }
  return from.is_pronoun ? Evidence::kPronoun : Evidence::kScore;
}

InformativeSearch::InformativeSearch(TokenRoles roles, const std::vector<MaskedHeads>& groups,
                                     std::size_t n_queries, std::size_t n_keys, bool of_two_texts) {
  const auto shared = std::make_shared<const TokenRoles>(std::move(roles));
  for (const MaskedHeads& group : groups) {
    const bool reads_on = n_keys > 1 && !group.visibility.visible(0, n_keys - 1);
    groups_.push_back(std::make_unique<InformativeHeads>(group.heads, group.visibility, n_queries,
                                                         n_keys, of_two_texts));
    groups_.back()->judge([shared, reads_on](std::size_t query, std::size_t key) {
      return shared->evidence(query, key, reads_on);
    });
    for (const HeadId head : group.heads) {
      group_of_.emplace(head, groups_.back().get());
    }
  }
}

double InformativeSearch::bytes(const std::vector<HeadId>& heads, std::size_t n_tokens) {
  std::set<std::size_t> of_a_layer;
  for (const HeadId head : heads) {
    of_a_layer.insert(head.head);
  }
  return InformativeHeads::bytes(of_a_layer.size(), n_tokens);
}

bool InformativeSearch::wants(HeadId head) const {
  return group_of_.contains(head);
}

void InformativeSearch::rows(HeadId head, std::size_t first_query, std::size_t first_key,
                             ConstMatrix weights) {
  if (const auto group = group_of_.find(head); group != group_of_.end()) {
    group->second->rows(head, first_query, first_key, weights);
  }
}

InformativeHead InformativeSearch::best() const {
  InformativeHead choice = groups_.front()->best();
  for (const auto& group : groups_) {
    const InformativeHead best = group->best();
    choice = best.is_before(choice) ? best : choice;
  }
  return choice;
}

TurnAttentionSink::TurnAttentionSink(const std::vector<HeadId>& heads, const FoldedText& turns,
                                     float largest_sum)
    : n_tokens_(turns.text.size(), 0),
      means_({heads}, turns.text.size(), largest_sum),
      merged_(means_, turns.numbers, largest_sum) {
  for (const std::size_t number : turns.numbers) {
    ++n_tokens_[number];
  }
}

TurnAttention TurnAttentionSink::take() {
  const MatrixBuffer kept = means_.take_mean(0);
  const ConstMatrix means = kept.view();
  const std::size_t n = n_tokens_.size();
  const double n_tokens = std::reduce(n_tokens_.begin(), n_tokens_.end(), 0.0);
  std::vector<double> sums(n, 0.0);
  for (std::size_t query = 0; query < n; ++query) {
    for (std::size_t key = 0; key < n; ++key) {
      sums[key] +=
          static_cast<double>(n_tokens_[query]) / n_tokens * static_cast<double>(means(query, key));
    }
  }
  TurnAttention shares;
  std::ranges::transform(sums, std::back_inserter(shares.mean),
                         [](double sum) { return static_cast<float>(sum); });
  const auto last = means.row(n - 1);
  shares.from_last.assign(last.begin(), last.end());
  return shares;
}

}  // namespace attnviz
