// The names that a model's heads get from their scores. The names that papers give to heads they
// analysed. The heads that find a needle in a text and copy it. Expectations about heads, for tests
// of trained models.
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

/// Whether these texts can give a head this name: probes of at least kShortestNamedProbe tokens, on
/// which a head with uniform attention scores below the largest score of random heads. (With a
/// narrow window, it reaches that bound.) `uniform`: the scores of this uniform head.
bool is_judged(const HeadName& name, std::span<const TokenizedText> probes,
               const ScoreValues& uniform);

/// The names that a head with these scores gets on these probes, in the order of kHeadNames.
std::vector<std::string_view> earned_names(const ScoreValues& scores,
                                           std::span<const TokenizedText> probes,
                                           const ScoreValues& uniform);

/// The names of all heads on the usual probes, by layer, head and kHeadNames. `tokenizer` may be
/// null. Throws what make_probes() and run() throw.
std::vector<NamedHead> measured_names(const Model& model, const ModelTokenizer* tokenizer,
                                      const AttentionRequest& request);

/// A model whose heads are named in papers.
enum class KnownModel { kGpt2 };

inline constexpr std::array kKnownModels = {Choice{"gpt2", KnownModel::kGpt2}};

/// Throws Error{kUsage} that describes the expected model if `model` differs from it in family or
/// shape.
void require_known(const Model& model, KnownModel known);

/// "induction", "name mover", …
///
/// Source  gpt2: Wang et al. 2022, "Interpretability in the Wild", figure 2.
std::optional<std::string_view> known_name(KnownModel known, HeadId head) noexcept;

/// The source of the names, for readers.
std::string_view known_source(KnownModel known) noexcept;

/// Heads with at least this Score::kRetrieval are retrieval heads.
inline constexpr double kLeastRetrieval = 0.1;

/// Returns the heads that, when random tokens are repeated, attend most to the token that comes
/// next: Score::kRetrieval, averaged over probes of two copies, is at least kLeastRetrieval. By
/// layer, then head.
///
/// Source  the score and its threshold: Wu et al. 2024, "Retrieval Head Mechanistically Explains
///         Long-Context Factuality"; with a given answer instead of a generated one.
///
/// `tokenizer` may be null. request.report gets the share of finished probes. Throws what
/// make_probes() and run() throw.
std::vector<HeadId> retrieval_heads(const Model& model, const ModelTokenizer* tokenizer,
                                    const AttentionRequest& request);

/// "5.5 induction>0.8": one head's score compared with a number by > >= < or <=. "5.5 induction": a
/// name that the head should have. Instead of the head, "any" means at least one head, and "count
/// N" exactly N heads.
class Expectation {
 public:
  /// Throws Error{kUsage} that shows valid forms, with a suggestion.
  explicit Expectation(std::string_view text);

  /// The expected name; null if a score is expected.
  const HeadName* name() const noexcept { return name_; }

  /// Describes what was found instead, given the scores of `heads`; empty if the expectation holds.
  /// Names depend on the scores alone here, on any texts. Throws Error{kUsage} if the head is not
  /// one of `heads`.
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
