#include "attnviz/document/json/cite_json.h"

#include <fmt/core.h>

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "attnviz/attention/head_selection.h"
#include "attnviz/document/json/run_json.h"
#include "attnviz/formats/csv.h"
#include "attnviz/formats/json_writer.h"

namespace attnviz {

namespace {

void write_answer(JsonWriter& json, const CiteDocument& document) {
  json.begin_object("answer");
  json.member("text", document.answer);
  json.member("given", !document.continuation.has_value());
  json.member("logprob", document.log_probability());
  json.objects("tokens", document.tokens, [&json](const AnswerToken& token) {
    json.member("token", token.text);
    json.member("id", token.id);
    json.member("logprob", token.log_probability);
  });
  json.end_object();
}

void write_sentence(JsonWriter& json, const CiteDocument& document,
                    const CiteDocument::Place& place, std::size_t rank) {
  const CitedSentence& sentence = document.at(place);
  json.member("rank", rank);
  json.member("line", sentence.line);
  json.member("column", sentence.column);
  json.member("begin", sentence.begin);
  json.member("end", sentence.end);
  json.member("text", document.text_at(place));
  json.member("first_token", sentence.tokens.first);
  json.member("n_tokens", sentence.tokens.end - sentence.tokens.first);
  json.member("logprob_change", sentence.effect.log_probability_change);
  json.member("matters", document.matters(sentence.effect.log_probability_change));
  json.member("attention", sentence.effect.attention);
  if (sentence.effect.chosen_attention) {
    json.member("retrieval_attention", *sentence.effect.chosen_attention);
  }
}

}  // namespace

void write_cite_json(const CiteDocument& document, const ByteSink& sink) {
  JsonWriter json(sink);
  json.begin_object();
  json.member("schema", "attnviz.cite/1");
  write_model_member(json, document.model);
  write_run_members(json, document.run);
  json.member_if_any("notes", document.notes);
  json.member_if_any("question", document.question);
  json.member("n_prompt_tokens", document.n_prompt_tokens);
  write_answer(json, document);
  if (document.continuation) {
    write_continuation_member(json, *document.continuation);
  }
  if (document.span_words > 0) {
    json.member("span_words", document.span_words);
  }
  json.member("matters_from", -std::log(document.least_factor));
  json.member("logprob_change_without_all", document.change_without_all);
  if (document.retrieval_heads) {
    json.list("retrieval_heads", *document.retrieval_heads, head_name);
  }
  std::vector<std::vector<std::size_t>> ranks;
  for (const CitedText& text : document.documents) {
    ranks.emplace_back(text.sentences.size());
  }
  std::size_t rank = 0;
  for (const CiteDocument::Place& place : document.ranked()) {
    ranks[place.document][place.sentence] = ++rank;
  }
  json.begin_array("documents");
  for (std::size_t i = 0; i < document.documents.size(); ++i) {
    json.begin_object();
    json.member("name", document.documents[i].name);
    json.begin_array("sentences");
    for (std::size_t k = 0; k < ranks[i].size(); ++k) {
      json.begin_object();
      write_sentence(json, document, {i, k}, ranks[i][k]);
      json.end_object();
    }
    json.end_array();
    json.end_object();
  }
  json.end_array();
  json.end_object();
  json.finish();
}

void write_cite_csv(const CiteDocument& document, const ByteSink& sink) {
  const bool has_chosen = document.retrieval_heads.has_value();
  sink(fmt::format("rank,document,line,column,begin,end,n_tokens,logprob_change,attention{},text\n",
                   has_chosen ? ",retrieval_attention" : ""));
  std::size_t rank = 0;
  for (const CiteDocument::Place& place : document.ranked()) {
    const CitedSentence& one = document.at(place);
    sink(fmt::format("{},{},{},{},{},{},{},{},{}{}{},{}\n", ++rank,
                     csv_text(document.documents[place.document].name), one.line, one.column,
                     one.begin, one.end, one.tokens.end - one.tokens.first,
                     csv_number(one.effect.log_probability_change), one.effect.attention,
                     has_chosen ? "," : "", csv_number(one.effect.chosen_attention),
                     csv_text(document.text_at(place))));
  }
}

}  // namespace attnviz
