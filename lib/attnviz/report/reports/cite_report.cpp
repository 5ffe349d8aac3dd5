#include "attnviz/report/reports/reports.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/attention/interventions.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/report/json/document_json.h"
#include "attnviz/report/why_document.h"
#include "attnviz/report/words/number_formats.h"

namespace attnviz {

namespace {

using Place = CiteDocument::Place;

// "a.md:12:34": a long name is cut, so that the position remains.
std::string where(const CiteDocument& document, const Place& place) {
  constexpr std::size_t kMostName = 20;
  constexpr std::size_t kLeastName = 6;
  const std::string begin = document.begin_at(place);
  const std::size_t rest = std::max(kLeastName, kMostName - std::min(kMostName, begin.size()));
  return fit_width(printable(document.documents[place.document].name), rest, "…") + begin;
}

// One row per sentence, in the order of `places`: the most needed one first.
Table sentence_table(const CiteDocument& document, const std::vector<Place>& places,
                     std::size_t top) {
  std::size_t rank = 0;
  const auto effect = [&](const Place& place) -> const SpanEffect& {
    return document.at(place).effect;
  };
  const auto change = [&](const Place& place) { return effect(place).log_probability_change; };
  TableOf<Place> table(places);
  table.column({.key = "rank"}, [&](const Place&) { return ++rank; });
  table.data("document", [&](const Place& p) { return document.documents[p.document].name; });
  const auto number = [&](const char* key, const auto& of) {
    table.data(key, [&](const Place& place) { return of(document.at(place)); });
  };
  number("line", [](const CitedSentence& one) { return one.line; });
  number("column", [](const CitedSentence& one) { return one.column; });
  number("begin", [](const CitedSentence& one) { return one.begin; });
  number("end", [](const CitedSentence& one) { return one.end; });
  number("n_tokens", [](const CitedSentence& one) { return one.tokens.end - one.tokens.first; });
  table.column({.key = "logprob_change", .heading = "change", .format = signed_number}, change);
  table.column({.heading = "if hidden", .format = factor_words}, change);
  table.column({.key = "attention", .heading = "attention", .format = percent_number},
               [&](const Place& place) { return effect(place).attention; });
  if (document.retrieval_heads) {
    table.column({.key = "retrieval_attention", .heading = "retrieval", .format = percent_number},
                 [&](const Place& place) { return effect(place).chosen_attention; });
  }
  table.column({.heading = "where"}, [&](const Place& place) { return where(document, place); });
  table.column({.key = "text", .heading = std::string(document.piece()), .fits_line = true},
               [&](const Place& place) { return document.text_at(place); });
  number("first_token", [](const CitedSentence& one) { return one.tokens.first; });
  table.data("matters", [&](const Place& place) { return document.matters(change(place)); });
  Table out = table.take();
  for (const Place& place : places) {
    out.emphasis.push_back(document.matters(change(place)) ? Emphasis::kPlain : Emphasis::kQuiet);
  }
  show_first(out, top, fmt::format("more {}", document.piece()));
  return out;
}

// Sentences by document, in the order of the text.
Datum documents_of(const CiteDocument& document, const std::vector<Place>& places,
                   const Table& sentences) {
  Table of_sentence = sentences;
  std::erase_if(of_sentence.columns, [](const Column& one) { return one.key == "document"; });
  std::vector<std::vector<std::size_t>> rows(document.documents.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].resize(document.documents[i].sentences.size());
  }
  for (std::size_t row = 0; row < places.size(); ++row) {
    rows[places[row].document][places[row].sentence] = row;
  }
  Datum::List list;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    list.emplace_back(Record{{"name", document.documents[i].name},
                             {"sentences", records(of_sentence, &rows[i])}});
  }
  return list;
}

void add_answer(Report& report, const CiteDocument& document) {
  const double log_probability = document.log_probability();
  report.add("answer", Record{{"text", document.answer},
                              {"given", !document.continuation.has_value()},
                              {"logprob", log_probability},
                              {"tokens", list_of(document.tokens, [](const AnswerToken& token) {
                                 return Record{{"token", token.text},
                                               {"id", token.id},
                                               {"logprob", token.log_probability}};
                               })}});
  if (!document.question.empty()) {
    report.say("question: " + document.question);
  }
  report.say("answer: " + document.answer, Emphasis::kStrong);
  report.say(
      fmt::format("{}; {}, ln p = {:.2f}: the model gives it a probability of {}",
                  document.continuation ? "written by the model" : "given",
                  counted(document.tokens.size(), "token"), log_probability,
                  percentage(std::max(static_cast<float>(std::exp(log_probability)), 1e-30f))),
      Emphasis::kQuiet, 2);
}

void add_legend(Report& report, const CiteDocument& document, const std::vector<Place>& shown) {
  report.say(
      fmt::format(
          "change: of ln p(answer), in nats, when no token of the answer can attend to the {0}; if "
          "hidden: the factor by which that changes the answer's probability; attention: share of "
          "the answer tokens' attention that the {0} gets, averaged over all layers and heads{1}",
          document.piece(),
          document.retrieval_heads ? "; retrieval: the same for the retrieval heads alone" : ""),
      Emphasis::kQuiet);
  report.say(fmt::format("Any tokens between a {} and the answer have already read it, so its "
                         "information may still reach the answer through them.",
                         document.piece()),
             Emphasis::kQuiet);
  if (std::ranges::any_of(shown, [&](const Place& place) {
        return !document.at(place).effect.log_probability_change;
      })) {
    report.say(
        "–: nothing of it can be hidden: its only token is the one that predicts the answer, and a "
        "token always attends to itself.",
        Emphasis::kQuiet);
  }
}

// Draws documents with their sentences marked by rank and shaded.
class MarkedTexts {
 public:
  MarkedTexts(Report& report, const CiteDocument& document, const std::vector<Place>& marked,
              const Colormap& colormap)
      : report_(report), document_(document), colormap_(colormap) {
    for (const Place& place : marked) {
      ranks_.emplace(std::pair(place.document, place.sentence), ranks_.size() + 1);
    }
    most_ = lost_by(document.at(marked.front()));
  }

  void draw() {
    constexpr std::size_t kMostSentences = 40;  // limit for drawing documents in full
    std::size_t n_sentences = 0;
    for (const CitedText& text : document_.documents) {
      n_sentences += text.sentences.size();
    }
    for (std::size_t i = 0; i < document_.documents.size(); ++i) {
      const auto of_text = ranks_.lower_bound({i, 0});
      const bool has_any = of_text != ranks_.end() && of_text->first.first == i;
      if (document_.documents[i].sentences.empty() || (!has_any && n_sentences > kMostSentences)) {
        continue;
      }
      report_.draw(Gap{});
      report_.say(document_.documents[i].name, Emphasis::kStrong);
      draw_text(i, n_sentences > kMostSentences);
    }
  }

 private:
  static double lost_by(const CitedSentence& sentence) {
    return -sentence.effect.log_probability_change.value_or(0.0);
  }

  bool is_marked(std::size_t text, std::size_t sentence) const {
    return ranks_.contains({text, sentence});
  }

  void finish_strip() {
    if (!strip_.pieces.empty()) {
      report_.draw(std::exchange(strip_, {}));
    }
  }

  // A paragraph ends before a sentence that begins a line.
  void draw_text(std::size_t index, bool only_marked) {
    const CitedText& text = document_.documents[index];
    std::size_t n_left_out = 0;
    const auto add_left_out = [&] {
      if (n_left_out > 0) {
        finish_strip();
        report_.say("… " + counted(std::exchange(n_left_out, 0), document_.piece()),
                    Emphasis::kQuiet);
      }
    };
    for (std::size_t begin = 0; begin < text.sentences.size();) {
      std::size_t end = begin + 1;
      bool has_mark = is_marked(index, begin);
      while (end < text.sentences.size() && !text.sentences[end].begins_line) {
        has_mark = has_mark || is_marked(index, end);
        ++end;
      }
      if (only_marked && !has_mark) {
        n_left_out += end - begin;
      } else {
        add_left_out();
        for (std::size_t i = begin; i < end; ++i) {
          add_piece(index, i, i == begin);
        }
      }
      begin = end;
    }
    add_left_out();
    finish_strip();
  }

  void add_piece(std::size_t index, std::size_t i, bool begins_paragraph) {
    const CitedText& text = document_.documents[index];
    const CitedSentence& sentence = text.sentences[i];
    StripPiece piece{text.text.substr(sentence.begin, sentence.end - sentence.begin)};
    if (const auto rank = ranks_.find({index, i}); rank != ranks_.end()) {
      piece.mark = fmt::format("[{}]", rank->second);
      piece.share = static_cast<float>(lost_by(sentence) / most_);
    }
    if (i > 0) {
      const std::size_t before = text.sentences[i - 1].end;
      // Scripts without spaces have no blank between sentences.
      piece.is_close = before == sentence.begin;
      if (begins_paragraph) {
        piece.lines_before = static_cast<std::size_t>(
            std::ranges::count(text.text.substr(before, sentence.begin - before), '\n'));
      }
    }
    strip_.colormap = colormap_;
    strip_.pieces.push_back(std::move(piece));
  }

  Report& report_;
  const CiteDocument& document_;
  const Colormap& colormap_;
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> ranks_;
  double most_ = 0.0;
  Strip strip_;
};

std::string title_of(const CiteDocument& document, std::size_t n_sentences) {
  return fmt::format("cite: {}, {}{} of {}", model_title(document.model),
                     counted(n_sentences, document.piece()),
                     document.span_words == 0
                         ? ""
                         : fmt::format(" of at most {}", counted(document.span_words, "word")),
                     counted(document.documents.size(), "text"));
}

}  // namespace

Report cite_report(const CiteDocument& document, std::size_t top, const Colormap& colormap) {
  std::vector<Place> places = document.ranked();
  Report report = begin_report("attnviz.cite/1", title_of(document, places.size()), document.model,
                               document.run, document.notes);
  report.members.add_if_any("question", document.question);
  report.add("n_prompt_tokens", document.n_prompt_tokens);
  report.draw(Gap{});
  add_answer(report, document);
  if (document.continuation) {
    report.add("generated", continuation_record(*document.continuation));
  }
  report.members.add_if_any("span_words", document.span_words);
  report.add("matters_from", -std::log(document.least_factor));
  report.add("logprob_change_without_all", document.change_without_all);
  if (document.retrieval_heads) {
    report.add("retrieval_heads", list_of(*document.retrieval_heads, head_name));
  }
  Table table = sentence_table(document, places, top);
  report.add("documents", documents_of(document, places, table));
  report.numbers = table;
  std::erase_if(report.numbers->columns, [](const Column& column) {
    return column.key == "first_token" || column.key == "matters";
  });
  report.draw(Gap{});
  report.say(cite_conclusion(document));
  report.draw(Gap{});
  report.draw(std::move(table));
  places.resize(top == 0 ? places.size() : std::min(places.size(), top));
  add_legend(report, document, places);
  std::erase_if(places, [&](const Place& place) {
    return !document.matters(document.at(place).effect.log_probability_change);
  });
  if (!places.empty()) {
    MarkedTexts(report, document, places, colormap).draw();
  }
  return report;
}

}  // namespace attnviz
