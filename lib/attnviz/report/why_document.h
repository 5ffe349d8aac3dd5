// The results of `why`, why a model makes a prediction, and of `cite`, the sentences that an answer
// rests on.
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

/// The names of the ablated parts.
inline constexpr std::array kAblatedParts = {Choice{"heads", AblatedPart::kHeads},
                                             Choice{"mlps", AblatedPart::kMlps},
                                             Choice{"layers", AblatedPart::kLayers}};

/// A candidate for the next token.
struct WhyToken {
  TokenId id = 0;
  double log_probability = 0.0;  // nats
};

/// A word, and the effect of hiding it from all later tokens; earlier tokens still see it if the
/// mask lets them.
struct LostWord {
  TokenSpan span;
  std::string text;
  std::optional<double> log_probability_change;  // of the target, nats; absent for the last word
  double attention = 0.0;                        // from the last token, averaged over all heads
};

/// The requested parts of an explanation; the others are absent.
struct WhyDocument {
  ModelFacts model;
  RunFacts run;
  TokenizedText text;                          // up to the token before the prediction
  std::map<TokenId, std::string> token_texts;  // of all ids below; valid UTF-8

  struct Prediction {
    WhyToken target, versus;
    std::size_t n_vocabulary = 0;  // number of candidate tokens
  };
  std::optional<Prediction> prediction;
  std::optional<std::vector<LostWord>> words;
  double sink = 0.0;  // weight of the last token on learned sinks, averaged over all heads
  std::optional<Attribution> attribution;  // of the target's logit and of the other token's
  struct Ablations {
    bool by_mean = false;
    std::vector<AblatedPart> parts;
    std::vector<AblationEffect> effects;  // part by part
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

/// The kind of part that an ablation removes.
AblatedPart part_of(const Ablation& ablation) noexcept;

/// "head 2.1", "MLP 3", "embedding", "output bias 2", "last norm's bias".
std::string part_name(LogitPartKind kind, std::size_t layer, std::size_t head);
/// "head 2.1", "MLP 3", "attention 3".
std::string part_name(const Ablation& ablation);
/// "before 0", "attention 0", "output".
std::string point_name(const LensPoint& point);

/// "demo, "Potter" after "Harry" (7)".
std::string why_title(const WhyDocument& document);

/// Which tokens a word is hidden from: "later tokens cannot attend to it"; adds that earlier ones
/// still can if the mask looks ahead.
std::string hidden_words_note(const WhyDocument& document);
/// Why a word has no measured change.
std::string unhidden_note(const LostWord& word);

/// One sentence on the word with the most attention and the word that matters most, if they differ.
/// Empty if they are the same or unknown.
std::string words_lesson(const WhyDocument& document);

/// A map around zero. For a prediction: the change without each head or, if not measured, the
/// contribution of each head to the logit, by layer and head. For a score: its products, by parts
/// of the query and of the key. Precondition: the document has one of these.
Heatmap why_map(const WhyDocument& document);

// The sentences that an answer rests on.

struct CitedSentence : Sentence {
  std::size_t line = 1;    // where it begins, counted from 1
  std::size_t column = 1;  // in that line, in code points, counted from 1
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

/// Builds a prompt from documents and a question, and stores where each document begins in it:
///
///     NAME:
///     TEXT
///
///     (the other documents)
///
///     Question: QUESTION
///     Answer:
std::string question_prompt(std::vector<CitedText>& documents, std::string_view question);

/// Cuts each text into sentences() and finds their tokens in the tokenized prompt. A token belongs
/// to the sentence in which its first character other than white space lies; a token of white space
/// belongs to the sentence before. A sentence that begins inside a token is merged into the one
/// before it.
void cut_into_sentences(std::vector<CitedText>& documents, const TokenizedText& prompt,
                        std::size_t most_words);

struct AnswerToken {
  std::string text;
  TokenId id = 0;
  double log_probability = 0.0;  // given the prompt and the answer so far
};

struct CiteDocument {
  ModelFacts model;
  RunFacts run;
  std::vector<std::string> notes;
  std::string question;  // empty: no question beside the text
  std::size_t n_prompt_tokens = 0;
  std::string answer;
  std::optional<Continuation> continuation;  // how the model wrote the answer; absent: given
  std::vector<AnswerToken> tokens;           // of the answer
  std::vector<CitedText> documents;
  std::size_t span_words = 0;  // longer sentences are cut after this many words; 0: never
  // The change of the answer's ln p, in nats; absent: no sentence can be hidden.
  std::optional<double> change_without_all = {};
  double least_factor = 2.0;  // a sentence matters from this factor on
  std::optional<std::vector<HeadId>> retrieval_heads = {};  // absent: not measured

  /// ln p of the whole answer.
  double log_probability() const noexcept;
  /// Whether this change makes the answer less probable by least_factor or more; false if absent.
  bool matters(std::optional<double> log_probability_change) const noexcept;

  /// The name of the pieces: "sentence", or "span" if longer sentences were cut.
  std::string_view piece() const noexcept { return span_words == 0 ? "sentence" : "span"; }

  struct Place {
    std::size_t document = 0;
    std::size_t sentence = 0;
  };
  const CitedSentence& at(const Place& place) const;
  std::string_view text_at(const Place& place) const;
  /// The line and column where it begins, ":12:34", to append to the document's name.
  std::string begin_at(const Place& place) const;
  /// All sentences, ordered by how much the answer loses without them, the largest loss first; last
  /// those that cannot be hidden.
  std::vector<Place> ranked() const;
};

/// Stores the measurements of all sentences, in the order of documents.
void add_citation(CiteDocument& document, const Citation& citation);

/// The tokens of all sentences, in the order of documents.
std::vector<IndexRange> spans_of(const CiteDocument& document);

/// A conclusion on which sentences matter: "The answer rests most on a.md:12:1, …". Precondition:
/// at least one sentence.
std::string cite_conclusion(const CiteDocument& document);

}  // namespace attnviz
