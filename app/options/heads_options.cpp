// The options of attnviz heads and merge.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "options/option_groups.h"
#include "options/option_values.h"

namespace attnviz::app {

namespace {

// Options that give a text.
const OptionNames kTexts = {kText, "--file", "--ids", "--lines", "--json-lines", "--messages"};

void define_probe(OptionList& list, HeadsOptions& options) {
  constexpr std::uint64_t kMostTokens = 1'000'000;
  constexpr std::uint64_t kMostProbes = 10'000;
  list.add_value("Input", "--probe-length", "T",
                 "without a text: test on T different random tokens (default 25)",
                 options.probe.length, count_between(2, kMostTokens));
  list.add_value("Input", "--probe-repeats", "R", "repeat these tokens R times (default 4)",
                 options.probe.repeats, count_between(2, kMostTokens));
  list.add_value("Input", "--probe-count", "N", "use N such sequences (default 4)",
                 options.probe.count, count_between(1, kMostProbes));
  list.add_value("Input", "--probe-seed", "N",
                 fmt::format("seed of the random tokens (default {})", options.probe.seed),
                 options.probe.seed, count_between(0, std::numeric_limits<std::uint64_t>::max()));
  list.add_value("Input", "--probe-ids", "FILE",
                 "your own test sequences: a JSON list of lists of token ids", options.probe_ids)
      .conflicts({"--probe-length", "--probe-repeats", "--probe-count", "--probe-seed"});
  for (const char* const name :
       {"--probe-length", "--probe-repeats", "--probe-count", "--probe-seed", "--probe-ids"}) {
    list.row(name).conflicts(kTexts, ": the test on random tokens takes no text");
  }
  list.row("--probe-length").about("probe length");
  list.row("--probe-repeats").about("probe length");
}

Score parse_score(std::string_view option, const std::string& word) {
  return parse_choice(option, word, kScoreNames);
}

std::pair<Score, double> parse_least(const std::string& word) {
  const std::size_t sign = word.find('=');
  if (sign == std::string::npos) {
    throw Error(ErrorKind::kUsage, fmt::format("--min: expected SCORE=NUMBER, found \"{}\"", word));
  }
  return {parse_score("--min", word.substr(0, sign)),
          static_cast<double>(parse_decimal("--min", word.substr(sign + 1)))};
}

void define_scores(OptionList& list, HeadsOptions& options) {
  HeadsTableChoice& table = options.table;
  list.add_value("Attention", "--band", "W",
                 "width of the score band: keys up to W tokens away (default 4)",
                 [&options](const std::string& word) {
                   options.band = parse_count("--band", word, 0, 1'000'000);
                   options.asks_band = true;
                 });
  list.add_value("Attention", "--punctuation", "INDICES",
                 "indices of punctuation tokens: 3,7 (default: judged by their text)",
                 options.punctuation, [](const std::string& word) {
                   const std::vector<TokenId> indices = parse_ids("--punctuation", word);
                   return std::vector<std::size_t>(indices.begin(), indices.end());
                 });
  list.add_flag("Attention", "--transformer-lens",
                "in JSON, also the scores of TransformerLens' detect_head",
                options.transformer_lens);
  list.add_flag(
      "Attention", "--copying",
      "measure whether heads copy, from their weights alone: eigenvalues of W_E W_V W_O W_U",
      options.copying);
  list.add_choice("Attention", "--known", kKnownModels,
                  "mark the heads of GPT-2 small that papers name", options.known);
  list.add_value("Output", "--score", "SCORE",
                 fmt::format("draw a map of this score instead of the table: {}",
                             joined_by(choice_words(kScoreNames), ", ")),
                 options.map, parse_score)
      .proposes(choice_words(kScoreNames))
      .common();
  list.add_value("Output", "--sort", "SCORE",
                 "largest score first (default: identified heads first)", table.ranking.sort,
                 parse_score)
      .proposes(choice_words(kScoreNames))
      .only_in(Effect::kTable)
      .common();
  list.add_value("Output", "--top", "N", "only the first N heads of the table; 0: all (default 12)",
                 table.top, count_between(0, 1'000'000))
      .only_in(Effect::kTable);
  std::vector<std::string> bounds = choice_words(kScoreNames);
  std::ranges::for_each(bounds, [](std::string& name) { name += '='; });
  list.add_list("Output", "--min", "SCORE=V",
                "only heads with at least this score; may be repeated",
                [&table](const std::vector<std::string>& words) {
                  for (const std::string& word : words) {
                    table.ranking.at_least.push_back(parse_least(word));
                  }
                })
      .proposes(std::move(bounds))
      .only_in(Effect::kTable);
  list.add_value("Output", "--columns", "SCORES", "the scores in the table, separated by commas",
                 [&table](const std::string& words) {
                   for (const std::string_view word : list_parts(words)) {
                     table.columns.push_back(parse_score("--columns", std::string(word)));
                   }
                 })
      .proposes(choice_words(kScoreNames))
      .only_in(Effect::kTable);
  list.add_value("Output", "--partial", "FILE",
                 "with --lines: keep the sums in this file while texts are read, for --resume and "
                 "attnviz merge",
                 options.partial)
      .needs({"--lines", "--json-lines"}, ": it keeps sums over many texts");
  list.add_flag("Output", "--resume",
                "with --partial: continue after the lines that it already counts", options.resume)
      .needs({"--partial"});
  list.add_list("Output", "--expect", "WHAT",
                "exit with code 5 unless this holds (count N: for exactly N heads): \"5.5 "
                "induction>0.8\", \"any induction>0.8\", \"count 3 previous>=0.4\", or a name: "
                "\"5.5 induction\", \"0.1 previous-token>0.85\"; may be repeated",
                [&options](const std::vector<std::string>& words) {
                  for (const std::string& word : words) {
                    options.expected.emplace_back(word);
                  }
                })
      .common();
}

}  // namespace

void define_heads(OptionList& list, HeadsOptions& options) {
  options.input.may_be_absent = true;
  define_input(list, options.input);
  list.row(kText).excluded = {{{"--file", "--messages"}, ""}};  // TEXT may also be a file of tokens
  define_many_texts(list, options.input);
  define_model(list, options);
  define_attention(list, options, "all");
  define_probe(list, options);
  define_scores(list, options);
  define_files(list, options.output, Result::kReport);
  define_text_style(list, options.look);
  define_colormap(list, options.drawing);
  define_figure(list, options.drawing, options.look);
  define_run(list, options);
  for (const char* const name : {"--chat", "--system", "--pair", "--special", "--lint-prompt",
                                 "--truncate", "--punctuation"}) {
    list.row(name).needs(kTexts,
                         ": without a text, heads uses random tokens; attnviz heads - reads a text "
                         "from standard input");
  }
}

void define_merge(OptionList& list, MergeOptions& options) {
  list.add_positionals(kFile, options.files);
  list.add_value("Output", "-o,--output", "FILE", "write here (default: standard output)",
                 options.output);
  define_verbosity(list, options.verbosity);
}

}  // namespace attnviz::app
