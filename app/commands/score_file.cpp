#include "commands/score_file.h"

#include <fmt/core.h>

#include <string>
#include <string_view>
#include <vector>

#include "attnviz/analysis/heads/score_run.h"
#include "attnviz/attention/head_selection.h"
#include "attnviz/core/error.h"
#include "attnviz/core/mapped_file.h"
#include "attnviz/core/message.h"
#include "attnviz/document/corpus_scores.h"
#include "attnviz/document/json/attention_reader.h"
#include "attnviz/document/json/corpus_scores_json.h"
#include "attnviz/document/patterns/pattern_scores.h"
#include "attnviz/document/weight_notes.h"

namespace attnviz::app {

namespace {

ScoredTokens tokens_of(const HeadsOptions& options, const AttentionDocument& document) {
  TokenizedText text;
  for (const std::string& token : document.query_tokens) {
    text.tokens.emplace_back().text = token;
  }
  const ScoredTokens::Options how = how_scored(options, text);
  const std::vector<TokenId> ids = options.input.ids.value_or(document.token_ids);
  if (ids.empty()) {
    return {text.size(), how};
  }
  if (ids.size() != text.size()) {
    throw Error(ErrorKind::kUsage,
                fmt::format("--ids: {} ids for {} tokens", ids.size(), text.size()));
  }
  return {ids, how};
}

// Sums are of what was asked for when they were made.
HeadsDocument read_sums(const HeadsOptions& options, std::string_view bytes,
                        const std::string& name) {
  const CorpusScores sums = read_corpus_scores(bytes, name);
  const bool is_band_asked = options.asks_band && options.band != sums.band;
  const char* const option = !options.heads.heads.empty()    ? "--head"
                             : !options.heads.layers.empty() ? "--layer"
                             : options.input.ids             ? "--ids"
                             : options.punctuation           ? "--punctuation"
                             : options.transformer_lens      ? "--transformer-lens"
                             : is_band_asked                 ? "--band"
                                                             : nullptr;
  if (option != nullptr) {
    throw Error(ErrorKind::kUsage,
                fmt::format("{}: {} holds sums, which were made without it", option, name));
  }
  return sums.document();
}

}  // namespace

ScoredTokens::Options how_scored(const HeadsOptions& options, const TokenizedText& text) {
  ScoredTokens::Options how;
  how.band = options.band;
  how.punctuation = options.punctuation.value_or(punctuation_of(text));
  return how;
}

HeadsDocument score_file(const HeadsOptions& options) {
  const MappedFile file(*options.patterns);
  const std::string name = options.patterns->string();
  if (are_corpus_scores(file.bytes())) {
    return read_sums(options, file.bytes(), name);
  }
  std::vector<ReadDocument> read = read_attention(file.bytes(), name, {});
  if (read.size() > 1) {
    throw Error(ErrorKind::kUsage,
                fmt::format("{}: {} documents; score them one by one", name, read.size()));
  }
  AttentionDocument& patterns = read.front().document;
  if (patterns.kind != PatternKind::kWeights) {
    throw Error(ErrorKind::kUsage,
                fmt::format("{}: these are {}; heads scores attention weights (--show weights)",
                            name, word_for(kPatternKinds, patterns.kind)));
  }
  if (patterns.part == AttentionPart::kCross ||
      patterns.query_tokens.size() != patterns.key_tokens.size()) {
    throw Error(ErrorKind::kUnsupported,
                name + ": queries and keys are not the same tokens, which scores compare");
  }
  keep_patterns(patterns,
                select_heads(heads_of(patterns), options.heads.heads, options.heads.layers));
  const ScoredTokens tokens = tokens_of(options, patterns);
  if (options.transformer_lens && !tokens.has_ids()) {
    throw Error(ErrorKind::kUsage,
                fmt::format("--transformer-lens: {} has no token ids; give --ids", name));
  }
  HeadsDocument document;
  document.model = patterns.model;
  document.run = patterns.run;
  document.source = FileSource{name, tokens.size()};
  document.heads = heads_of(patterns);
  document.raw = ScoreMeans(document.heads.size());
  if (const std::string note = row_sum_note(patterns); !note.empty()) {
    document.notes.push_back(note);
  }
  if (std::string note = visibility_note(document.run, document.heads, tokens.size());
      !note.empty()) {
    document.notes.push_back(std::move(note));
  }
  if (patterns.average) {
    document.notes.emplace_back(patterns.average->rollout
                                    ? "attention rollout through all layers, not a head's own"
                                    : "means over several heads, not a head's own");
  }
  DetectHead detect(document.heads, tokens);
  try {
    const PatternScores scores =
        pattern_scores(patterns, tokens, options.transformer_lens ? &detect : nullptr);
    document.raw.add(scores.heads);
    document.uniform = scores.uniform;
    if (scores.n_hidden > 0) {
      document.notes.push_back(fmt::format("{} on keys that the mask hides: they count as 0",
                                           counted(scores.n_hidden, "weight")));
    }
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("{}: {}", name, error.what()));
  }
  if (options.transformer_lens) {
    for (const HeadId head : document.heads) {
      document.detected.push_back(detected_scores(detect, head));
    }
  }
  return document;
}

}  // namespace attnviz::app
