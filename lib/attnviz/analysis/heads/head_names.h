// What the heads of a model are called. What papers call the heads of a model that they took apart.
// The heads that find a needle in a text and copy it. What somebody expects of heads, for tests of
// trained models.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "attnviz/analysis/heads/head_scores.h"
#include "attnviz/attention/engine.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/core/choices.h"
#include "attnviz/model/model.h"
#include "attnviz/text/tokenized_text.h"
#include "attnviz/text/tokenizers/model_tokenizer.h"

namespace attnviz {

/// Whether heads can earn a name on these texts: on probes of kShortestNamedProbe tokens or more,
/// on which a head that looks at all it sees alike stays below what random heads have. A narrow
/// window brings it to the bound. `uniform`: the scores of such a head.
bool is_judged(const HeadName& name, std::span<const TokenizedText> probes,
               const ScoreValues& uniform);

/// The names that a head with these scores earns there, in the order of kHeadNames.
std::vector<std::string_view> earned_names(const ScoreValues& scores,
                                           std::span<const TokenizedText> probes,
                                           const ScoreValues& uniform);

/// The names that all heads earn on the usual probes, by layer, head and kHeadNames. `tokenizer`
/// may be null. Throws what make_probes() and run() throw.
std::vector<NamedHead> measured_names(const Model& model, const ModelTokenizer* tokenizer,
                                      const AttentionRequest& request);

/// A model whose heads papers name.
enum class KnownModel { kGpt2 };

inline constexpr std::array kKnownModels = {Choice{"gpt2", KnownModel::kGpt2}};

/// Throws Error{kUsage} that says what it would have to be when `model` is another one, by its
/// family and shape.
void require_known(const Model& model, KnownModel known);

/// "induction", "name mover", …
///
/// Source  gpt2: Wang et al. 2022, "Interpretability in the Wild", figure 2.
std::optional<std::string_view> known_name(KnownModel known, HeadId head) noexcept;

/// Where the names are from, for people.
std::string_view known_source(KnownModel known) noexcept;

/// From this Score::kRetrieval on, a head is one.
inline constexpr double kLeastRetrieval = 0.1;

/// Those that, when random tokens are said again, look most at the place of the token that is to
/// come: Score::kRetrieval, the mean over probes of two copies, of kLeastRetrieval or more. By
/// layer, then head.
///
/// Source  the score and its threshold: Wu et al. 2024, "Retrieval Head Mechanistically Explains
///         Long-Context Factuality"; with a given answer in place of a generated one.
///
/// `tokenizer` may be null. request.report is told the share of the probes. Throws what
/// make_probes() and run() throw.
std::vector<HeadId> retrieval_heads(const Model& model, const ModelTokenizer* tokenizer,
                                    const AttentionRequest& request);

/// "5.5 induction>0.8": a score of one head against a number, with > >= < or <=; or a name that it
/// is to earn, "5.5 induction". "any" in place of the head: of one at least; "count N": of exactly
/// so many.
class Expectation {
 public:
  /// Throws Error{kUsage} saying what it may look like, with did-you-mean.
  explicit Expectation(std::string_view text);

  /// The name that is to be earned; null of a score.
  const HeadName* name() const noexcept { return name_; }

  /// What was found instead, by the scores of `heads`; empty when it holds. Names are earned by
  /// scores here, whatever they are of. Throws Error{kUsage} when the head is none of them.
  std::string failure(const std::vector<HeadId>& heads,
                      const std::vector<ScoreValues>& scores) const;

 private:
  struct Any {};
  struct Count {
    std::size_t n = 0;
  };

  bool holds(const ScoreValues& scores) const;

  std::string text_;
  std::variant<HeadId, Any, Count> who_;
  const HeadName* name_ = nullptr;
  Score score_ = Score::kPrevious;
  std::string comparison_;
  double bound_ = 0.0;
};

}  // namespace attnviz
