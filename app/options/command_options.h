// The options of each command as plain values.
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
  // Encoder-decoders: the attention to draw (absent: cross) and the decoder's input, either as a
  // text or as all of its ids.
  std::optional<AttentionPart> part;
  std::optional<std::string> target;
  std::optional<std::vector<TokenId>> decoder_ids;
  std::optional<RolloutRequest> rollout;  // instead of the patterns
  std::vector<Variant> side_by_side;
  std::optional<Fold> fold;       // tokens of a word, for example, as one
  std::size_t predict = 0;        // this many most probable tokens
  std::optional<std::string> at;  // the position to predict at, as choose_token takes it
  std::size_t generate = 0;       // this many tokens after the text
  bool live = false;              // a page in which the model runs
  DrawingOptions drawing;
};

struct InspectOptions : AttentionOptions {
  std::optional<std::string> query;   // as choose_token takes it; absent: the last token, or,
                                      // without --head, the most informative query
  std::vector<InspectionStep> steps;  // empty: all
  bool full = false;
  bool explain = false;
  bool batch = false;
  std::optional<std::string> title;  // instead of the default one
  LookOptions look;
};

struct HeadsOptions : AttentionOptions {
  std::optional<std::filesystem::path> patterns;  // attention to score instead of a run
  ProbeShape probe;                               // used without a text
  std::optional<std::filesystem::path> probe_ids;
  std::size_t band = kUsualBand;
  bool asks_band = false;                               // set by --band: sums carry their own
  std::optional<std::vector<std::size_t>> punctuation;  // token indices; absent: by their texts
  bool transformer_lens = false;
  bool copying = false;
  std::optional<KnownModel> known;
  std::optional<Score> map;  // draw this score instead of the table
  HeadsTableChoice table;
  std::vector<Expectation> expected;
  std::optional<std::filesystem::path> partial;  // keeps sums over many texts
  bool resume = false;                           // continue from `partial`
  DrawingRequest drawing;                        // of the map
  LookOptions look;
};

struct WhyOptions : AttentionOptions {
  std::optional<std::string> at;              // predict after this token, as choose_token takes it
  std::optional<std::string> toward, versus;  // tokens; absent: the most probable ones
  bool tokens = false;                        // only these parts; none set: all of them
  bool attribution = false;
  std::vector<AblatedPart> ablate_each;
  bool lens = false;
  bool by_mean = false;                   // ablate to the mean instead of zero
  std::optional<std::string> query, key;  // of the score to split, as choose_token takes them
  std::size_t top = 8;                    // rows of a table; 0: all
  DrawingRequest drawing;                 // of the map
  LookOptions look;

  bool wants_all() const noexcept {
    return !tokens && !attribution && ablate_each.empty() && !lens;
  }
};

/// Options of cite: which sentence of a text, or of documents before a question, an answer rests
/// on.
struct CiteOptions : AttentionOptions {
  std::vector<std::filesystem::path> documents;  // "-" is standard input
  std::optional<std::string> answer;             // absent: the model writes it
  std::size_t generate = 32;                     // at most this many tokens of the answer
  std::size_t span_words = 0;                    // longer sentences are cut; 0: none are
  bool print_prompt = false;                     // and nothing else
  bool retrieval_heads = false;                  // measure them first
  std::size_t top = 10;                          // rows of the table; 0: all
  float least_factor = 2.0f;                     // a sentence matters from this factor on
  DrawingRequest drawing;
  LookOptions look;
};

/// Options of diff, for two texts or two models.
struct DiffOptions : AttentionOptions {
  std::vector<std::string> texts;        // positional: TEXT and the one after it
  std::vector<std::string> other_texts;  // of --text
  std::vector<std::string> models;       // as -m names them
  std::optional<ModelOptions> second;    // the second model
  bool map = false;                      // of all heads, instead of the table
  std::optional<std::size_t> top;        // rows of the table; 0: all
  std::optional<float> threshold;        // from which residual streams count as different
  DrawingOptions drawing;

  bool of_models() const noexcept { return second.has_value(); }
  bool draws_heads() const noexcept { return !heads.heads.empty(); }
};

struct RenderOptions {
  std::optional<std::filesystem::path> file;  // "-" or absent is standard input
  GivenTokens tokens;
  HeadOptions heads;
  std::optional<Mask> mask;
  std::optional<PatternKind> kind;    // absent: as in the file
  std::optional<AttentionPart> part;  // of an encoder-decoder; absent: as in the file
  bool softmax = false;               // apply softmax to scores
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
  bool print_prompt = false;  // print only the text that is tokenized
  Verbosity verbosity;
};

struct WeightsOptions {
  ModelOptions model;
  std::string output = "-";
  Verbosity verbosity;
};

/// Output that is printed as text or as a JSON document.
struct PrintOptions : StyleOptions {
  bool json = false;
  Verbosity verbosity;
};

/// A model's file, or a model described by its sizes.
struct InfoOptions : PrintOptions {
  std::variant<GivenModel, DescribedModel> model;
  bool families = false;  // list the supported families instead
};

/// Files of summed head scores to merge.
struct MergeOptions {
  std::vector<std::filesystem::path> files;
  std::string output = "-";
  Verbosity verbosity;
};

/// The models on this machine.
struct ModelsOptions : PrintOptions {
  bool names = false;  // print only the names
};

/// Lesson screens about attention, with numbers of a model.
struct TourOptions : StyleOptions {
  InputOptions input;  // no text: the tour's own
  ModelOptions model;
  std::optional<std::string> tokenizer;
  bool all = false;  // all screens at once
  Verbosity verbosity;
};

/// One row of scores to put through softmax.
struct SoftmaxOptions {
  std::vector<std::string> scores;  // numbers; "-" or none: standard input
  double divide_by = 1.0;
  double temperature = 1.0;
  OutputOptions output;
  DrawingRequest drawing;
  LookOptions look;
  Verbosity verbosity;
};

/// A lesson with one figure; without a name, the list of lessons.
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
