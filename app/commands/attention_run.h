// The steps that all commands computing attention share before and during a run.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "attnviz/analysis/token_roles.h"
#include "attnviz/attention/blocked_product.h"
#include "attnviz/attention/engine.h"
#include "attnviz/model/model.h"
#include "attnviz/picture/fonts/font_face.h"
#include "attnviz/report/run_facts.h"
#include "attnviz/text/tokenized_text.h"
#include "attnviz/text/tokenizer.h"
#include "commands/input.h"
#include "options/options.h"
#include "outputs/outputs.h"
#include "stores/model_source.h"
#include "system/diagnostics.h"

namespace attnviz::app {

/// The input files, which must not be overwritten.
std::vector<std::filesystem::path> read_files(const AttentionOptions& options,
                                              const ModelSource& source);

/// Everything that a command computing attention opens before its first text. The order ensures
/// that all errors are found before slow work: first the engine is chosen, then text, fonts,
/// outputs and model are opened.
struct AttentionSetup {
  /// `also_read`: further files that must not be overwritten. Throws what its parts throw.
  AttentionSetup(const AttentionOptions& options, const LookOptions& look, Result result,
                 bool side_by_side = false,
                 const std::vector<std::filesystem::path>& also_read = {});

  Phases phases;
  Diagnostics diagnostics;
  TextSource source;
  std::unique_ptr<FontSet> fonts;
  ModelSource origin;  // the model's source
  Outputs outputs;
  Model model;
};

/// The chosen heads, from select_heads(). Warns, unless quiet, if two numbers separated by a comma
/// were probably meant as the name of one head.
std::vector<HeadId> chosen_heads(const HeadOptions& options, const Model& model,
                                 const Verbosity& verbosity);

/// Opens the chosen tokenizer, or the model's own, and adds its name and the chat's end-of-text
/// tokens to `model`. Throws as open_tokenizer does.
std::unique_ptr<Tokenizer> chosen_tokenizer(const AttentionOptions& options, ModelSource& source,
                                            Model& model);

/// With --names, identifies the heads of the unmodified model by test, also for runs that change or
/// leave out parts. Throws what measured_names() throws.
void name_heads(const AttentionOptions& options, const Tokenizer& tokenizer, Model& model);

/// The tokens of a text for this model. With --truncate they are cut to its context, leaving room
/// for `n_after` more tokens, but for at most half of the context. Reports the cut, random parts
/// of the model, and a text whose words the embedded model has rarely seen; what concerns the text
/// rather than the model also becomes a note of the text. Throws as tokenize() does.
TokenizedText read_text(AttentionSetup& setup, const AttentionOptions& options,
                        const Tokenizer& tokenizer, const InputText& input,
                        std::size_t n_after = 0);

/// The request for one text: with the seed of dropout, the ablated parts of the model, and the
/// hidden edges of this text before the model continues it. Unless quiet, reports how words were
/// understood and which edges no head sees anyway, in any of the `variants` of the run and with
/// `n_written` generated tokens. Throws Error{kUsage} for parts or tokens that model or text do not
/// have.
AttentionRequest request_of(const AttentionOptions& options, const Model& model,
                            const TokenizedText& text, std::span<const Variant> variants = {},
                            std::size_t n_written = 0);

/// The facts of a run over several texts, in each of which --hide may mean different tokens. Throws
/// as above.
RunFacts facts_of_each(const AttentionOptions& options, const Model& model);

/// Calls run() and shows `what` on a progress line on a terminal. `encoded`: the encoder output
/// that a decoder attends to.
void attend(std::string_view what, const Model& model, const TokenizedText& text,
            const AttentionRequest& request, RunObserver& observer, const Verbosity& verbosity,
            ConstMatrix encoded = {});

/// As above, for the weights alone.
void attend(std::string_view what, const Model& model, const TokenizedText& text,
            const AttentionRequest& request, PatternSink& sink, const Verbosity& verbosity);

/// As above, for the attention of `heads`, which are all that `sink` takes, and for `observer`.
/// With --verbose, prints a few numbers about each head. Returns the share of attention on each
/// turn of a chat.
std::optional<TurnAttention> attend_to(const std::vector<HeadId>& heads, const Model& model,
                                       const TokenizedText& text, const AttentionRequest& request,
                                       PatternSink& sink, RunObserver& observer,
                                       const Verbosity& verbosity);

}  // namespace attnviz::app
