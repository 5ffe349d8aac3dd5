// The parts of show between its options and its pictures: the setup for all texts, a text that is
// ready to be run, one run over it, and the longer ways to a picture.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/analysis/run_stores.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/core/unread.h"
#include "attnviz/model/model.h"
#include "attnviz/report/attention_document.h"
#include "attnviz/text/tokenized_text.h"
#include "attnviz/text/tokenizer.h"
#include "attnviz/text/units.h"
#include "commands/attention_run.h"
#include "commands/input.h"
#include "commands/prediction.h"
#include "options/command_options.h"

namespace attnviz::app {

/// The setup for all texts.
struct ShowSetup : AttentionSetup {
  explicit ShowSetup(const ShowOptions& options);

  const ShowOptions& options;
  std::unique_ptr<Tokenizer> tokenizer;
  std::vector<HeadId> heads;  // states with --show decay, layers with experts with --show router
};

/// One text: its tokens, including those that the model has generated, and the tokens to draw.
struct PreparedText {
  /// Reports problems of the text. Throws what its parts throw.
  PreparedText(ShowSetup& setup, const InputText& input);
  PreparedText(const PreparedText&) = delete;
  PreparedText& operator=(const PreparedText&) = delete;

  /// The tokens or words that label the pictures.
  const TokenizedText& shown() const noexcept { return folded ? folded->text : tokens; }

  TokenizedText tokens;
  AttentionRequest request;
  std::optional<Continuation> continuation;
  std::optional<FoldedText> folded;  // if patterns are over words instead of tokens
  std::optional<Focus> focus;
  Predictor predictor;
};

/// One run over a text for the weights of the chosen heads and the data shown with them.
class TextRun {
 public:
  /// All arguments must outlive it.
  TextRun(const ShowSetup& setup, PreparedText& text, const AttentionRequest& request);

  /// Passes the weights, merged to words if these are shown, to `patterns`.
  void attend(PatternSink& patterns, const Verbosity& verbosity);

  /// After attend(), adds the data besides the weights to a document of these heads.
  void add_to(AttentionDocument& document);

 private:
  const ShowSetup& setup_;
  PreparedText& text_;
  const AttentionRequest& request_;
  RouterStore router_;
  SinkStore sinks_;
  std::optional<TurnAttention> turns_;
};

/// Warns if nearly all of a picture has one colour, with a remedy, unless its scale was given.
/// Weights that were not kept are judged by the cells of `grid`.
void note_flat(ShowSetup& setup, const ShownAttention& shown,
               const std::optional<PoolGrid>& grid = std::nullopt);

/// Whether to stream a text's attention instead of keeping it: if its patterns are so large that
/// keeping them would cost more than doing without, or for an overview, which needs no whole
/// pattern. False for output that needs kept patterns: means, words, single tokens, variants side
/// by side.
bool should_stream(const ShowSetup& setup, const PreparedText& text);

/// Writes and draws this attention while it is computed. Throws Error{kUsage} before any work if
/// memory is short or heads do not fit a format, and everything that attention and outputs throw.
void show_streamed(ShowSetup& setup, PreparedText& text);

/// Throws Error{kUsage} for options that only encoder-decoders have if the model is not one, for
/// options that cannot be drawn of encoder-decoders, and if no option gives the decoder's input.
void check_architecture(const ShowOptions& options, const Model& model);

/// Runs an encoder-decoder over one text and its decoder input, given or generated. Returns the
/// chosen attention (encoder, decoder or cross) with the focused token set in its drawing; if a
/// document is written, the other two stand beside it. Throws Error{kUsage} before any work if
/// memory is short, and what its parts throw. Preconditions: the model has an encoder, and
/// check_architecture() has passed.
AttentionDocument encoder_decoder_document(ShowSetup& setup, const InputText& input);

// Reports unread keys and tensors of a model's files.

/// Warns, unless quiet, about unknown keys and tensors of the model `name`: the first few, or with
/// --verbose all of them and also the ignorable ones, with the reason. Throws Error{kUnsupported}
/// if there are unknown ones and `verbosity` is strict.
void report_unread_keys(std::string_view name, std::span<const IgnoredKey> ignorable,
                        std::span<const std::string> unknown, const Verbosity& verbosity);

/// As above, for a model.
void report_unread_keys(const ModelConfig& config, const Verbosity& verbosity);

/// As above, for the file of a model's tokenizer, if it has one; adds its unknown keys to the
/// model's.
void report_unread_keys(ModelConfig& config, const Tokenizer& tokenizer,
                        const Verbosity& verbosity);
/// As above, for given keys.
void report_unread_keys(ModelConfig& config, std::span<const IgnoredKey> ignorable,
                        std::span<const std::string> unknown, const Verbosity& verbosity);

/// As above, for a tokenizer without a model.
void report_unread_keys(std::string_view name, const Tokenizer& tokenizer,
                        const Verbosity& verbosity);

}  // namespace attnviz::app
