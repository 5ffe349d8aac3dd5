#include "attnviz/document/cite_document.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/document/words/number_formats.h"
#include "attnviz/text/unicode_classes.h"

namespace attnviz {

namespace {

std::string in_one_line(std::string_view text) {
  std::string line(text);
  std::ranges::replace(line, '\n', ' ');
  return line;
}

// The first byte of a token that is no white space; its end where there is none.
std::size_t begin_of_word(const TokenizedText& text, const Token& token) {
  std::size_t i = token.begin;
  while (i < token.end) {
    const CodePoint point = decode_utf8(text.source, i);
    if (!point.valid || !is_white_space(point.value)) {
      return i;
    }
    i += point.length;
  }
  return token.end;
}

// The byte of the source that a token counts for: white space for what stands before it.
std::size_t byte_told_by(const TokenizedText& text, const Token& token) {
  const std::size_t begin = begin_of_word(text, token);
  return begin < token.end ? begin : token.begin;
}

// Whether all before a token was put there by the tokenizer.
bool is_first_said(const TokenizedText& text, std::size_t token) {
  return std::all_of(text.tokens.begin(), text.tokens.begin() + static_cast<std::ptrdiff_t>(token),
                     [](const Token& before) { return before.added; });
}

}  // namespace

std::string question_prompt(std::vector<CitedText>& documents, std::string_view question) {
  std::string prompt;
  for (CitedText& document : documents) {
    prompt += document.name + ":\n";
    document.begin = prompt.size();
    prompt += document.text + "\n\n";
  }
  return prompt + fmt::format("Question: {}\nAnswer:", question);
}

void cut_into_sentences(std::vector<CitedText>& documents, const TokenizedText& prompt,
                        std::size_t most_words) {
  std::size_t token = 0;
  for (CitedText& document : documents) {
    document.sentences.clear();
    const std::vector<Sentence> cut = sentences(document.text, most_words);
    TextPlace place(document.text);
    for (std::size_t i = 0; i < cut.size(); ++i) {
      const std::size_t end = i + 1 < cut.size() ? cut[i + 1].begin : document.text.size();
      CitedSentence sentence;
      static_cast<Sentence&>(sentence) = cut[i];
      const auto is_before = [&](std::size_t byte) {
        const Token& next = prompt.tokens[token];
        return next.added || byte_told_by(prompt, next) < document.begin + byte;
      };
      while (token < prompt.size() && is_before(cut[i].begin)) {
        ++token;
      }
      sentence.tokens.first = token;
      // Of a prompt that was cut at its beginning the first sentence may be the rest of one.
      if (token < prompt.size() && is_first_said(prompt, token)) {
        const std::size_t told = byte_told_by(prompt, prompt.tokens[token]);
        sentence.begin =
            std::clamp(told, document.begin + cut[i].begin, document.begin + end) - document.begin;
      }
      place.move_to(sentence.begin);
      sentence.line = place.line();
      sentence.column = place.column();
      while (token < prompt.size() && is_before(end)) {
        ++token;
      }
      sentence.tokens.end = token;
      if (sentence.tokens.first < sentence.tokens.end) {
        document.sentences.push_back(sentence);
      } else if (!document.sentences.empty()) {
        document.sentences.back().end = sentence.end;
      }
    }
  }
}

double CiteDocument::log_probability() const noexcept {
  return std::accumulate(
      tokens.begin(), tokens.end(), 0.0,
      [](double sum, const AnswerToken& token) { return sum + token.log_probability; });
}

bool CiteDocument::matters(std::optional<double> log_probability_change) const noexcept {
  return log_probability_change && *log_probability_change <= -std::log(least_factor);
}

const CitedSentence& CiteDocument::at(const Place& place) const {
  return documents[place.document].sentences[place.sentence];
}

std::string_view CiteDocument::text_at(const Place& place) const {
  const CitedSentence& sentence = at(place);
  return std::string_view(documents[place.document].text)
      .substr(sentence.begin, sentence.end - sentence.begin);
}

std::string CiteDocument::begin_at(const Place& place) const {
  return fmt::format(":{}:{}", at(place).line, at(place).column);
}

std::vector<CiteDocument::Place> CiteDocument::ranked() const {
  std::vector<Place> places;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    for (std::size_t k = 0; k < documents[i].sentences.size(); ++k) {
      places.push_back({i, k});
    }
  }
  std::ranges::stable_sort(places, {}, [this](const Place& place) {
    const std::optional<double>& change = at(place).effect.log_probability_change;
    return std::pair(!change, change.value_or(0.0));
  });
  return places;
}

void add_citation(CiteDocument& document, const Citation& citation) {
  for (std::size_t i = 0; i < document.tokens.size(); ++i) {
    document.tokens[i].log_probability = citation.token_log_probabilities[i];
  }
  std::size_t i = 0;
  for (CitedText& text : document.documents) {
    for (CitedSentence& sentence : text.sentences) {
      sentence.effect = citation.spans[i++];
    }
  }
  document.change_without_all = citation.change_without_all;
}

std::vector<IndexRange> spans_of(const CiteDocument& document) {
  std::vector<IndexRange> spans;
  for (const CitedText& text : document.documents) {
    for (const CitedSentence& sentence : text.sentences) {
      spans.push_back(sentence.tokens);
    }
  }
  return spans;
}

std::string cite_conclusion(const CiteDocument& document) {
  const std::vector<CiteDocument::Place> places = document.ranked();
  const auto n_matter = std::ranges::count_if(places, [&](const CiteDocument::Place& place) {
    return document.matters(document.at(place).effect.log_probability_change);
  });
  const std::string times = fmt::format("{:g} × less probable", document.least_factor);
  if (!document.change_without_all) {
    return fmt::format("What the answer rests on is unknown: no part of any {} can be hidden.",
                       document.piece());
  }
  const double all = *document.change_without_all;
  if (n_matter > 0) {
    const CiteDocument::Place best = places.front();
    return fmt::format(
        "The answer rests most on {}{}, {}: when the answer cannot attend to it, it is {} "
        "probable. "
        "{} of {} {} ({}, or more); when it cannot attend to any of them it is {} probable.",
        document.documents[best.document].name, document.begin_at(best),
        quoted(in_one_line(document.text_at(best))),
        factor_words(*document.at(best).effect.log_probability_change), n_matter,
        counted(places.size(), document.piece()), n_matter == 1 ? "matters" : "matter", times,
        factor_words(all));
  }
  if (document.matters(all)) {
    return fmt::format(
        "No single {} matters: the answer does not become {} when it cannot attend to one of "
        "the {}. When it cannot attend to any of them it is {} probable: it rests on several "
        "together.",
        document.piece(), times, places.size(), factor_words(all));
  }
  return fmt::format(
      "No {} matters: the answer does not become {} when it cannot attend to one of the {}, "
      "and when it cannot attend to any of them it is {} probable.",
      document.piece(), times, places.size(), factor_words(all));
}

}  // namespace attnviz
