// What every command that computes attention does before and around it.
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

/// The files that must not be written over.
std::vector<std::filesystem::path> read_files(const AttentionOptions& options,
                                              const ModelSource& source);

/// What every command that computes attention opens before its first text, in this order, so that
/// whatever can be refused is refused before slow work: the engine is chosen; text, fonts, outputs
/// and model are opened.
struct AttentionSetup {
  /// Throws what its parts throw.
  /// Nor must `also_read` be written over.
  AttentionSetup(const AttentionOptions& options, const LookOptions& look, Result result,
                 bool side_by_side = false,
                 const std::vector<std::filesystem::path>& also_read = {});

  Phases phases;
  Diagnostics diagnostics;
  TextSource source;
  std::unique_ptr<FontSet> fonts;
  ModelSource origin;  // of the model
  Outputs outputs;
  Model model;
};

/// The heads that were chosen, as select_heads() says it. Says so, unless quiet, where two numbers
/// with a comma were probably meant as one head's name.
std::vector<HeadId> chosen_heads(const HeadOptions& options, const Model& model,
                                 const Verbosity& verbosity);

/// The tokenizer that was asked for, or the model's own; the model is told its name. Throws as
/// open_tokenizer does.
std::unique_ptr<Tokenizer> chosen_tokenizer(const AttentionOptions& options, ModelSource& source,
                                            Model& model);

/// Measures what the model's heads are called, where that was asked for: of the model as it is,
/// whatever a run changes or leaves out. Throws what measured_names() throws.
void name_heads(const AttentionOptions& options, const Tokenizer& tokenizer, Model& model);

/// The tokens of a text for this model, cut to its context when that was asked for; then with room
/// for `n_behind` more tokens, but for at most half of the context. What a person
/// should hear of that, of what in the model is random for the text, and of a text in words that
/// the embedded model has hardly met, is told, and is a note of the text where it is no fact of the
/// model. Throws as tokenize() does.
TokenizedText read_text(AttentionSetup& setup, const AttentionOptions& options,
                        const Tokenizer& tokenizer, const InputText& input,
                        std::size_t n_behind = 0);

/// The request for one text: with the seed that dropout takes, what is taken out of the model, and
/// the edges that are hidden in this text, before the model has written behind it. Says how words
/// were understood, and which edges nobody sees anyway, in none of the `variants` that it is to be
/// run in, nor when the model has written `n_written` tokens, unless quiet. Throws Error{kUsage}
/// for what model or text do not have.
AttentionRequest request_of(const AttentionOptions& options, const Model& model,
                            const TokenizedText& text, std::span<const Variant> variants = {},
                            std::size_t n_written = 0);

/// What is said of a run over several texts, in each of which other tokens may be meant. Throws as
/// above.
RunFacts facts_of_each(const AttentionOptions& options, const Model& model);

/// run(), with a line of progress on a terminal that says `what` is under way. `encoded` is what a
/// decoder looks at.
void attend(std::string_view what, const Model& model, const TokenizedText& text,
            const AttentionRequest& request, RunObserver& observer, const Verbosity& verbosity,
            ConstMatrix encoded = {});

/// The same for the weights alone.
void attend(std::string_view what, const Model& model, const TokenizedText& text,
            const AttentionRequest& request, PatternSink& sink, const Verbosity& verbosity);

/// The same for the attention of `heads`, all that `sink` wants, and for `observer`. When it is to
/// be verbose it says in a few numbers what each of the heads does. Returns how much of it the
/// turns of a chat get.
std::optional<TurnAttention> attend_to(const std::vector<HeadId>& heads, const Model& model,
                                       const TokenizedText& text, const AttentionRequest& request,
                                       PatternSink& sink, RunObserver& observer,
                                       const Verbosity& verbosity);

}  // namespace attnviz::app
