#include "attnviz/document/json/corpus_scores_json.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "attnviz/core/message.h"
#include "attnviz/document/json/run_json.h"
#include "attnviz/formats/json_tree.h"
#include "attnviz/formats/json_writer.h"

namespace attnviz {

namespace {

constexpr std::string_view kSchema = "attnviz.heads-partial/1";
constexpr std::string_view kBeginning = R"({"schema":"attnviz.heads-partial/1")";  // without blanks
constexpr std::size_t kSumDigits = 32;
constexpr std::uint64_t kMostTexts = std::uint64_t{1} << 40;

std::string sum_text(const ExactSum& sum) {
  const auto [upper, lower] = sum.halves();
  return fmt::format("{:016x}{:016x}", upper, lower);
}

// "sum square n", the sums as 128-bit numbers of 2^-60.
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
  // Thirty thousand of them can be added up.
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

// Scores that no text has are left out.
void write_sums(JsonWriter& json, const ScoreMeans& means, std::size_t head) {
  for (const auto& [key, score] : kScoreNames) {
    if (const ScoreMeans::Sums& sums = means.sums(head, score); sums.n > 0) {
      json.member(key, sums_text(sums));
    }
  }
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

void write_reading_member(JsonWriter& json, const CorpusReading& reading) {
  json.begin_object("reading");
  if (reading.format) {
    json.member("format", word_for(kLineFormats, *reading.format));
  }
  if (reading.pair) {
    json.member("pair", *reading.pair);
  }
  if (reading.bos) {
    json.member("bos", *reading.bos);
  }
  json.member_if_any("special", reading.special);
  if (reading.truncate) {
    json.member("truncate", word_for(kTruncateSides, *reading.truncate));
  }
  if (reading.punctuation) {
    json.member("punctuation", *reading.punctuation);
  }
  json.end_object();
}

CorpusReading read_reading(const JsonNode& node) {
  CorpusReading reading;
  read_if_there(node, "format", reading.format,
                [](std::string_view word) { return parse_choice("format", word, kLineFormats); });
  read_if_there(node, "pair", reading.pair);
  read_if_there(node, "bos", reading.bos);
  read_if_there(node, "special", reading.special);
  read_if_there(node, "truncate", reading.truncate, [](std::string_view word) {
    return parse_choice("truncate", word, kTruncateSides);
  });
  if (const auto punctuation = node.find("punctuation")) {
    reading.punctuation = read_indices(*punctuation);
  }
  return reading;
}

}  // namespace

void write_corpus_scores(const CorpusScores& scores, const ByteSink& sink) {
  JsonWriter json(sink);
  json.begin_object();
  json.member("schema", kSchema);
  json.key("model");
  write_datum(json, model_record(scores.model));
  json.member("model_fingerprint", scores.model_print);
  json.member("tokenizer_fingerprint", scores.tokenizer_print);
  write_members(json, run_record(scores.run));
  json.member("band", scores.band);
  if (scores.reading) {
    write_reading_member(json, *scores.reading);
  }
  json.member_if_any("n_longest", scores.n_longest);
  json.member("n_lines", scores.n_lines);
  if (!scores.lines_print.empty()) {
    json.member("lines_fingerprint", scores.lines_print);
  }
  if (!scores.merged_prints.empty()) {
    json.list("merged_fingerprints", scores.merged_prints, std::identity{});
  }
  json.member("n_texts", scores.raw.n_texts());
  json.begin_object("uniform");
  write_sums(json, scores.uniform, 0);
  json.end_object();
  std::size_t index = 0;
  json.objects("heads", scores.heads, [&](HeadId head) {
    json.member("layer", head.layer);
    json.member("head", head.head);
    json.begin_object("raw");
    write_sums(json, scores.raw, index);
    json.end_object();
    json.begin_object("weighted");
    write_sums(json, scores.weighted, index);
    json.end_object();
    ++index;
  });
  json.end_object();
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
  if (root.at("schema").as_string() != kSchema) {
    root.at("schema").fail(fmt::format("expected \"{}\"", kSchema));
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
