// Which head of a model does what heads are known to do: measured where it is known who should look
// at whom. Words that stand for others.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/attention/pattern_sink.h"
#include "attnviz/text/tokenized_text.h"

namespace attnviz {

/// A query, the key that a head of some kind looks at from there, and one that it must not take for
/// it.
struct ExpectedLook {
  std::size_t query = 0;
  std::size_t key = 0;
  std::optional<std::size_t> rival = {};

  bool operator==(const ExpectedLook&) const = default;
};

/// Every token but the first at the token before it.
std::vector<ExpectedLook> previous_looks(std::size_t n_tokens);

/// Every token that stood in the text before at the token that followed it there, the last time.
///
/// Source  induction heads: Olsson et al. 2022, "In-context learning and induction heads".
std::vector<ExpectedLook> induction_looks(std::span<const TokenId> ids);

/// What one head did where something was expected. Means over the looks, 0 where there are none.
struct LookScore {
  HeadId head;
  double weight = 0.0;  // on the expected keys
  double rival = 0.0;   // on their rivals
  std::size_t n_looks = 0;
  std::size_t n_won = 0;  // looks whose key has more weight than its rival, or than every other
};

/// Scores heads over the looks of one text or several.
class LookScores {
 public:
  /// `heads` without repeats, at least one.
  explicit LookScores(const std::vector<HeadId>& heads);

  /// One text's patterns, of all the heads. Precondition: the looks are in range.
  void add(const PatternStore& patterns, std::span<const ExpectedLook> looks);

  LookScore score(HeadId head) const;

  /// The head with the largest mean weight less the rivals' mean; of equal ones that of the lowest
  /// layer, then head.
  LookScore best() const;

 private:
  std::vector<LookScore> sums_;
};

/// The personal pronoun of English of the third person that a word or a token is, in lower case:
/// "it" for " It" and "it,", "she" for "She's". Empty for all others ("its").
std::string pronoun_of(std::string_view word);

/// Whether a word or a token says something of its own: it has a letter, is none of a list of the
/// commonest function words of English, pronouns among them ("and", "the", "was", "didn't", "she"),
/// and no name of a token ("<s>", "[SEP]", "<0x0A>"). Punctuation around it does not count.
bool is_content_word(std::string_view word);

/// A token without the spaces that it begins with, or a tokenizer's signs for them (▁, Ġ). Of
/// spaces alone the last stays.
std::string_view without_spaces_before(std::string_view token);

}  // namespace attnviz
