// Scores of heads over many texts, some of which may come from other runs. Sums of head scores as
// files: the format `attnviz.heads-partial/1`.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attnviz/analysis/heads/head_scores.h"
#include "attnviz/core/choices.h"
#include "attnviz/core/mapped_file.h"
#include "attnviz/report/heads_document.h"
#include "attnviz/report/run_facts.h"
#include "attnviz/text/token_choice.h"

namespace attnviz {

/// The format of an input line.
enum class LineFormat { kText, kJson };

inline constexpr std::array kLineFormats = {Choice{"lines", LineFormat::kText},
                                            Choice{"json-lines", LineFormat::kJson}};

/// How input lines become tokens, as far as the tokenizer leaves it open.
struct CorpusReading {
  // Both absent for several inputs.
  std::optional<LineFormat> format = {};
  std::optional<std::string> pair = {};  // the second text of lines without one of their own

  std::optional<bool> bos = {};  // absent: as the tokenizer is configured
  bool special = false;          // names of special tokens in a text become these tokens
  std::optional<TruncateSide> truncate = {};
  // Indices of tokens, in order and each once; absent: determined by the texts.
  std::optional<std::vector<std::size_t>> punctuation = {};
};

/// Sums of scores that can be saved, continued and merged.
struct CorpusScores {
  /// Empty sums for these heads.
  explicit CorpusScores(std::vector<HeadId> chosen)
      : heads(std::move(chosen)), raw(heads.size()), weighted(heads.size()) {}

  std::string model_print;      // model_fingerprint()
  std::string tokenizer_print;  // tokenizer_fingerprint()
  ModelFacts model;
  RunFacts run;
  std::size_t band = kUsualBand;
  std::size_t n_longest = 0;  // tokens of the longest text; 0: unknown
  std::size_t n_lines = 0;    // lines of the input read so far; 0 for several inputs
  std::string lines_print;    // LinesRead::fingerprint() of these; empty for several inputs
  std::vector<std::string> merged_prints;     // for several inputs: one per input
  std::optional<CorpusReading> reading = {};  // absent: unknown, if a file does not state it
  std::vector<HeadId> heads;
  ScoreMeans raw;
  ScoreMeans weighted;
  ScoreMeans uniform{1};

  /// The reason why both cannot be merged, in words; empty if they can.
  std::string difference(const CorpusScores& other) const;
  /// The reason why the other's lines are not the beginning of this input, even if their bytes are
  /// the same; empty if nothing rules it out.
  std::string input_difference(const CorpusScores& other) const;
  /// Fingerprints of the lines of each input: merging sums with a common fingerprint would count
  /// lines twice.
  std::vector<std::string> prints() const;
  /// Must be called for each text before its scores are added.
  void take_length(std::size_t n_tokens) noexcept;
  /// Adds the other's texts. Precondition: no difference.
  void add(const CorpusScores& other);

  /// Includes a note if the longest text exceeds what some layers see while others see more:
  /// `uniform` belongs to the first head's layer.
  HeadsDocument document() const;
};

/// Writes the sums exactly: reading them back gives the same bits.
void write_corpus_scores(const CorpusScores& scores, const ByteSink& sink);

/// Whether a file begins like a document of this format.
bool are_corpus_scores(std::string_view bytes) noexcept;

/// `name` begins every message. Throws Error{kMalformed}.
CorpusScores read_corpus_scores(std::string_view bytes, std::string_view name);

}  // namespace attnviz
