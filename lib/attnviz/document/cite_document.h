// What is said of the sentences that an answer rests on.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/analysis/why/citation.h"
#include "attnviz/attention/interventions.h"
#include "attnviz/document/run_facts.h"
#include "attnviz/text/sentences.h"
#include "attnviz/text/tokenized_text.h"

namespace attnviz {

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
