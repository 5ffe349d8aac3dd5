#include "attnviz/report/why_document.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <numeric>
#include <utility>

#include "attnviz/attention/interventions.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/report/figures.h"
#include "attnviz/report/words/number_formats.h"
#include "attnviz/report/words/words.h"
#include "attnviz/text/unicode_classes.h"

namespace attnviz {

AblatedPart part_of(const Ablation& ablation) noexcept {
  return ablation.mlp    ? AblatedPart::kMlps
         : ablation.head ? AblatedPart::kHeads
                         : AblatedPart::kLayers;
}

std::string part_name(LogitPartKind kind, std::size_t layer, std::size_t head) {
  switch (kind) {
    case LogitPartKind::kEmbedding:
      return "embedding";
    case LogitPartKind::kPosition:
      return "position";
    case LogitPartKind::kHead:
      return "head " + head_name({layer, head});
    case LogitPartKind::kOutputBias:
      return fmt::format("output bias {}", layer);
    case LogitPartKind::kMlp:
      return fmt::format("MLP {}", layer);
    case LogitPartKind::kConvolution:
      return fmt::format("convolution {}", layer);
    case LogitPartKind::kGatedDelta:
      return fmt::format("gated delta net {}", layer);
    case LogitPartKind::kMamba2:
      return fmt::format("Mamba-2 {}", layer);
    case LogitPartKind::kLayerInput:
      return fmt::format("layer input {}", layer);
    case LogitPartKind::kNormBias:
      return "last norm's bias";
    case LogitPartKind::kLogitBias:
      return "logit's bias";
    case LogitPartKind::kBias:
      return "biases";
  }
  return {};
}

std::string part_name(const Ablation& ablation) {
  return ablation.mlp    ? fmt::format("MLP {}", ablation.layer)
         : ablation.head ? "head " + head_name({ablation.layer, *ablation.head})
                         : fmt::format("attention {}", ablation.layer);
}

std::string point_name(const LensPoint& point) {
  return point.step == LayerStep::kBefore   ? fmt::format("before {}", point.layer)
         : point.step == LayerStep::kMiddle ? fmt::format("attention {}", point.layer)
                                            : "output";
}

std::string why_title(const WhyDocument& document) {
  const std::string model = model_title(document.model);
  const auto token = [&document](std::size_t index) {
    return named_token(document.text.tokens[index].text, index);
  };
  if (document.split) {
    const WhyDocument::Split& split = *document.split;
    return fmt::format("{}, head {}: {} attends to {}", model, head_name(split.head),
                       token(split.query), token(split.key));
  }
  return fmt::format("{}, {} after {}", model,
                     quoted_token(document.token_texts.at(document.prediction->target.id)),
                     token(document.text.size() - 1));
}

std::string hidden_words_note(const WhyDocument& document) {
  const bool looks_ahead = document.run.mask && document.run.mask->looks_ahead();
  return fmt::format("later tokens cannot attend to the word{}",
                     looks_ahead ? "; earlier ones still can" : "");
}

std::string unhidden_note(const LostWord& word) {
  const std::size_t n_tokens = word.span.end - word.span.begin;
  return fmt::format(
      "the word ends at the last token, so it cannot be hidden from any later one{}",
      n_tokens > 1 ? fmt::format(", and its own {} tokens always see each other", n_tokens) : "");
}

std::string words_lesson(const WhyDocument& document) {
  if (!document.words) {
    return {};
  }
  const LostWord* seen = nullptr;
  const LostWord* needed = nullptr;
  for (const LostWord& word : *document.words) {
    if (!word.log_probability_change) {
      continue;
    }
    if (seen == nullptr || word.attention > seen->attention) {
      seen = &word;
    }
    if (needed == nullptr || *word.log_probability_change < *needed->log_probability_change) {
      needed = &word;
    }
  }
  if (seen == needed || *needed->log_probability_change >= 0.0) {
    return {};
  }
  return fmt::format(
      "Among the words that can be hidden, {} gets the most attention ({}), but hiding it changes "
      "ln p by {}. The prediction depends most on the word {}: hiding it changes ln p by {}. It "
      "gets {} of the attention.",
      quoted_token(seen->text), percentage(static_cast<float>(seen->attention)),
      signed_number(*seen->log_probability_change), quoted_token(needed->text),
      signed_number(*needed->log_probability_change),
      percentage(static_cast<float>(needed->attention)));
}

namespace {

// A map of the products that each pair of parts adds to a score.
Heatmap products_map(const ScoreSplit& score) {
  const std::size_t n_rows = score.query_parts.size();
  const std::size_t n_columns = score.key_parts.size();
  const auto values = std::make_shared<MatrixBuffer>(n_rows, n_columns);
  std::ranges::transform(score.products, values->view().row_data(0),
                         [](double product) { return static_cast<float>(product); });
  Heatmap map;
  map.storage = values;
  map.panels.push_back({.title = "score", .values = std::as_const(*values).view()});
  // Labels are drawn like pieces of text, with visible spaces.
  const auto name = [](const StreamPart& part) {
    if (part.kind == LogitPartKind::kHead) {
      return head_title({part.layer, part.head});
    }
    std::string label = part_name(part.kind, part.layer, part.head);
    std::ranges::replace(label, ' ', '-');
    return label;
  };
  std::ranges::transform(score.query_parts, std::back_inserter(map.query_labels), name);
  std::ranges::transform(score.key_parts, std::back_inserter(map.key_labels), name);
  map.query_axis = "part of the query";
  map.key_axis = "part of the key";
  map.value_name = "added to the score";
  const auto largest = std::ranges::max(score.products, {}, [](double x) { return std::abs(x); });
  set_scale_around_zero(map, std::abs(largest));
  map.notes.push_back(fmt::format("they add up to the score, {:.2f}", score.score));
  return map;
}

// A map of one number per head: its effect on the prediction, or its part of the logit.
Heatmap prediction_map(const WhyDocument& document) {
  const std::string target = quoted_token(document.token_texts.at(document.prediction->target.id));
  std::vector<HeadId> heads;
  std::vector<std::optional<double>> values;
  const auto add = [&](HeadId head, double value) {
    heads.push_back(head);
    values.emplace_back(value);
  };
  for (const AblationEffect& effect :
       document.ablation ? document.ablation->effects : std::vector<AblationEffect>()) {
    if (effect.what.head) {
      add({effect.what.layer, *effect.what.head}, effect.change.log_probability);
    }
  }
  if (!heads.empty()) {
    Heatmap map = head_map(heads, values, "change of ln p without the head");
    map.notes.push_back(fmt::format("how ln p of {} changes when a head outputs {}", target,
                                    document.ablation->by_mean ? "its mean" : "0"));
    return map;
  }
  for (const LogitPart& part : document.attribution->parts) {
    if (part.kind == LogitPartKind::kHead) {
      add({part.layer, part.head}, part.shares.front());
    }
  }
  Heatmap map = head_map(heads, values, "added to the logit");
  map.notes.push_back(fmt::format("what each head adds to the logit of {}, {:.2f} in total", target,
                                  document.attribution->logits.front()));
  return map;
}

}  // namespace

Heatmap why_map(const WhyDocument& document) {
  Heatmap map = document.split ? products_map(document.split->score) : prediction_map(document);
  map.title = "why: " + why_title(document);
  map.notes.insert(map.notes.begin(), document.notes.begin(), document.notes.end());
  return map;
}

namespace {

std::string in_one_line(std::string_view text) {
  std::string line(text);
  std::ranges::replace(line, '\n', ' ');
  return line;
}

// The first byte of a token that is not white space; its end if all are.
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

// The byte that decides which sentence a token belongs to. White space counts from its first byte
// and so belongs to the text before it.
std::size_t deciding_byte(const TokenizedText& text, const Token& token) {
  const std::size_t begin = begin_of_word(text, token);
  return begin < token.end ? begin : token.begin;
}

// Whether the tokenizer added all tokens before this one.
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
        return next.added || deciding_byte(prompt, next) < document.begin + byte;
      };
      while (token < prompt.size() && is_before(cut[i].begin)) {
        ++token;
      }
      sentence.tokens.first = token;
      // A prompt cut at its beginning may start in the middle of a sentence.
      if (token < prompt.size() && is_first_said(prompt, token)) {
        const std::size_t first_byte = deciding_byte(prompt, prompt.tokens[token]);
        sentence.begin =
            std::clamp(first_byte, document.begin + cut[i].begin, document.begin + end) -
            document.begin;
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
  const std::string times = fmt::format("{:g} times less probable", document.least_factor);
  if (!document.change_without_all) {
    return fmt::format("What the answer rests on is unknown: no part of any {} can be hidden.",
                       document.piece());
  }
  const double all = *document.change_without_all;
  if (n_matter > 0) {
    const CiteDocument::Place best = places.front();
    return fmt::format(
        "The answer rests most on {}{}, {}: hiding it makes the answer {}. {} of {} {} (a {} "
        "matters if hiding it makes the answer at least {}){}.",
        document.documents[best.document].name, document.begin_at(best),
        in_quotes(in_one_line(document.text_at(best))),
        probability_words(*document.at(best).effect.log_probability_change), n_matter,
        counted(places.size(), document.piece()), n_matter == 1 ? "matters" : "matter",
        document.piece(), times,
        places.size() == 1
            ? std::string()
            : fmt::format("; hiding all {} makes it {}", places.size(), probability_words(all)));
  }
  if (document.matters(all)) {
    return fmt::format(
        "No single {} matters: hiding one never makes the answer as much as {}. Hiding all of them "
        "makes it {}: it rests on several together.",
        document.piece(), times, probability_words(all));
  }
  return fmt::format(
      "No {} matters: hiding one never makes the answer as much as {}, and hiding all of them "
      "makes it {}.",
      document.piece(), times, probability_words(all));
}

}  // namespace attnviz
