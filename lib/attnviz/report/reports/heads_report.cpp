#include "attnviz/report/reports/reports.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <string>
#include <utility>

#include "attnviz/attention/interventions.h"
#include "attnviz/core/message.h"
#include "attnviz/report/heads_document.h"
#include "attnviz/report/json/document_json.h"

namespace attnviz {

namespace {

// As many as fit side by side in 80 columns, on probes together with names.
constexpr Score kProbeColumns[] = {Score::kPrevious, Score::kSelf, Score::kSinkAlpha,
                                   Score::kDuplicate, Score::kInduction};
constexpr Score kTextColumns[] = {Score::kPrevious,   Score::kSelf,      Score::kFirst,
                                  Score::kDuplicate,  Score::kInduction, Score::kPunctuation,
                                  Score::kEntropyBits};

std::vector<Score> usual_columns(const HeadsDocument& document) {
  std::vector<Score> columns = document.is_probe()
                                   ? std::vector(std::begin(kProbeColumns), std::end(kProbeColumns))
                                   : std::vector(std::begin(kTextColumns), std::end(kTextColumns));
  for (std::size_t head = 0; head < document.heads.size(); ++head) {
    if (document.raw.estimate(head, Score::kLearnedSink)) {
      columns.insert(columns.begin() + 3, Score::kLearnedSink);  // beside the first token's score
      break;
    }
  }
  return columns;
}

// Three decimals for shares, one for larger numbers.
std::string score_text(double value) {
  constexpr double kLarge = 9.9995;
  return value < kLarge ? fmt::format("{:.3f}", value) : fmt::format("{:.1f}", value);
}

// A key index is whole, except as a mean over texts.
std::string index_text(double value) {
  return value == std::floor(value) ? fmt::format("{:.0f}", value) : score_text(value);
}

ColumnFormat format_of(Score score) {
  return score == Score::kSinkKey ? index_text : score_text;
}

std::string with_error(const Estimate& estimate) {
  return score_text(estimate.mean) +
         (estimate.sem ? " ± " + score_text(*estimate.sem) : std::string());
}

Datum number_of(Score score, const std::optional<double>& value) {
  return value && score == Score::kSinkKey && *value == std::floor(*value)
             ? Datum(static_cast<std::uint64_t>(*value))
             : Datum(value);
}

// What heads of this name do, with the name of its score if that is another.
std::string does(const HeadName& name) {
  const std::string_view column = word_for(kScoreNames, name.score);
  return fmt::format(": {}{}", name.does,
                     name.name.starts_with(column) ? "" : fmt::format(" ({})", column));
}

class HeadsReport {
 public:
  HeadsReport(const HeadsDocument& document, const HeadsTableChoice& choice)
      : document_(document),
        choice_(choice),
        is_corpus_(std::holds_alternative<CorpusSource>(document.source)),
        indices_(document.heads.size()) {
    std::iota(indices_.begin(), indices_.end(), std::size_t{0});
    report_.schema = "attnviz.heads/1";
    report_.title = "heads: " + heads_title(document);
    report_.notes = document.notes;
  }

  Report make() {
    add_members();
    report_.draw(Gap{});
    if (document_.is_probe()) {
      add_names();
      report_.draw(Gap{});
    }
    add_table();
    report_.numbers = numbers();
    return std::move(report_);
  }

 private:
  static Record source_record(const ProbeSource& probes) {
    Record record{{"kind", "probe"}};
    if (!probes.is_given) {
      const ProbeShape& shape = probes.shape;
      record.add("length", shape.length);
      record.add("repeats", shape.repeats);
      record.add("bos", probes.texts.front().size() > shape.length * shape.repeats);
      record.add("seed", shape.seed);
    }
    record.add("ids", list_of(probes.texts, &TokenizedText::ids));
    return record;
  }
  static Record source_record(const ScoredText& source) {
    Record record{{"kind", "text"}};
    return record.add_all(text_record(source.text));
  }
  static Record source_record(const CorpusSource& source) {
    Record record{{"kind", "corpus"}, {"n_texts", source.n_texts}};
    if (source.interrupted_after) {
      record.add("interrupted_after_line", *source.interrupted_after);
    }
    return record;
  }
  static Record source_record(const FileSource& source) {
    return {{"kind", "file"}, {"name", source.name}};
  }

  void add_members() {
    if (document_.model) {
      report_.add("model", model_record(*document_.model));
    }
    report_.members.add_all(run_record(document_.run));
    report_.add("source", std::visit([](const auto& source) { return source_record(source); },
                                     document_.source));
    report_.members.add_if_any("notes", document_.notes);
    report_.add("scores", list_of(kScoreNames, [](const auto& choice) { return choice.word; }));
    report_.add("heads", list_of(indices_, [this](std::size_t i) { return head_record(i); }));
    Record uniform;
    for (const auto& [key, score] : kScoreNames) {
      uniform.add(key, number_of(score, document_.uniform[score]));
    }
    if (document_.copying) {
      uniform.add("copying_sd", document_.copying->random_sd);
    }
    report_.add("null", std::move(uniform));
    report_.add("sink_rate", document_.sink_rate());
    if (!document_.detected.empty()) {
      report_.add("transformer_lens",
                  list_of(indices_, [this](std::size_t i) { return detected_record(i); }));
    }
  }

  void add_scores(Record& record, const ScoreMeans& means, std::size_t head) const {
    for (const auto& [key, score] : kScoreNames) {
      const std::optional<Estimate> estimate = means.estimate(head, score);
      record.add(
          key,
          !estimate ? Datum()
          : is_corpus_
              ? Datum(Record{{"mean", estimate->mean}, {"sem", estimate->sem}, {"n", estimate->n}})
              : number_of(score, estimate->mean));
    }
  }

  Record head_record(std::size_t index) const {
    Record record{{"layer", document_.heads[index].layer},
                  {"head", document_.heads[index].head},
                  {"names", list_of(document_.names(index), std::identity())}};
    if (document_.known) {
      record.add("known", known_name(*document_.known, document_.heads[index]));
    }
    add_scores(record, document_.raw, index);
    if (!is_corpus_ && document_.raw.n_texts() > 1) {
      Record errors;
      for (const auto& [key, score] : kScoreNames) {
        const std::optional<Estimate> estimate = document_.raw.estimate(index, score);
        if (estimate && estimate->sem) {
          errors.add(key, *estimate->sem);
        }
      }
      record.add("sem", std::move(errors));
    }
    if (document_.copying) {
      record.add("copying", document_.copying->scores[index]);
    }
    if (document_.weighted.n_texts() > 0) {
      Record weighted;
      add_scores(weighted, document_.weighted, index);
      record.add("weighted", std::move(weighted));
    }
    return record;
  }

  Record detected_record(std::size_t index) const {
    Record record{{"layer", document_.heads[index].layer}, {"head", document_.heads[index].head}};
    for (std::size_t pattern = 0; pattern < kDetectionPatterns.size(); ++pattern) {
      Record scores;
      for (std::size_t i = 0; i < document_.detected[index][pattern].size(); ++i) {
        const DetectedHead& found = document_.detected[index][pattern][i];
        const DetectOptions options = detect_options(i);
        const std::string suffix = std::string(options.exclude_bos ? " exclude_bos" : "") +
                                   (options.exclude_current_token ? " exclude_current_token" : "");
        scores.add("mul" + suffix, found.mul);
        scores.add("abs" + suffix, found.abs);
      }
      record.add(kDetectionPatterns[pattern].word, std::move(scores));
    }
    return record;
  }

  // The heads of each name, or one line if no head has a name.
  void add_names() {
    const std::size_t best = ranked_heads(document_, {}).front();
    if (document_.names(best).empty()) {
      const ScoreValues scores = document_.raw.means(best);
      const HeadName* const name = nearest_name(document_, scores);
      const std::optional<double> score = name != nullptr ? scores[name->score] : std::nullopt;
      return report_.say(
          score ? fmt::format("no head is identified; the closest is head {}, {} {} (from {})",
                              head_name(document_.heads[best]), name->name, score_text(*score),
                              name->at_least)
                : "no head can be identified here",
          Emphasis::kQuiet);
    }
    report_.say(fmt::format("2.1, also written L2H1, is head 1 of layer 2, both counted from 0. "
                            "Heads are named by average shares of their attention, 0 to 1; ±: "
                            "standard error over the sequences; from: lowest score for the name; "
                            "uniform: score of a head that spreads its attention evenly{}",
                            document_.is_like_random()
                                ? "; random: highest score among 4,352 heads with random weights"
                                : ""),
                Emphasis::kQuiet);
    for (const HeadName& name : kHeadNames) {
      add_name(name);
    }
  }

  void add_name(const HeadName& name, std::string text, std::string aside) {
    report_.draw(
        Paragraph{fmt::format("{}{}", name.name, text), Emphasis::kStrong, 0, std::move(aside)});
  }

  void add_name(const HeadName& name) {
    if (!document_.judges(name)) {
      return add_name(name, ":", "not judged");
    }
    std::vector<std::size_t> heads =
        ranked_heads(document_, {name.score, {{name.score, name.at_least}}});
    if (heads.empty()) {
      const std::vector<std::size_t> all = ranked_heads(document_, {name.score, {}});
      const auto best =
          all.empty() ? std::nullopt : document_.raw.estimate(all.front(), name.score);
      if (!best) {
        return add_name(name, ":", "no head");
      }
      return add_name(
          name, does(name) + ".",
          fmt::format("None; the closest is head {} with {} (from {})",
                      head_name(document_.heads[all.front()]), with_error(*best), name.at_least));
    }
    const std::optional<double>& uniform = document_.uniform[name.score];
    add_name(
        name, does(name),
        fmt::format(
            "(from {}; uniform {}{})", name.at_least, uniform ? score_text(*uniform) : "none",
            document_.is_like_random() ? fmt::format(", random {}", name.largest_random) : ""));
    constexpr std::size_t kMostHeads = 6;
    const std::size_t n_more = heads.size() - std::min(heads.size(), kMostHeads);
    heads.resize(heads.size() - n_more);
    const auto estimate = [&](std::size_t head) {
      return *document_.raw.estimate(head, name.score);
    };
    Table table =
        TableOf(heads)
            .column({}, [this](std::size_t head) { return head_name(document_.heads[head]); })
            .column({.to_right = true},
                    [&](std::size_t head) { return with_error(estimate(head)); })
            .column({.bars = ColumnBars{.columns = 30}, .bars_alone = true},
                    [&](std::size_t head) { return estimate(head).mean; })
            .take();
    table.has_headings = false;
    table.indent = 2;
    if (n_more > 0) {
      table.left_out = fmt::format("{} more", n_more);
    }
    report_.draw(std::move(table));
  }

  void add_table() {
    std::vector<std::size_t> rows = ranked_heads(document_, choice_.ranking);
    const std::size_t n_all = rows.size();
    rows.resize(choice_.top == 0 ? n_all : std::min(n_all, choice_.top));
    Table table = scores_table(rows);
    if (rows.size() < n_all) {
      table.left_out = counted(n_all - rows.size(), "more head");
    }
    report_.draw(std::move(table));
  }

  Table scores_table(const std::vector<std::size_t>& rows) const {
    TableOf table(rows);
    ExtraRow uniform{{"uniform"}, Emphasis::kQuiet};
    table.column({.heading = "head"},
                 [this](std::size_t head) { return head_name(document_.heads[head]); });
    // Names come first, so that folding the table never separates them from their heads.
    if (std::ranges::any_of(rows,
                            [this](std::size_t row) { return !document_.names(row).empty(); })) {
      table.column({.heading = "names"},
                   [this](std::size_t head) { return joined_by(document_.names(head), ", "); });
      uniform.cells.emplace_back("");
    }
    for (const Score score : choice_.columns.empty() ? usual_columns(document_) : choice_.columns) {
      table.column({.heading = std::string(word_for(kScoreNames, score)),
                    .format = format_of(score),
                    .to_right = true},
                   [&](std::size_t head) -> Datum {
                     const auto estimate = document_.raw.estimate(head, score);
                     return !estimate    ? Datum()
                            : is_corpus_ ? Datum(with_error(*estimate))
                                         : Datum(estimate->mean);
                   });
      uniform.cells.emplace_back(document_.uniform[score]);
    }
    if (document_.copying) {
      table.column({.heading = "copying", .format = score_text},
                   [this](std::size_t head) { return document_.copying->scores[head]; });
      uniform.cells.emplace_back();
    }
    if (document_.known) {
      table.column({.heading = "known", .null = ""}, [this](std::size_t head) {
        return known_name(*document_.known, document_.heads[head]);
      });
    }
    Table out = table.take();
    out.extra_rows.push_back(std::move(uniform));
    return out;
  }

  void add_numbers(TableOf<std::size_t>& table, const ScoreMeans& means,
                   const std::string& prefix) const {
    for (const auto& [key, score] : kScoreNames) {
      const auto of = [&means, score = score](std::optional<double> (*take)(const Estimate&)) {
        return [&means, score, take](std::size_t head) {
          const auto estimate = means.estimate(head, score);
          return estimate ? take(*estimate) : std::nullopt;
        };
      };
      table.data(prefix + std::string(key),
                 of([](const Estimate& one) { return std::optional(one.mean); }));
      if (means.n_texts() > 1) {
        table.data(prefix + std::string(key) + "_sem",
                   of([](const Estimate& one) -> std::optional<double> { return one.sem; }));
      }
    }
  }

  Table numbers() const {
    TableOf table(indices_);
    table.data("layer", [this](std::size_t i) { return document_.heads[i].layer; });
    table.data("head", [this](std::size_t i) { return document_.heads[i].head; });
    table.column({.key = "names", .are_words = true},
                 [this](std::size_t i) { return joined_by(document_.names(i), " "); });
    add_numbers(table, document_.raw, "");
    if (document_.weighted.n_texts() > 0) {
      add_numbers(table, document_.weighted, "weighted_");
    }
    if (document_.copying) {
      table.data("copying", [this](std::size_t i) { return document_.copying->scores[i]; });
    }
    if (document_.known) {
      table.column({.key = "known", .are_words = true}, [this](std::size_t i) {
        return known_name(*document_.known, document_.heads[i]);
      });
    }
    if (const auto line = document_.interrupted_after()) {
      table.data("interrupted_after_line", [line](std::size_t) { return *line; });
    }
    return table.take();
  }

  const HeadsDocument& document_;
  const HeadsTableChoice& choice_;
  bool is_corpus_;
  std::vector<std::size_t> indices_;
  Report report_;
};

}  // namespace

Report heads_report(const HeadsDocument& document, const HeadsTableChoice& choice) {
  return HeadsReport(document, choice).make();
}

}  // namespace attnviz
