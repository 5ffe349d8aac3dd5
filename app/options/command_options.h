// What each command's line asks for, as plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "attnviz/analysis/analysis_requests.h"
#include "attnviz/analysis/heads/head_names.h"
#include "attnviz/analysis/heads/head_scores.h"
#include "attnviz/analysis/heads/probe.h"
#include "attnviz/analysis/model_shape.h"
#include "attnviz/model/mask.h"
#include "attnviz/report/report_requests.h"
#include "attnviz/text/tokenized_text.h"
#include "attnviz/text/units.h"
#include "options/options.h"
#include "options/what_if.h"

namespace attnviz {
enum class LessonKind;
}  // namespace attnviz

namespace attnviz::app {

struct ShowOptions : AttentionOptions {
  PatternOptions pattern;
  PatternKind kind = PatternKind::kWeights;
  // Of encoder-decoders: which attention is drawn, absent: cross; and what the decoder has read, a
  // text or all of its ids.
  std::optional<AttentionPart> part;
  std::optional<std::string> target;
  std::optional<std::vector<TokenId>> decoder_ids;
  std::optional<RolloutRequest> rollout;  // in place of the patterns
  std::vector<Variant> side_by_side;
  std::optional<Fold> fold;       // tokens of a word and the like as one
  std::size_t predict = 0;        // the most probable tokens
  std::optional<std::string> at;  // the place of these, as choose_token takes it
  std::size_t generate = 0;       // tokens behind the text
  bool live = false;              // a page in which the model runs
  DrawingOptions drawing;
};

struct InspectOptions : AttentionOptions {
  std::optional<std::string> query;   // as choose_token takes it; without one the last token, or
                                      // the one that speaks for the head that was chosen
  std::vector<InspectionStep> steps;  // empty: all
  bool full = false;
  bool explain = false;
  bool batch = false;
  std::optional<std::string> title;  // in place of the usual one
  LookOptions look;
};

struct HeadsOptions : AttentionOptions {
  std::optional<std::filesystem::path> patterns;  // attention to score in place of a run
  ProbeShape probe;                               // without any text
  std::optional<std::filesystem::path> probe_ids;
  std::size_t band = kUsualBand;
  bool asks_band = false;                               // by name: sums have one of their own
  std::optional<std::vector<std::size_t>> punctuation;  // indices of tokens; absent: as they are
  bool transformer_lens = false;
  bool copying = false;
  std::optional<KnownModel> known;
  std::optional<Score> map;  // of this score, in place of the table
  HeadsTableChoice table;
  std::vector<Expectation> expected;
  std::optional<std::filesystem::path> partial;  // where sums over many texts are kept
  bool resume = false;                           // go on with these
  DrawingRequest drawing;                        // of the map
  LookOptions look;
};

struct WhyOptions : AttentionOptions {
  std::optional<std::string> at;              // behind this token, as choose_token takes it
  std::optional<std::string> toward, versus;  // tokens; absent: the most probable ones
  bool tokens = false;                        // these parts alone; none: all of them
  bool attribution = false;
  std::vector<AblatedPart> ablate_each;
  bool lens = false;
  bool by_mean = false;                   // ablation
  std::optional<std::string> query, key;  // of the score that is split, as choose_token takes them
  std::size_t top = 8;                    // rows of a table; 0: all
  DrawingRequest drawing;                 // of the map
  LookOptions look;

  bool wants_all() const noexcept {
    return !tokens && !attribution && ablate_each.empty() && !lens;
  }
};

/// Which sentence of a text, or of documents before a question, an answer rests on.
struct CiteOptions : AttentionOptions {
  std::vector<std::filesystem::path> documents;  // "-" is standard input
  std::optional<std::string> answer;             // absent: the model's
  std::size_t generate = 32;                     // tokens of it
  std::size_t span_words = 0;                    // longer sentences are cut; 0: none
  bool print_prompt = false;                     // and nothing else
  bool retrieval_heads = false;                  // are measured first
  std::size_t top = 10;                          // rows of the table; 0: all
  float least_factor = 2.0f;                     // from which on a sentence matters
  DrawingRequest drawing;
  LookOptions look;
};

/// Two texts, or two models.
struct DiffOptions : AttentionOptions {
  std::vector<std::string> texts;        // without those of an option: TEXT, and one behind it
  std::vector<std::string> other_texts;  // of --text
  std::vector<std::string> models;       // as -m names them
  std::optional<ModelOptions> second;    // model
  bool map = false;                      // of all heads, in place of the table
  std::optional<std::size_t> top;        // rows of the table; 0: all
  std::optional<float> threshold;        // from where on residual streams are called apart
  DrawingOptions drawing;

  bool of_models() const noexcept { return second.has_value(); }
  bool draws_heads() const noexcept { return !heads.heads.empty(); }
};

struct RenderOptions {
  std::optional<std::filesystem::path> file;  // "-" or absent is standard input
  GivenTokens tokens;
  HeadOptions heads;
  std::optional<Mask> mask;
  std::optional<PatternKind> kind;    // absent: as the file says
  std::optional<AttentionPart> part;  // of an encoder-decoder; absent: as the file says
  bool softmax = false;               // of scores
  SoftmaxRequest of_scores;
  PatternOptions pattern;
  OutputOptions output;
  DrawingOptions drawing;
  Verbosity verbosity;
};

struct TokenizeOptions {
  InputOptions input;
  std::optional<GivenModel> model;  // absent: the tokenizer alone
  std::optional<std::string> tokenizer;
  bool json = false;
  bool print_prompt = false;  // the text that is tokenized, and nothing else
  Verbosity verbosity;
};

struct WeightsOptions {
  ModelOptions model;
  std::string output = "-";
  Verbosity verbosity;
};

/// What is printed, as text or as a JSON document.
struct PrintOptions : StyleOptions {
  bool json = false;
  Verbosity verbosity;
};

/// A model's file, or its sizes.
struct InfoOptions : PrintOptions {
  std::variant<GivenModel, DescribedModel> model;
  bool families = false;  // those that are read, in place of a model
};

/// Sums of head scores that are brought together.
struct MergeOptions {
  std::vector<std::filesystem::path> files;
  std::string output = "-";
  Verbosity verbosity;
};

/// The models on this machine.
struct ModelsOptions : PrintOptions {
  bool names = false;  // alone
};

/// Screens about attention, with numbers of a model.
struct TourOptions : StyleOptions {
  InputOptions input;  // no text: one of the tour's own
  ModelOptions model;
  std::optional<std::string> tokenizer;
  bool all = false;  // at once
  Verbosity verbosity;
};

/// One row of scores, taken through softmax.
struct SoftmaxOptions {
  std::vector<std::string> scores;  // words of numbers; "-", or none: standard input
  double divide_by = 1.0;
  double temperature = 1.0;
  OutputOptions output;
  DrawingRequest drawing;
  LookOptions look;
  Verbosity verbosity;
};

/// A lesson with one figure; without a name the list of all.
struct LessonOptions {
  std::optional<LessonKind> lesson;
  std::optional<std::uint64_t> seed;
  std::size_t n_threads = 1;
  OutputOptions output;
  DrawingRequest drawing;
  LookOptions look;
  Verbosity verbosity;
};

/// A word's vectors in several texts.
struct MeaningOptions : AttentionOptions {
  std::string word;
  std::vector<std::string> contexts;
  DrawingRequest drawing;
  LookOptions look;
};

/// --help or --version: text for standard output.
struct PrintText {
  std::string text;
};

using Command = std::variant<ShowOptions, InspectOptions, HeadsOptions, DiffOptions, WhyOptions,
                             CiteOptions, RenderOptions, TokenizeOptions, InfoOptions,
                             ModelsOptions, WeightsOptions, MergeOptions, TourOptions,
                             LessonOptions, SoftmaxOptions, MeaningOptions, PrintText>;

}  // namespace attnviz::app
