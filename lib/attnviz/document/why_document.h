// What is said of why a model predicts what it does: tokens, heads and layers, in numbers.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "attnviz/analysis/why/attribution.h"
#include "attnviz/analysis/why/logit_lens.h"
#include "attnviz/analysis/why/prediction_change.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/core/choices.h"
#include "attnviz/document/heatmap.h"
#include "attnviz/document/run_facts.h"
#include "attnviz/text/tokenized_text.h"

namespace attnviz {

/// The words for what is taken out.
inline constexpr std::array kAblatedParts = {Choice{"heads", AblatedPart::kHeads},
                                             Choice{"mlps", AblatedPart::kMlps},
                                             Choice{"layers", AblatedPart::kLayers}};

/// A token that may come behind the text.
struct WhyToken {
  TokenId id = 0;
  double log_probability = 0.0;  // nats
};

/// A word, and what is lost when nothing behind it may look at it; what stands before it still may,
/// where the mask lets it.
struct LostWord {
  TokenSpan span;
  std::string text;
  std::optional<double> log_probability_change;  // of the target, nats; none of the last word
  double attention = 0.0;  // that it gets from the last token, the mean over all heads
};

/// Each part was asked for, or is not there.
struct WhyDocument {
  ModelFacts model;
  RunFacts run;
  TokenizedText text;                          // up to the token behind which is asked
  std::map<TokenId, std::string> token_texts;  // of all ids below; valid UTF-8

  struct Prediction {
    WhyToken target, versus;
    std::size_t n_vocabulary = 0;  // tokens that either was chosen from
  };
  std::optional<Prediction> prediction;
  std::optional<std::vector<LostWord>> words;
  double sink = 0.0;  // what the last token gives to learned sinks, the mean over all heads
  std::optional<Attribution> attribution;  // of the target's logit, and of the other one's
  struct Ablations {
    bool by_mean = false;
    std::vector<AblatedPart> parts;
    std::vector<AblationEffect> effects;  // of one part after the other
  };
  std::optional<Ablations> ablation;
  std::optional<std::vector<LensPoint>> lens;
  struct Split {
    HeadId head;
    std::size_t query = 0;
    std::size_t key = 0;
    ScoreSplit score;
  };
  std::optional<Split> split;
  std::vector<std::string> notes;
};

/// What of an ablation was taken out.
AblatedPart part_of(const Ablation& ablation) noexcept;

/// "head 2.1", "MLP 3", "embedding", "output bias 2", "last norm's bias".
std::string part_name(LogitPartKind kind, std::size_t layer, std::size_t head);
/// "head 2.1", "MLP 3", "attention 3".
std::string part_name(const Ablation& ablation);
/// "before 0", "attention 0", "output".
std::string point_name(const LensPoint& point);

/// "demo, "Potter" after "Harry" (7)".
std::string why_title(const WhyDocument& document);

/// From which tokens a word is hidden: "later tokens cannot attend to it", and for masks that let
/// tokens look ahead that earlier ones still can.
std::string hidden_words_note(const WhyDocument& document);
/// Why nothing is known of a word without a change.
std::string unhidden_note(const LostWord& word);

/// In a sentence: which word is looked at most, and which one matters most, where these are two.
/// Empty where they are one, or nothing is known.
std::string words_lesson(const WhyDocument& document);

/// Of a prediction what is lost without each head, or where that is not there what each head
/// wrote, as a picture of layers and heads; of a score its products, by the query's parts and the
/// key's. Around zero. Precondition: the document has one of them.
Heatmap why_map(const WhyDocument& document);

}  // namespace attnviz
