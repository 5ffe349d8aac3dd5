#include "attnviz/document/corpus_scores.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "attnviz/core/message.h"

namespace attnviz {

namespace {

bool are_alike(const RunFacts& a, const RunFacts& b) {
  return a.mask == b.mask && a.temperature == b.temperature && a.scale == b.scale &&
         a.dropout == b.dropout && (a.dropout == 0.0f || a.dropout_seed == b.dropout_seed);
}

std::string left_out_words(const RunFacts& run) {
  const std::vector<std::string> notes = left_out_notes(run);
  return notes.empty() ? "none" : fmt::format("{}", fmt::join(notes, "; "));
}

// `words` says what a value is; what differs may look alike in words, such as long texts.
template <class Value, class Words>
std::string change_of(std::string_view what, const Value& ours, const Value& theirs,
                      const Words& words) {
  return ours == theirs
             ? ""
             : fmt::format("another {}: {} in place of {}", what, words(theirs), words(ours));
}

std::string first_of(std::initializer_list<std::string> changes) {
  const auto* const found =
      std::ranges::find_if(changes, [](const std::string& change) { return !change.empty(); });
  return found == changes.end() ? "" : *found;
}

std::string change_of_input(const CorpusReading& ours, const CorpusReading& theirs) {
  return first_of({change_of("format", ours.format, theirs.format,
                             [](const auto& format) {
                               return format ? word_for(kLineFormats, *format)
                                             : std::string_view("none");
                             }),
                   change_of("pair", ours.pair, theirs.pair,
                             [](const auto& pair) { return pair ? quoted(*pair) : "none"; })});
}

std::string change_of_tokens(const CorpusReading& ours, const CorpusReading& theirs) {
  return first_of(
      {change_of("bos", ours.bos, theirs.bos,
                 [](const auto& bos) {
                   return !bos ? "the tokenizer's own" : *bos ? "one" : "none";
                 }),
       change_of("special", ours.special, theirs.special,
                 [](bool special) { return special ? "tokens" : "text"; }),
       change_of("truncate", ours.truncate, theirs.truncate,
                 [](const auto& side) {
                   return side ? word_for(kTruncateSides, *side) : std::string_view("none");
                 }),
       change_of("punctuation", ours.punctuation, theirs.punctuation, [](const auto& indices) {
         return indices ? fmt::format("{}", fmt::join(*indices, ",")) : "the texts'";
       })});
}

bool knows_longest(const CorpusScores& scores) noexcept {
  return scores.n_longest > 0 || scores.raw.n_texts() == 0;
}

}  // namespace

std::string CorpusScores::difference(const CorpusScores& other) const {
  if (model_print != other.model_print) {
    return fmt::format("another model: {} has the fingerprint {}, {} {}", other.model.name,
                       other.model_print, model.name, model_print);
  }
  if (tokenizer_print != other.tokenizer_print) {
    return fmt::format("another tokenizer, {} in place of {}", other.model.tokenizer,
                       model.tokenizer);
  }
  if (heads != other.heads) {
    return fmt::format("other heads: {} in place of {}", other.heads.size(), heads.size());
  }
  if (band != other.band) {
    return fmt::format("another band: {} in place of {}", other.band, band);
  }
  if (!are_alike(run, other.run)) {
    return "another mask, temperature, scale or dropout";
  }
  if (run.interventions != other.run.interventions ||
      run.hidden_in_each != other.run.hidden_in_each) {
    return fmt::format("other interventions: {} in place of {}", left_out_words(other.run),
                       left_out_words(run));
  }
  return reading && other.reading ? change_of_tokens(*reading, *other.reading) : "";
}

std::string CorpusScores::input_difference(const CorpusScores& other) const {
  return reading && other.reading ? change_of_input(*reading, *other.reading) : "";
}

std::vector<std::string> CorpusScores::prints() const {
  const bool is_one_input = n_lines > 0 && !lines_print.empty();
  return is_one_input ? std::vector{lines_print} : merged_prints;
}

void CorpusScores::take_length(std::size_t n_tokens) noexcept {
  n_longest = knows_longest(*this) ? std::max(n_longest, n_tokens) : 0;
}

void CorpusScores::add(const CorpusScores& other) {
  if (n_lines > 0) {
    merged_prints = prints();
  }
  const std::vector<std::string> more = other.prints();
  merged_prints.insert(merged_prints.end(), more.begin(), more.end());
  n_lines = 0;
  lines_print.clear();
  if (!other.reading) {
    reading.reset();
  } else if (reading) {
    reading->format.reset();
    reading->pair.reset();
  }
  n_longest =
      knows_longest(*this) && knows_longest(other) ? std::max(n_longest, other.n_longest) : 0;
  raw.add(other.raw);
  weighted.add(other.weighted);
  uniform.add(other.uniform);
}

HeadsDocument CorpusScores::document() const {
  HeadsDocument document;
  document.model = model;
  document.run = run;
  document.source = CorpusSource{raw.n_texts()};
  document.heads = heads;
  document.raw = raw;
  document.weighted = weighted;
  document.uniform = uniform.means(0);
  if (std::string note = visibility_note(run, heads, n_longest); !note.empty()) {
    document.notes.push_back(std::move(note));
  }
  return document;
}

}  // namespace attnviz
