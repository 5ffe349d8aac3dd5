#include "attnviz/document/json/heads_json.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "attnviz/document/json/run_json.h"
#include "attnviz/formats/json_writer.h"

namespace attnviz {

namespace {

bool is_place(Score score) noexcept {
  return score == Score::kSinkKey;
}

// Of one text it is an index.
void write_number(JsonWriter& json, std::string_view key, Score score, double value) {
  if (is_place(score) && value == std::floor(value)) {
    json.member(key, static_cast<std::uint64_t>(value));
  } else {
    json.member(key, value);
  }
}

void write_scores(JsonWriter& json, const ScoreMeans& means, std::size_t head, bool is_corpus) {
  for (const auto& [key, score] : kScoreNames) {
    const std::optional<Estimate> estimate = means.estimate(head, score);
    if (!estimate) {
      json.key(key);
      json.null();
    } else if (is_corpus) {
      json.begin_object(key);
      json.member("mean", estimate->mean);
      json.member("sem", estimate->sem);
      json.member("n", estimate->n);
      json.end_object();
    } else {
      write_number(json, key, score, estimate->mean);
    }
  }
}

void write_errors(JsonWriter& json, const ScoreMeans& means, std::size_t head) {
  json.begin_object("sem");
  for (const auto& [key, score] : kScoreNames) {
    const std::optional<Estimate> estimate = means.estimate(head, score);
    if (estimate && estimate->sem) {
      json.member(key, *estimate->sem);
    }
  }
  json.end_object();
}

void write_source(JsonWriter& json, const ProbeSource& probes) {
  json.member("kind", "probe");
  if (!probes.is_given) {
    json.member("length", probes.shape.length);
    json.member("repeats", probes.shape.repeats);
    json.member("bos", probes.texts.front().size() > probes.shape.length * probes.shape.repeats);
    json.member("seed", probes.shape.seed);
  }
  json.list("ids", probes.texts, [](const TokenizedText& text) { return text.ids(); });
}

void write_source(JsonWriter& json, const ScoredText& source) {
  json.member("kind", "text");
  write_text_members(json, source.text);
}

void write_source(JsonWriter& json, const CorpusSource& source) {
  json.member("kind", "corpus");
  json.member("n_texts", source.n_texts);
  if (source.interrupted_after) {
    json.member("interrupted_after_line", *source.interrupted_after);
  }
}

void write_source(JsonWriter& json, const FileSource& source) {
  json.member("kind", "file");
  json.member("name", source.name);
}

void write_head(JsonWriter& json, const HeadsDocument& document, std::size_t index) {
  json.member("layer", document.heads[index].layer);
  json.member("head", document.heads[index].head);
  json.member("names", document.names(index));
  if (document.known) {
    json.member("known", known_name(*document.known, document.heads[index]));
  }
  const bool is_corpus = std::holds_alternative<CorpusSource>(document.source);
  write_scores(json, document.raw, index, is_corpus);
  if (!is_corpus && document.raw.n_texts() > 1) {
    write_errors(json, document.raw, index);
  }
  if (document.copying) {
    json.member("copying", document.copying->scores[index]);
  }
  if (document.weighted.n_texts() > 0) {
    json.begin_object("weighted");
    write_scores(json, document.weighted, index, is_corpus);
    json.end_object();
  }
}

void write_detected(JsonWriter& json, const HeadsDocument& document, std::size_t index) {
  json.member("layer", document.heads[index].layer);
  json.member("head", document.heads[index].head);
  for (std::size_t pattern = 0; pattern < kDetectionPatterns.size(); ++pattern) {
    json.begin_object(kDetectionPatterns[pattern].word);
    for (std::size_t i = 0; i < document.detected[index][pattern].size(); ++i) {
      const DetectedHead& found = document.detected[index][pattern][i];
      const DetectOptions options = detect_options(i);
      const std::string suffix = std::string(options.exclude_bos ? " exclude_bos" : "") +
                                 (options.exclude_current_token ? " exclude_current_token" : "");
      json.member("mul" + suffix, found.mul);
      json.member("abs" + suffix, found.abs);
    }
    json.end_object();
  }
}

std::string csv_cell(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : "";
}

// The scores of one kind; without a head their headings.
void append_csv(std::string& row, const ScoreMeans& means, const std::string& prefix,
                std::optional<std::size_t> head) {
  for (const auto& [key, score] : kScoreNames) {
    const auto estimate = head ? means.estimate(*head, score) : std::nullopt;
    row += ',';
    row += !head ? prefix + std::string(key) : estimate ? csv_cell(estimate->mean) : "";
    if (means.n_texts() > 1) {
      row += ',';
      row += !head ? prefix + std::string(key) + "_sem" : estimate ? csv_cell(estimate->sem) : "";
    }
  }
}

}  // namespace

void write_heads_json(const HeadsDocument& document, const ByteSink& sink) {
  JsonWriter json(sink);
  json.begin_object();
  json.member("schema", "attnviz.heads/1");
  if (document.model) {
    write_model_member(json, *document.model);
  }
  write_run_members(json, document.run);
  json.begin_object("source");
  std::visit([&json](const auto& source) { write_source(json, source); }, document.source);
  json.end_object();
  json.member_if_any("notes", document.notes);
  json.list("scores", kScoreNames, [](const auto& choice) { return choice.word; });
  std::vector<std::size_t> indices(document.heads.size());
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  json.objects("heads", indices, [&](std::size_t i) { write_head(json, document, i); });
  json.begin_object("null");
  for (const auto& [key, score] : kScoreNames) {
    if (const auto& value = document.uniform[score]) {
      write_number(json, key, score, *value);
    } else {
      json.key(key);
      json.null();
    }
  }
  if (document.copying) {
    json.member("copying_sd", document.copying->random_sd);
  }
  json.end_object();
  json.member("sink_rate", document.sink_rate());
  if (!document.detected.empty()) {
    json.objects("transformer_lens", indices,
                 [&](std::size_t i) { write_detected(json, document, i); });
  }
  json.end_object();
  json.finish();
}

void write_heads_csv(const HeadsDocument& document, const ByteSink& sink) {
  const std::optional<std::size_t> interrupted_after = document.interrupted_after();
  const auto line = [&](std::string start, std::optional<std::size_t> head) {
    append_csv(start, document.raw, "", head);
    if (document.weighted.n_texts() > 0) {
      append_csv(start, document.weighted, "weighted_", head);
    }
    if (document.copying) {
      start += ',' + (head ? csv_cell(document.copying->scores[*head]) : "copying");
    }
    if (document.known) {
      start += ',';
      start += head ? known_name(*document.known, document.heads[*head]).value_or("") : "known";
    }
    if (interrupted_after) {
      start += head ? fmt::format(",{}", *interrupted_after) : ",interrupted_after_line";
    }
    sink(start + "\r\n");
  };
  line("layer,head,names", std::nullopt);
  for (std::size_t i = 0; i < document.heads.size(); ++i) {
    line(fmt::format("{},{},{}", document.heads[i].layer, document.heads[i].head,
                     fmt::join(document.names(i), " ")),
         i);
  }
}

}  // namespace attnviz
