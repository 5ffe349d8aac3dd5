// What commands share of what a command line asks for, as plain values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "attnviz/analysis/analysis_requests.h"
#include "attnviz/attention/request.h"
#include "attnviz/core/choices.h"
#include "attnviz/model/model.h"
#include "attnviz/model/random_shape.h"
#include "attnviz/picture/layout/figure_style.h"
#include "attnviz/report/report_requests.h"
#include "attnviz/terminal/page/terminal_options.h"
#include "attnviz/text/token_choice.h"
#include "attnviz/text/tokenized_text.h"
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

}  // namespace attnviz::app
