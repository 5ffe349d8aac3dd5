#include "attnviz/report/json/corpus_scores.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "attnviz/core/message.h"
#include "attnviz/formats/json_tree.h"
#include "attnviz/formats/json_writer.h"
#include "attnviz/report/json/document_json.h"

namespace attnviz {

namespace {

bool are_alike(const RunFacts& a, const RunFacts& b) {
  return a.mask == b.mask && a.temperature == b.temperature && a.scale == b.scale &&
         a.dropout == b.dropout && (a.dropout == 0.0f || a.dropout_seed == b.dropout_seed);
}

std::string left_out_words(const RunFacts& run) {
  const std::vector<std::string> notes = left_out_notes(run);
  return notes.empty() ? "none" : joined_by(notes, "; ");
}

// `words` describes a value; different values may get the same words, such as long texts.
template <class Value, class Words>
std::string change_of(std::string_view what, const Value& ours, const Value& theirs,
                      const Words& words) {
  return ours == theirs
             ? ""
             : fmt::format("another {}: {} instead of {}", what, words(theirs), words(ours));
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
                             [](const auto& pair) { return pair ? in_quotes(*pair) : "none"; })});
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
         return indices ? joined_by(*indices, ",") : "the texts'";
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
    return fmt::format("another tokenizer, {} instead of {}", other.model.tokenizer,
                       model.tokenizer);
  }
  if (heads != other.heads) {
    return fmt::format("other heads: {} instead of {}", other.heads.size(), heads.size());
  }
  if (band != other.band) {
    return fmt::format("another band: {} instead of {}", other.band, band);
  }
  if (!are_alike(run, other.run)) {
    return "another mask, temperature, scale or dropout";
  }
  if (run.interventions != other.run.interventions ||
      run.hidden_in_each != other.run.hidden_in_each) {
    return fmt::format("other interventions: {} instead of {}", left_out_words(other.run),
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

namespace {

constexpr std::string_view kScoresSchema = "attnviz.heads-partial/1";
constexpr std::string_view kBeginning = R"({"schema":"attnviz.heads-partial/1")";  // without blanks
constexpr std::size_t kSumDigits = 32;
constexpr std::uint64_t kMostTexts = std::uint64_t{1} << 40;

std::string sum_text(const ExactSum& sum) {
  const auto [upper, lower] = sum.halves();
  return fmt::format("{:016x}{:016x}", upper, lower);
}

// "sum square n", the sums as 128-bit integers in units of 2^-60.
std::string sums_text(const ScoreMeans::Sums& sums) {
  return fmt::format("{} {} {}", sum_text(sums.value), sum_text(sums.square), sums.n);
}

template <class Number>
std::optional<Number> number_in(std::string_view digits, int base) {
  Number number{};
  const char* const end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, number, base);
  return parsed.ec == std::errc() && parsed.ptr == end ? std::optional(number) : std::nullopt;
}

std::optional<ExactSum> sum_in(std::string_view digits) {
  constexpr int kHexadecimal = 16;
  if (digits.size() != kSumDigits) {
    return std::nullopt;
  }
  const auto upper = number_in<std::uint64_t>(digits.substr(0, kSumDigits / 2), kHexadecimal);
  const auto lower = number_in<std::uint64_t>(digits.substr(kSumDigits / 2), kHexadecimal);
  if (!upper || !lower) {
    return std::nullopt;
  }
  // Leaves room to add thirty thousand of these sums.
  constexpr double kLargest = 4503599627370496.0;  // 2^52
  const ExactSum sum = ExactSum::of_halves(*upper, *lower);
  return std::abs(sum.value()) <= kLargest ? std::optional(sum) : std::nullopt;
}

ScoreMeans::Sums sums_in(const JsonNode& node) {
  constexpr std::size_t kSecond = kSumDigits + 1, kThird = 2 * kSecond;
  const std::string_view text = node.as_string();
  if (text.size() > kThird && text[kSumDigits] == ' ' && text[kThird - 1] == ' ') {
    const auto value = sum_in(text.substr(0, kSumDigits));
    const auto square = sum_in(text.substr(kSecond, kSumDigits));
    const auto n = number_in<std::size_t>(text.substr(kThird), 10);
    if (value && square && n && *n > 0 && *n <= kMostTexts) {
      return {*value, *square, *n};
    }
  }
  node.fail("expected two sums of 32 hexadecimal digits and a count");
}

// Omits scores that are absent from all texts.
Record sums_record(const ScoreMeans& means, std::size_t head) {
  Record record;
  for (const auto& [key, score] : kScoreNames) {
    if (const ScoreMeans::Sums& sums = means.sums(head, score); sums.n > 0) {
      record.add(key, sums_text(sums));
    }
  }
  return record;
}

void read_sums(const JsonNode& node, std::size_t head, std::uint64_t n_texts, ScoreMeans& means) {
  for (const auto& [key, score] : kScoreNames) {
    if (const auto sums = node.find(key)) {
      const ScoreMeans::Sums read = sums_in(*sums);
      if (read.n > n_texts) {
        sums->fail(fmt::format("expected sums over at most {}, found {}", counted(n_texts, "text"),
                               read.n));
      }
      means.restore(head, score, read);
    }
  }
}

Record reading_record(const CorpusReading& reading) {
  Record record;
  if (reading.format) {
    record.add("format", word_for(kLineFormats, *reading.format));
  }
  record.add_if_any("pair", reading.pair)
      .add_if_any("bos", reading.bos)
      .add_if_any("special", reading.special);
  if (reading.truncate) {
    record.add("truncate", word_for(kTruncateSides, *reading.truncate));
  }
  return record.add_if_any("punctuation", reading.punctuation);
}

CorpusReading read_reading(const JsonNode& node) {
  CorpusReading reading;
  read_optional(node, "format", reading.format,
                [](std::string_view word) { return parse_choice("format", word, kLineFormats); });
  read_optional(node, "pair", reading.pair);
  read_optional(node, "bos", reading.bos);
  read_optional(node, "special", reading.special);
  read_optional(node, "truncate", reading.truncate, [](std::string_view word) {
    return parse_choice("truncate", word, kTruncateSides);
  });
  if (const auto punctuation = node.find("punctuation")) {
    reading.punctuation = read_indices(*punctuation);
  }
  return reading;
}

}  // namespace

void write_corpus_scores(const CorpusScores& scores, const ByteSink& sink) {
  Record record{{"schema", kScoresSchema},
                {"model", model_record(scores.model)},
                {"model_fingerprint", scores.model_print},
                {"tokenizer_fingerprint", scores.tokenizer_print}};
  record.add_all(run_record(scores.run)).add("band", scores.band);
  if (scores.reading) {
    record.add("reading", reading_record(*scores.reading));
  }
  std::size_t index = 0;
  record.add_if_any("n_longest", scores.n_longest)
      .add("n_lines", scores.n_lines)
      .add_if_any("lines_fingerprint", scores.lines_print)
      .add_if_any("merged_fingerprints", scores.merged_prints)
      .add("n_texts", scores.raw.n_texts())
      .add("uniform", sums_record(scores.uniform, 0))
      .add("heads", list_of(scores.heads, [&](HeadId head) {
             Record sums{{"layer", head.layer},
                         {"head", head.head},
                         {"raw", sums_record(scores.raw, index)},
                         {"weighted", sums_record(scores.weighted, index)}};
             ++index;
             return sums;
           }));
  JsonWriter json(sink);
  write_datum(json, record);
  json.finish();
}

bool are_corpus_scores(std::string_view bytes) noexcept {
  for (const char c : kBeginning) {
    bytes.remove_prefix(std::min(bytes.find_first_not_of(" \t\r\n"), bytes.size()));
    if (!bytes.starts_with(c)) {
      return false;
    }
    bytes.remove_prefix(1);
  }
  return true;
}

CorpusScores read_corpus_scores(std::string_view bytes, std::string_view name) {
  const JsonTree tree = JsonTree::parse(bytes, name);
  const JsonNode root = tree.root();
  if (root.at("schema").as_string() != kScoresSchema) {
    root.at("schema").fail(fmt::format("expected \"{}\"", kScoresSchema));
  }
  const std::vector<JsonNode> nodes = root.at("heads").as_list("a list of heads");
  std::vector<HeadId> heads;
  heads.reserve(nodes.size());
  for (const JsonNode& node : nodes) {
    heads.push_back({node.at("layer").as_unsigned(), node.at("head").as_unsigned()});
  }
  if (std::set(heads.begin(), heads.end()).size() != heads.size() || heads.empty()) {
    root.at("heads").fail("expected different heads, at least one");
  }
  CorpusScores scores(std::move(heads));
  scores.model = read_model(root.at("model"));
  scores.model_print = root.at("model_fingerprint").as_string();
  scores.tokenizer_print = root.at("tokenizer_fingerprint").as_string();
  scores.run = read_run(root);
  scores.band = root.at("band").as_unsigned();
  if (const auto reading = root.find("reading")) {
    scores.reading = read_reading(*reading);
  }
  if (const auto n_longest = root.find("n_longest")) {
    scores.n_longest = n_longest->as_unsigned();
  }
  scores.n_lines = root.at("n_lines").as_unsigned();
  if (const auto print = root.find("lines_fingerprint")) {
    scores.lines_print = print->as_string();
  }
  scores.merged_prints = strings_at(root, "merged_fingerprints", "a list of fingerprints");
  const std::uint64_t n_texts = root.at("n_texts").as_unsigned();
  if (n_texts > kMostTexts) {
    root.at("n_texts").fail(fmt::format("expected at most {}, found {}", kMostTexts, n_texts));
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    read_sums(nodes[i].at("raw"), i, n_texts, scores.raw);
    read_sums(nodes[i].at("weighted"), i, n_texts, scores.weighted);
  }
  read_sums(root.at("uniform"), 0, n_texts, scores.uniform);
  for (ScoreMeans* means : {&scores.raw, &scores.weighted, &scores.uniform}) {
    means->restore_texts(n_texts);
  }
  return scores;
}

}  // namespace attnviz
