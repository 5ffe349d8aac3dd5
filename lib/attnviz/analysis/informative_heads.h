// Which heads are most informative: the head whose queries attend to distant tokens, each to one of
// its own; and the heads that do what heads are known to do, measured on texts where the right key
// of each query is known.
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

/// What makes a head informative, in rising order: its attention over all tokens; the last token of
/// a text that continues from there, attending to a content word; a query whose word occurred
/// before, attending to what followed it there, as induction heads do (Olsson et al. 2022,
/// "In-context Learning and Induction Heads"); a query that is a pronoun, attending to a content
/// word.
enum class Evidence { kScore, kContinuation, kRepetition, kPronoun };

/// One head and the evidence for it.
struct InformativeHead {
  HeadId head;
  double score = 0.0;         // in [0, 1]; defined at InformativeHeads
  double share = 0.0;         // weight that the counted queries put on their tokens, on average
  std::size_t n_counted = 0;  // queries that see at least one key of F(q)
  std::size_t query = 0;      // the counted query with the best evidence, see judge(); its key;
                              // the weight
  std::size_t key = 0;
  float weight = 0.0f;
  double excess = 0.0;  // of that weight above b
  Evidence evidence = Evidence::kScore;

  /// Whether the head stands out: its score is at least 0.1, or the evidence of one query supports
  /// it.
  bool qualifies() const noexcept;
  /// Whether this head is preferred to `other`. Heads of layer 0 come after all others that stand
  /// out: they see embeddings alone, so they treat two words the same way in every sentence. Better
  /// evidence decides next, then the excess of that query or, without one, the larger score; then
  /// the lower layer and the lower head.
  bool is_before(const InformativeHead& other) const noexcept;
};

/// Scores heads from their rows, by how much of their attention depends on what the tokens are:
///
///   score = mean over queries q of max(0, w(q, k) - b(q, k)),  k = argmax over F(q) of w(q, k)
///
///   F(q)     the keys that q sees, without the first token, q itself and its two neighbours
///   b(q, k)  what q would put on k whichever token stood there, the largest of
///            1 / (number of keys that q sees)           a head that spreads its weight evenly
///            the mean of w(p, k) over other p           a column, as of [SEP] or a full stop
///            the mean of w(p, p + k - q) over other p   where |k - q| is 2 or 3: a fixed step
///            (w(q - 1, k) + w(q + 1, k)) / 2            a stretch of a column: all words after a
///                                                       verb look at it; a neighbour whose own
///                                                       largest weight in F is elsewhere counts 0
///
/// where p are the queries with the key in F(p). Queries with an empty F(q) are not counted. In
/// causal texts of three tokens or fewer that is every query, and every score is 0. Heads that rest
/// on the first token, a neighbour, one column or all tokens evenly score about 0; a head that puts
/// all of its weight on tokens that others ignore scores 1. If queries and keys come from two texts
/// or differ in number, queries have no position among the keys: F(q) leaves out the first key
/// alone, and b has no steps and no stretches. For strided masks, b counts the gaps as seen.
///
/// While a head's rows arrive, it takes 8 bytes per query and 8 per key. Computed in double
/// precision; the result does not depend on threads.
class InformativeHeads : public PatternSink {
 public:
  /// `heads` without repeats, at least one; `visibility` says which keys each query sees.
  InformativeHeads(const std::vector<HeadId>& heads, const Visibility& visibility,
                   std::size_t n_queries, std::size_t n_keys, bool of_two_texts = false);
  InformativeHeads(const std::vector<HeadId>& heads, const Visibility& visibility,
                   std::size_t n_tokens)
      : InformativeHeads(heads, visibility, n_tokens, n_tokens) {}

  /// Returns the evidence in a query's attention to a key. It is called where the largest weight in
  /// F(query) is at least 0.5 above b, possibly by several threads. A head reports the query with
  /// the best evidence and, among equals, the largest excess over b. Set it before rows arrive.
  using Judge = std::function<Evidence(std::size_t query, std::size_t key)>;
  void judge(Judge judge);

  /// Roughly the bytes needed when rows of `n_heads` heads arrive at the same time.
  static double bytes(std::size_t n_heads, std::size_t n_tokens) noexcept;

  bool wants(HeadId head) const override { return heads_.contains(head); }
  void rows(HeadId head, std::size_t first_query, std::size_t first_key,
            ConstMatrix weights) override;

  /// The result of a wanted head, once all of its rows have arrived.
  InformativeHead score(HeadId head) const;

  /// The head preferred to all others.
  InformativeHead best() const;

 private:
  static constexpr std::array<std::ptrdiff_t, 4> kSteps = {-3, -2, 2, 3};  // key - query
  using StepSums = std::array<double, kSteps.size()>;

  struct Top {
    float weight = 0.0f;
    std::uint32_t key = 0;
  };
  struct Head {
    std::vector<Top> tops;        // [n_queries]: the largest weight in F(q)
    std::vector<double> columns;  // [n_keys]: the sum over the queries that have the key in F
    StepSums steps{};
    std::size_t n_rows = 0;  // so far; once complete, the above is freed
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
  std::vector<std::size_t> n_row_;     // [n_queries]: keys that each one sees
  std::vector<std::size_t> n_column_;  // [n_keys]: queries that have the key in F
  std::array<std::size_t, kSteps.size()> n_step_{};
  std::map<HeadId, Head> heads_;
  std::array<std::mutex, 64> locks_;
};

// Which head of a model does what heads are known to do, measured on texts where the right key of
// each query is known. Pronouns and content words.

/// A query, the key that a head of some kind attends to from there, and a rival key that it must
/// not confuse with it.
struct ExpectedLook {
  std::size_t query = 0;
  std::size_t key = 0;
  std::optional<std::size_t> rival = {};

  bool operator==(const ExpectedLook&) const = default;
};

/// Every token except the first attends to the token before it.
std::vector<ExpectedLook> previous_looks(std::size_t n_tokens);

/// Every token that occurred before attends to the token that followed its latest occurrence.
///
/// Source  induction heads: Olsson et al. 2022, "In-context learning and induction heads".
std::vector<ExpectedLook> induction_looks(std::span<const TokenId> ids);

/// How one head did on expected looks. Means over the looks, 0 if there are none.
struct LookScore {
  HeadId head;
  double weight = 0.0;  // on the expected keys
  double rival = 0.0;   // on their rivals
  std::size_t n_looks = 0;
  std::size_t n_won = 0;  // looks whose key outweighs its rival or, without one, every other key
};

/// Scores heads on the looks of one or more texts.
class LookScores {
 public:
  /// `heads` without repeats, at least one.
  explicit LookScores(const std::vector<HeadId>& heads);

  /// Adds one text's patterns, of all the heads. Precondition: the looks are in range.
  void add(const PatternStore& patterns, std::span<const ExpectedLook> looks);

  LookScore score(HeadId head) const;

  /// The head with the largest mean weight minus its rivals' mean; of equal ones, the lowest layer,
  /// then the lowest head.
  LookScore best() const;

 private:
  std::vector<LookScore> sums_;
};

/// Returns the third-person pronoun of English that a word or a token is, in lower case: "it" for
/// " It" and "it,", "she" for "She's". Empty for all others ("its").
std::string pronoun_of(std::string_view word);

/// Whether a word or a token is a content word: it has a letter, is not one of the commonest
/// English function words, which include pronouns ("and", "the", "was", "didn't", "she"), and is
/// not the name of a token ("<s>", "[SEP]", "<0x0A>"). Punctuation around it does not count.
bool is_content_word(std::string_view word);

/// Returns a token without its leading spaces, or a tokenizer's marks for them (▁, Ġ). If the token
/// is all spaces, the last one remains.
std::string_view without_spaces_before(std::string_view token);

}  // namespace attnviz
