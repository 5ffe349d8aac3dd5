// Options that commands share, as plain values.
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

/// The embedded model's name for --model; it takes precedence over a file of that name.
inline constexpr const char* kDemo = "demo";

/// The embedded demo model.
struct EmbeddedModel {};

/// A file, a folder or a model on this machine, as find_model() takes it.
struct NamedModel {
  std::string name;
};

/// A value of -m.
using GivenModel = std::variant<EmbeddedModel, NamedModel>;

/// Absent: chosen to suit the output.
using StyleChoice = std::optional<TerminalStyle>;
enum class ColorChoice { kAuto, kAlways, kNever };

/// The names of the styles. Text other than a drawing has only the first three.
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
/// Whether the style changes the figure, in pictures too.
inline bool draws_arcs(StyleChoice style) noexcept {
  return style && attnviz::draws_arcs(*style);
}
inline constexpr std::array kColors = {Choice{"auto", ColorChoice::kAuto},
                                       Choice{"always", ColorChoice::kAlways},
                                       Choice{"never", ColorChoice::kNever}};

struct Format;

/// The source of the texts. Without one: standard input.
struct InputOptions {
  std::optional<std::string> text;  // "-" is standard input
  std::optional<std::filesystem::path> file;
  std::optional<std::vector<TokenId>> ids;
  bool lines = false;
  bool json_lines = false;
  std::optional<std::string> pair;             // a second text
  std::optional<bool> bos;                     // add BOS or not; absent: the tokenizer decides
  bool special = false;                        // parse names of special tokens in the text
  bool chat = false;                           // the text is a user's message in a chat
  std::optional<std::string> system;           // the system message before it
  bool messages = false;                       // the file is a JSON list of messages
  std::optional<std::filesystem::path> tools;  // a JSON list of tools that the model may call
  bool generation_prompt = true;               // add the beginning of the answer
  bool lint_prompt = false;                    // treat mistakes in a prompt as errors

  bool may_be_blank = false;   // accept a text of white space, which has tokens but no picture
  bool may_be_absent = false;  // without a source: no text instead of standard input

  bool many_texts() const noexcept { return lines || json_lines; }
  /// Whether any source of text was given.
  bool is_given() const noexcept { return text || file || ids || many_texts(); }
  bool reads_stdin() const {
    return text ? *text == "-" : file ? *file == "-" : !ids && (!may_be_absent || many_texts());
  }
};

/// The model, or the sizes of a random one, and the changes to it.
struct ModelOptions {
  std::variant<GivenModel, RandomShape> model;
  std::optional<std::uint64_t> seed;
  std::optional<Positions> positions;
};

struct Verbosity {
  bool quiet = false;
  bool verbose = false;
  bool strict = false;                  // unknown keys or tensors in a model's files are an error
  std::vector<GivenOption> given = {};  // on the command line
};

/// How printed output looks.
struct StyleOptions {
  StyleChoice style;
  ColorChoice color = ColorChoice::kAuto;
};

/// How a command's drawings look.
struct LookOptions : StyleOptions {
  FigureStyle figure;                        // style of PNG and SVG files
  std::vector<std::filesystem::path> fonts;  // for characters that the embedded font lacks
};

/// How pictures of attention look.
struct DrawingOptions : LookOptions {
  DrawingRequest request;
};

/// The chosen heads, as select_heads takes them.
struct HeadOptions {
  std::string layers;
  std::string heads;
};

/// The outputs besides the drawing.
struct OutputOptions {
  std::vector<std::string> files;  // "-" is standard output
  const Format* format = nullptr;  // if the file name does not determine it
  bool json = false;
  bool force = false;         // regardless of the output's size
  ShellCommand command = {};  // computes the same result
};

/// Options of every command that computes attention.
struct AttentionOptions {
  InputOptions input;
  ModelOptions model;
  std::optional<std::string> tokenizer;
  std::optional<TruncateSide> truncate;  // side to cut if a text exceeds the context
  AttentionRequest request;
  WhatIf what_if;  // parts that the request leaves out
  HeadOptions heads;
  bool names = false;  // identify the heads by test first
  bool takes_encoder_decoders = false;
  OutputOptions output;
  std::string simd = "auto";
  Verbosity verbosity;
};

/// The part of the patterns that is drawn.
struct PatternOptions {
  std::optional<AverageOver> average;
  std::optional<std::string> focus;  // as choose_token takes it
  bool as_key = false;               // the focus is a key
};

}  // namespace attnviz::app
