// What is said of the scores of a model's heads.
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

/// What the heads were scored on.
struct ProbeSource {
  ProbeShape shape;
  bool is_given = false;  // by ids, not by this shape
  std::vector<TokenizedText> texts;
};
struct ScoredText {
  TokenizedText text;
};
struct CorpusSource {
  std::size_t n_texts = 0;
  std::optional<std::size_t> interrupted_after = {};  // this line of the input
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
  std::vector<HeadId> heads;  // by layer, then head
  ScoreMeans raw{0};          // of these heads
  ScoreMeans weighted{0};     // by transformed values; of no text where there are none
  ScoreValues uniform;        // of a head that looks at all it sees alike, on the same source
  std::vector<DetectedScores> detected;  // TransformerLens' numbers of these heads; may be empty
  struct Copying {
    std::vector<std::optional<double>> scores;  // of these heads, as copying_scores() has them
    std::optional<double> random_sd;  // of random heads, as narrow as the narrowest of these
  };
  std::optional<Copying> copying;   // where it was asked for
  std::optional<KnownModel> known;  // the model, where it was asked for
  std::vector<std::string> notes;

  bool is_probe() const noexcept { return std::holds_alternative<ProbeSource>(source); }
  /// The last line of a corpus whose other lines were not read any more; nothing of all else.
  std::optional<std::size_t> interrupted_after() const noexcept;
  /// Whether heads can earn it here, as is_judged() has it: on probes only.
  bool judges(const HeadName& name) const;
  /// What the head at `index` earns of the names that are judged here.
  std::vector<std::string_view> names(std::size_t index) const;
  /// Whether `largest_random` was measured on probes like these.
  bool is_like_random() const;
  /// The share of heads with an α_0 above kSinkEpsilon.
  double sink_rate() const;
};

/// The judged name whose score is the largest share of what it asks for, earned or not; null where
/// none is judged.
const HeadName* nearest_name(const HeadsDocument& document, const ScoreValues& scores);

/// Why heads cannot earn all names here: on texts none, on probes those that are not judged and
/// those that look for what no token sees. Empty where they can.
std::string random_baseline_note(const HeadsDocument& document);

/// That `uniform`, which is of the first head's layer, is another in layers that see fewer or more
/// tokens of a text of so many; empty where all see as many. Precondition: there are heads.
std::string visibility_note(const RunFacts& run, std::span<const HeadId> heads,
                            std::size_t n_tokens);

/// Of one score: "the largest: head 2.1 with 0.95; a head that looks at all it sees alike has
/// 0.031; the name induction asks for 0.3".
std::string largest_words(const HeadsDocument& document, Score score);

/// "demo, 16 heads on 4 probes of 25 random tokens, each 4 times (seed 42)".
std::string heads_title(const HeadsDocument& document);

/// Indices of heads. Heads without a score stand behind all others.
std::vector<std::size_t> ranked_heads(const HeadsDocument& document, const HeadRanking& ranking);

/// One score of all heads as a picture of the layers and heads that were asked for and those
/// between them, named in words ("entropy (bits)"); where there is no score is no cell. Throws
/// Error{kUsage} when no head has it.
Heatmap heads_map(const HeadsDocument& document, Score score);

}  // namespace attnviz
