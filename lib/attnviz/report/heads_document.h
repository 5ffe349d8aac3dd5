// The scores of a model's heads, for reports.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "attnviz/analysis/heads/head_names.h"
#include "attnviz/analysis/heads/head_scores.h"
#include "attnviz/analysis/heads/probe.h"
#include "attnviz/analysis/heads/score_run.h"
#include "attnviz/report/heatmap.h"
#include "attnviz/report/report_requests.h"
#include "attnviz/report/run_facts.h"
#include "attnviz/text/tokenized_text.h"

namespace attnviz {

/// The probes, texts or file that the heads were scored on.
struct ProbeSource {
  ProbeShape shape;
  bool is_given = false;  // as token ids; `shape` is then unused
  std::vector<TokenizedText> texts;
};
struct ScoredText {
  TokenizedText text;
};
struct CorpusSource {
  std::size_t n_texts = 0;
  std::optional<std::size_t> interrupted_after = {};  // after this line of the input
};
struct FileSource {
  std::string name;
  std::size_t n_tokens = 0;
};
using ScoreSource = std::variant<ProbeSource, ScoredText, CorpusSource, FileSource>;

struct HeadsDocument {
  std::optional<ModelFacts> model;
  RunFacts run;
  ScoreSource source;
  std::vector<HeadId> heads;             // by layer, then head
  ScoreMeans raw{0};                     // of `heads`
  ScoreMeans weighted{0};                // by transformed values; without texts if not measured
  ScoreValues uniform;                   // of a head with uniform attention, on the same source
  std::vector<DetectedScores> detected;  // TransformerLens' scores of `heads`; may be empty
  struct Copying {
    std::vector<std::optional<double>> scores;  // of `heads`, from copying_scores()
    std::optional<double> random_sd;  // of random heads as narrow as the narrowest of these
  };
  std::optional<Copying> copying;   // if requested
  std::optional<KnownModel> known;  // the model, if requested
  std::vector<std::string> notes;

  bool is_probe() const noexcept { return std::holds_alternative<ProbeSource>(source); }
  /// The last line that was read of an interrupted corpus; absent for any other source.
  std::optional<std::size_t> interrupted_after() const noexcept;
  /// Whether heads can be identified by this name here, see is_judged(): only on probes.
  bool judges(const HeadName& name) const;
  /// The names of the head at `index`, among those that are judged here.
  std::vector<std::string_view> names(std::size_t index) const;
  /// Whether `largest_random` was measured on probes like these.
  bool is_like_random() const;
  /// The share of heads with an α_0 above kSinkEpsilon.
  double sink_rate() const;
};

/// The judged name whose score is the largest share of its threshold, above or below it; null if no
/// name is judged.
const HeadName* nearest_name(const HeadsDocument& document, const ScoreValues& scores);

/// Why heads cannot get all names here: on texts they get none, on probes none that is not judged
/// or that looks for tokens outside the mask. Empty if all names are possible.
std::string random_baseline_note(const HeadsDocument& document);

/// Warns that `uniform`, computed for the first head's layer, differs in layers that see fewer or
/// more tokens of a text of `n_tokens` tokens; empty if all see the same number. Precondition: at
/// least one head.
std::string visibility_note(const RunFacts& run, std::span<const HeadId> heads,
                            std::size_t n_tokens);

/// The largest value of a score, its value for uniform attention, and the threshold of the name
/// that it decides: "the largest: head 2.1 with 0.95; …".
std::string largest_words(const HeadsDocument& document, Score score);

/// "demo, 16 heads on 4 probes of 25 random tokens, each 4 times (seed 42)".
std::string heads_title(const HeadsDocument& document);

/// Indices of heads, ranked. Heads without a score come last.
std::vector<std::size_t> ranked_heads(const HeadsDocument& document, const HeadRanking& ranking);

/// A map of one score over the requested layers and heads and those between them, named in words
/// ("entropy (bits)"); a head without a score has no cell. Throws Error{kUsage} if no head has it.
Heatmap heads_map(const HeadsDocument& document, Score score);

}  // namespace attnviz
