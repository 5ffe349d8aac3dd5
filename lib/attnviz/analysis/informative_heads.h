// Which heads say most: the one whose queries look far away, each at a token of its own; and those
// that do what heads are known to do, measured where it is known who should look at whom.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/attention/pattern_sink.h"
#include "attnviz/attention/visibility.h"
#include "attnviz/text/tokenized_text.h"

namespace attnviz {

/// What speaks for a head, in rising order: how it looks at all tokens; the last token of a text
/// that goes on from it, at a content word; one query of a word that came before, at what followed
/// it there, as induction heads do (Olsson et al. 2022, "In-context Learning and Induction Heads");
/// one query that is a pronoun, at a content word.
enum class Evidence { kScore, kContinuation, kRepetition, kPronoun };

/// One head and what speaks for it.
struct InformativeHead {
  HeadId head;
  double score = 0.0;         // in [0, 1]; as InformativeHeads has it
  double share = 0.0;         // what the counted queries put on their tokens, in the mean
  std::size_t n_counted = 0;  // queries that see a token that counts
  std::size_t query = 0;      // the counted one that is named: see judge(); its token; the weight
  std::size_t key = 0;
  float weight = 0.0f;
  double excess = 0.0;  // of that weight over b
  Evidence evidence = Evidence::kScore;

  /// Whether the head stands out: a score of 0.1 or more, or one query speaks for it.
  bool qualifies() const noexcept;
  /// Whether it is to be chosen before `other`. Heads of layer 0 come behind all others that stand
  /// out: they see embeddings alone, so that what they do with two words is the same in every
  /// sentence. Then the better evidence counts, and of one query its excess; then the larger score;
  /// of equal ones the lower layer, then head.
  bool is_before(const InformativeHead& other) const noexcept;
};

/// Scores heads from their rows by how much of it depends on what the tokens are:
///
///   score = mean over queries q of max(0, w(q, k) - b(q, k)),  k = argmax over F(q) of w(q, k)
///
///   F(q)     the keys that q sees, without the first token, q itself and its two neighbours
///   b(q, k)  what q would put on k whatever stands there, the largest of
///            1 / (number of keys that q sees)           a head that looks at all alike
///            the mean of w(p, k) over other p           a column, as of [SEP] or a full stop
///            the mean of w(p, p + k - q) over other p   where |k - q| is 2 or 3: a fixed step
///            (w(q - 1, k) + w(q + 1, k)) / 2            a stretch of a column: all words behind a
///                                                       verb look at it; a neighbour whose own
///                                                       largest weight in F is elsewhere counts 0
///
/// with p the queries that have the key in F(p). Queries with an empty F(q) are not counted: those
/// of causal texts of three tokens or fewer, where every score is 0. Heads that rest on the first
/// token, on a neighbour, on one column or on everything alike have a score of about 0, a head that
/// puts all of its weight on tokens that others do not look at has 1. Where queries and keys are of
/// two texts, or not as many, no query has a place among the keys: F(q) leaves out the first key
/// alone, and there are no steps and no stretches. Of strided masks the gaps count as seen by b.
///
/// Keeps 8 bytes a query and 8 a key of heads some of whose rows have come, but not all. In double
/// precision, and the same whatever threads bring the rows.
class InformativeHeads : public PatternSink {
 public:
  /// `heads` without repeats, at least one; `visibility` says who may see whom.
  InformativeHeads(const std::vector<HeadId>& heads, const Visibility& visibility,
                   std::size_t n_queries, std::size_t n_keys, bool of_two_texts = false);
  InformativeHeads(const std::vector<HeadId>& heads, const Visibility& visibility,
                   std::size_t n_tokens)
      : InformativeHeads(heads, visibility, n_tokens, n_tokens) {}

  /// Tells what it is evidence of that a query looks at a key, of all in F(query), with a weight
  /// that is 0.5 or more above b; may be called by several threads. The query with the best
  /// evidence is named, of equal ones that which is most above b. To be set before rows come.
  using Judge = std::function<Evidence(std::size_t query, std::size_t key)>;
  void judge(Judge judge);

  /// What they take, about, when rows of `n_heads` heads come at the same time.
  static double bytes(std::size_t n_heads, std::size_t n_tokens) noexcept;

  bool wants(HeadId head) const override { return heads_.contains(head); }
  void rows(HeadId head, std::size_t first_query, std::size_t first_key,
            ConstMatrix weights) override;

  /// Of a wanted head, once all of its rows have come.
  InformativeHead score(HeadId head) const;

  /// The head that is before all others.
  InformativeHead best() const;

 private:
  static constexpr std::array<std::ptrdiff_t, 4> kSteps = {-3, -2, 2, 3};  // key - query
  using StepSums = std::array<double, kSteps.size()>;

  struct Top {
    float weight = 0.0f;
    std::uint32_t key = 0;
  };
  struct Head {
    std::vector<Top> tops;        // [n_queries]: the largest weight of F(q)
    std::vector<double> columns;  // [n_keys]: the sum over the queries that have the key in F
    StepSums steps{};
    std::size_t n_rows = 0;  // that have come; with the last one all of the above is let go
    InformativeHead result;
  };

  bool near(std::size_t query, std::size_t key) const noexcept;
  Top top_of(std::size_t query, std::size_t first_key, ConstMatrix row) const;
  std::mutex& lock_of(HeadId head) noexcept;
  InformativeHead scored(HeadId id, const Head& head) const;
  double baseline(const Head& head, std::size_t query) const;

  Visibility visibility_;
  std::size_t n_queries_;
  std::size_t n_keys_;
  bool same_tokens_;
  Judge judge_;
  std::vector<std::size_t> n_row_;     // [n_queries]: keys that it sees
  std::vector<std::size_t> n_column_;  // [n_keys]: queries that have the key in F
  std::array<std::size_t, kSteps.size()> n_step_{};
  std::map<HeadId, Head> heads_;
  std::array<std::mutex, 64> locks_;
};

// Which head of a model does what heads are known to do: measured where it is known who should look
// at whom. Words that stand for others.

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
