// Scores of heads over many texts, some of which may have been read elsewhere. Sums of head scores
// as files: the format `attnviz.heads-partial/1`.
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

/// What a line of an input is.
enum class LineFormat { kText, kJson };

inline constexpr std::array kLineFormats = {Choice{"lines", LineFormat::kText},
                                            Choice{"json-lines", LineFormat::kJson}};

/// How the lines of an input become tokens, where a tokenizer leaves that open.
struct CorpusReading {
  // Of several inputs neither.
  std::optional<LineFormat> format = {};
  std::optional<std::string> pair = {};  // the second text of lines that have none of their own

  std::optional<bool> bos = {};  // absent: as the tokenizer has it
  bool special = false;          // names of special tokens are these tokens
  std::optional<TruncateSide> truncate = {};
  // Indices of tokens, in order and each once; absent: as the texts are.
  std::optional<std::vector<std::size_t>> punctuation = {};
};

/// Sums that can be kept, gone on with and brought together.
struct CorpusScores {
  /// Of these heads, of no text.
  explicit CorpusScores(std::vector<HeadId> chosen)
      : heads(std::move(chosen)), raw(heads.size()), weighted(heads.size()) {}

  std::string model_print;      // model_fingerprint()
  std::string tokenizer_print;  // tokenizer_fingerprint()
  ModelFacts model;
  RunFacts run;
  std::size_t band = kUsualBand;
  std::size_t n_longest = 0;  // tokens of the longest text; 0 where it is not known
  std::size_t n_lines = 0;    // of the input, that have been read; of several inputs 0
  std::string lines_print;    // LinesRead::fingerprint() of these; of several inputs empty
  std::vector<std::string> merged_prints;     // of several inputs: of the lines of each
  std::optional<CorpusReading> reading = {};  // absent: not known, in files that do not say it
  std::vector<HeadId> heads;
  ScoreMeans raw;
  ScoreMeans weighted;
  ScoreMeans uniform{1};

  /// What both cannot be brought together for, in words; empty when they can.
  std::string difference(const CorpusScores& other) const;
  /// Why the other's lines are no beginning of this input's even where they have the same bytes;
  /// empty when nothing speaks against it.
  std::string input_difference(const CorpusScores& other) const;
  /// Of the lines of each input that is in it: what has one in common would count them twice.
  std::vector<std::string> prints() const;
  /// To be told of each text before its scores are added.
  void take_length(std::size_t n_tokens) noexcept;
  /// Adds the other's texts. Precondition: no difference.
  void add(const CorpusScores& other);

  /// With a note where the longest text is longer than some layers see, and others see more:
  /// `uniform` is of the first head's layer.
  HeadsDocument document() const;
};

/// Exact: what is read again adds up to the same bits.
void write_corpus_scores(const CorpusScores& scores, const ByteSink& sink);

/// Whether a file begins as such a document does.
bool are_corpus_scores(std::string_view bytes) noexcept;

/// `name` stands in front of every message. Throws Error{kMalformed}.
CorpusScores read_corpus_scores(std::string_view bytes, std::string_view name);

}  // namespace attnviz
