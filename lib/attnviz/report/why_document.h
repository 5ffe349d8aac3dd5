// What is said of why a model predicts what it does, and of the sentences that an answer rests on,
// in numbers.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/analysis/why/attribution.h"
#include "attnviz/analysis/why/logit_lens.h"
#include "attnviz/analysis/why/prediction_change.h"
#include "attnviz/attention/interventions.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/core/choices.h"
#include "attnviz/report/heatmap.h"
#include "attnviz/report/run_facts.h"
#include "attnviz/text/tokenized_text.h"
#include "attnviz/text/units.h"

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

// What is said of the sentences that an answer rests on.

struct CitedSentence : Sentence {
  std::size_t line = 1;    // where it begins, from 1 on
  std::size_t column = 1;  // in that line, in characters (code points) from 1 on
  IndexRange tokens;       // of the prompt
  SpanEffect effect;
};

/// A text whose sentences an answer may rest on; sentences are byte ranges of it.
struct CitedText {
  std::string name;
  std::string text;
  std::size_t begin = 0;  // its first byte in the prompt
  std::vector<CitedSentence> sentences = {};
};

/// Puts documents before a question, and says where each of them begins in the prompt:
///
///     NAME:
///     TEXT
///
///     (the other documents)
///
///     Question: QUESTION
///     Answer:
std::string question_prompt(std::vector<CitedText>& documents, std::string_view question);

/// Cuts each text into sentences() and finds their tokens in the tokenized prompt. A token counts
/// for the sentence in which what it says begins, white space for the one before it. A sentence
/// that begins inside of a token belongs to the one before it.
void cut_into_sentences(std::vector<CitedText>& documents, const TokenizedText& prompt,
                        std::size_t most_words);

struct AnswerToken {
  std::string text;
  TokenId id = 0;
  double log_probability = 0.0;  // given the prompt and the answer before it
};

struct CiteDocument {
  ModelFacts model;
  RunFacts run;
  std::vector<std::string> notes;
  std::string question;  // empty: there is none beside the text
  std::size_t n_prompt_tokens = 0;
  std::string answer;
  std::optional<Continuation> continuation;  // how the model wrote the answer; absent: given
  std::vector<AnswerToken> tokens;           // of the answer
  std::vector<CitedText> documents;
  std::size_t span_words = 0;  // longer sentences are cut behind so many words; 0: none
  // Of the answer's ln p, in nats; absent: of no sentence can anything be hidden.
  std::optional<double> change_without_all = {};
  double least_factor = 2.0;  // a sentence matters from this factor on
  std::optional<std::vector<HeadId>> retrieval_heads = {};  // absent: not measured

  /// ln p of the whole answer.
  double log_probability() const noexcept;
  /// Whether the answer is less probable by least_factor, or more, after such a change; not where
  /// there is none.
  bool matters(std::optional<double> log_probability_change) const noexcept;

  /// What the pieces of texts are called: a "sentence", or where longer ones were cut a "span".
  std::string_view piece() const noexcept { return span_words == 0 ? "sentence" : "span"; }

  struct Place {
    std::size_t document = 0;
    std::size_t sentence = 0;
  };
  const CitedSentence& at(const Place& place) const;
  std::string_view text_at(const Place& place) const;
  /// Where it begins: ":12:34", line and column, to stand behind the document's name.
  std::string begin_at(const Place& place) const;
  /// All sentences, first the one that the answer loses most when it is hidden; last those of which
  /// nothing can be hidden.
  std::vector<Place> ranked() const;
};

/// Puts in what was measured of all sentences, in the order of documents.
void add_citation(CiteDocument& document, const Citation& citation);

/// The tokens of all sentences, in the order of documents.
std::vector<IndexRange> spans_of(const CiteDocument& document);

/// Which sentences matter, in words: "The answer rests most on a.md:12:1, …". Precondition: there
/// are sentences.
std::string cite_conclusion(const CiteDocument& document);

}  // namespace attnviz
