// show between its options and its pictures: what these options come to for all texts, each text
// ready to be run, one such run, and the ways to a picture that are long enough for a source of
// their own.
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

/// For all texts.
struct ShowSetup : AttentionSetup {
  explicit ShowSetup(const ShowOptions& options);

  const ShowOptions& options;
  std::unique_ptr<Tokenizer> tokenizer;
  std::vector<HeadId> heads;  // with --show decay states, with --show router layers with experts
};

/// One of them: its tokens, also those that the model has written after it, and which of them were
/// asked for.
struct PreparedText {
  /// Says what a person should hear of the text. Throws what its parts throw.
  PreparedText(ShowSetup& setup, const InputText& input);
  PreparedText(const PreparedText&) = delete;
  PreparedText& operator=(const PreparedText&) = delete;

  /// What stands beside the pictures.
  const TokenizedText& shown() const noexcept { return folded ? folded->text : tokens; }

  TokenizedText tokens;
  AttentionRequest request;
  std::optional<Continuation> continuation;
  std::optional<FoldedText> folded;  // what patterns are over instead of tokens
  std::optional<Focus> focus;
  Predictor predictor;
};

/// One run over a text for the weights of the chosen heads, and what it gives besides.
class TextRun {
 public:
  /// All must outlive it.
  TextRun(const ShowSetup& setup, PreparedText& text, const AttentionRequest& request);

  /// Hands the weights over what is shown to `patterns`.
  void attend(PatternSink& patterns, const Verbosity& verbosity);

  /// Adds to a document of these heads, once they have attended, what stands beside its weights.
  void add_to(AttentionDocument& document);

 private:
  const ShowSetup& setup_;
  PreparedText& text_;
  const AttentionRequest& request_;
  RouterStore router_;
  SinkStore sinks_;
  std::optional<TurnAttention> turns_;
};

/// Warns when nearly all of a picture has one colour, and says what helps, unless its scale was
/// asked for. Weights that were not kept are judged by the cells of `grid`.
void note_flat(ShowSetup& setup, const ShownAttention& shown,
               const std::optional<PoolGrid>& grid = std::nullopt);

/// Whether the attention of a text is too large to be kept, or need not be: its overview, for which
/// no pattern is needed whole; and patterns so large that keeping them would cost more than doing
/// without. Not where what is asked for cannot do without: means, words, single tokens, variants
/// side by side.
bool should_stream(const ShowSetup& setup, const PreparedText& text);

/// Writes such attention, and draws it together into pictures, while it is computed. Throws
/// Error{kUsage} before any work when there is not enough memory, or heads do not fit a format; and
/// whatever attention and outputs throw.
void show_streamed(ShowSetup& setup, PreparedText& text);

/// Throws Error{kUsage} for what only encoder-decoders have, where the model is none; for what is
/// not drawn of them; and where nothing says what the decoder reads.
void check_architecture(const ShowOptions& options, const Model& model);

/// Runs an encoder-decoder over one text and what its decoder has read or writes: the attention of
/// the encoder, of the decoder, or between them, as was asked for, beside the others where a
/// document is written; the token in focus stands in its drawing. Throws Error{kUsage} before any
/// work when there is not enough memory, and what its parts throw. Precondition: the model has an
/// encoder, and check_architecture().
AttentionDocument encoder_decoder_document(ShowSetup& setup, const InputText& input);

// Reports the keys and tensors of a model's files that were not read.

/// Warns, unless quiet, about the unknown ones of the model `name`: the first few, or with
/// --verbose all of them and also the harmless ones, with the reason. Throws Error{kUnsupported} if
/// there are unknown ones and talk is strict.
void report_unread_keys(std::string_view name, std::span<const IgnoredKey> ignorable,
                        std::span<const std::string> unknown, const Verbosity& verbosity);

/// As above, for a model.
void report_unread_keys(const ModelConfig& config, const Verbosity& verbosity);

/// As above, for the file of a model's tokenizer, if it has one; its unknown keys become the
/// model's.
void report_unread_keys(ModelConfig& config, const Tokenizer& tokenizer,
                        const Verbosity& verbosity);
/// The same of keys that are known already.
void report_unread_keys(ModelConfig& config, std::span<const IgnoredKey> ignorable,
                        std::span<const std::string> unknown, const Verbosity& verbosity);

/// As above, for a tokenizer without a model.
void report_unread_keys(std::string_view name, const Tokenizer& tokenizer,
                        const Verbosity& verbosity);

}  // namespace attnviz::app
