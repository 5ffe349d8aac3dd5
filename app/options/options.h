// What the command line asks for, as plain values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "attnviz/analysis/heads/head_names.h"
#include "attnviz/analysis/heads/probe.h"
#include "attnviz/analysis/model_shape.h"
#include "attnviz/analysis/rollout.h"
#include "attnviz/analysis/why/prediction_change.h"
#include "attnviz/attention/request.h"
#include "attnviz/model/model.h"
#include "attnviz/model/random_model.h"
#include "attnviz/page/explorer.h"
#include "attnviz/picture/layout/figure_style.h"
#include "attnviz/report/attention_heatmap.h"
#include "attnviz/report/json/attention_reader.h"
#include "attnviz/report/lessons/lesson.h"
#include "attnviz/report/patterns/step_patterns.h"
#include "attnviz/report/reports/reports.h"
#include "attnviz/report/steps/inspection_document.h"
#include "attnviz/terminal/page/terminal_options.h"
#include "attnviz/text/token_choice.h"
#include "attnviz/text/tokenized_text.h"
#include "attnviz/text/units.h"
#include "options/option_parser.h"
#include "options/what_if.h"

namespace attnviz::app {

inline constexpr std::uint64_t kDefaultSeed = 42;

/// What --model calls the embedded model: a name before any file's.
inline constexpr const char* kDemo = "demo";

/// The model in the box.
struct EmbeddedModel {};

/// A file, a folder or a model on this machine, as find_model() takes it.
struct NamedModel {
  std::string name;
};

/// What -m can say.
using GivenModel = std::variant<EmbeddedModel, NamedModel>;

/// Nothing: what suits the place.
using StyleChoice = std::optional<TerminalStyle>;
enum class ColorChoice { kAuto, kAlways, kNever };

/// The words for them. Text that is no drawing has the first three styles only.
inline constexpr std::array kStyles = {
    Choice{"auto", StyleChoice()},
    Choice{"ascii", StyleChoice(TerminalStyle::kAscii)},
    Choice{"blocks", StyleChoice(TerminalStyle::kBlocks)},
    Choice{"dots", StyleChoice(TerminalStyle::kDots)},
    Choice{"numbers", StyleChoice(TerminalStyle::kNumbers)},
    Choice{"mask", StyleChoice(TerminalStyle::kMask)},
    Choice{"arcs", StyleChoice(TerminalStyle::kArcs)},
    Choice{"arcs-ascii", StyleChoice(TerminalStyle::kArcsAscii)}};
inline constexpr std::size_t kTextStyles = 3;
/// Whether it is another figure, in pictures, too.
inline bool draws_arcs(StyleChoice style) noexcept {
  return style && attnviz::draws_arcs(*style);
}
inline constexpr std::array kColors = {Choice{"auto", ColorChoice::kAuto},
                                       Choice{"always", ColorChoice::kAlways},
                                       Choice{"never", ColorChoice::kNever}};

struct Format;

/// Where the texts come from. Nothing given: standard input.
struct InputOptions {
  std::optional<std::string> text;  // "-" is standard input
  std::optional<std::filesystem::path> file;
  std::optional<std::vector<TokenId>> ids;
  bool lines = false;
  bool json_lines = false;
  std::optional<std::string> pair;    // a second text
  std::optional<bool> bos;            // with or without it; absent: as the tokenizer does
  bool special = false;               // names of special tokens in the text are these tokens
  bool chat = false;                  // a text is what a user says in a chat
  std::optional<std::string> system;  // said before
  bool messages = false;              // the file is a JSON list of messages
  std::optional<std::filesystem::path> tools;  // a JSON list of tools that the model may call
  bool generation_prompt = true;               // add what begins the answer after the messages
  bool lint_prompt = false;                    // mistakes in a prompt are errors

  bool may_be_blank = false;   // a text of white space is accepted: it has tokens, but no picture
  bool may_be_absent = false;  // nothing given is no text, in place of standard input

  bool many_texts() const noexcept { return lines || json_lines; }
  /// Whether there is a text to read, wherever.
  bool is_given() const noexcept { return text || file || ids || many_texts(); }
  bool reads_stdin() const {
    return text ? *text == "-" : file ? *file == "-" : !ids && (!may_be_absent || many_texts());
  }
};

/// Which model, or the sizes of a random one, and what is changed of it.
struct ModelOptions {
  std::variant<GivenModel, RandomShape> model;
  std::optional<std::uint64_t> seed;
  std::optional<Positions> positions;
};

struct Verbosity {
  bool quiet = false;
  bool verbose = false;
  bool strict = false;                  // unknown keys or tensors in a model's files are an error
  std::vector<GivenOption> given = {};  // of the command line
};

/// How what is printed looks.
struct StyleOptions {
  StyleChoice style;
  ColorChoice color = ColorChoice::kAuto;
};

/// How a command's drawings look.
struct LookOptions : StyleOptions {
  FigureStyle figure;                        // of PNG and SVG files
  std::vector<std::filesystem::path> fonts;  // of these, for what the embedded font lacks
};

/// How pictures of attention look.
struct DrawingOptions : LookOptions {
  DrawingRequest request;
};

/// Which heads, as select_heads takes them.
struct HeadOptions {
  std::string layers;
  std::string heads;
};

/// Where a command's result goes besides the drawing.
struct OutputOptions {
  std::vector<std::string> files;  // "-" is standard output
  const Format* format = nullptr;  // where the name does not tell it
  bool json = false;
  bool force = false;         // however much it is
  ShellCommand command = {};  // that computes the same
};

/// What every command that computes attention takes.
struct AttentionOptions {
  InputOptions input;
  ModelOptions model;
  std::optional<std::string> tokenizer;
  std::optional<TruncateSide> truncate;  // of a text that is longer than the model's context
  AttentionRequest request;
  WhatIf what_if;  // what the request is to leave out
  HeadOptions heads;
  bool names = false;  // of heads are measured first
  bool takes_encoder_decoders = false;
  OutputOptions output;
  std::string simd = "auto";
  Verbosity verbosity;
};

/// What of the patterns is drawn.
struct PatternOptions {
  std::optional<AverageOver> average;
  std::optional<std::string> focus;  // as choose_token takes it
  bool as_key = false;               // the focus
};

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
