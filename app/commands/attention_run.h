// What every command that computes attention does before and around it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "attnviz/analysis/input_columns.h"
#include "attnviz/attention/engine.h"
#include "attnviz/model/model.h"
#include "attnviz/text/tokenized_text.h"
#include "attnviz/text/tokenizer.h"
#include "commands/input.h"
#include "options/options.h"
#include "stores/model_source.h"
#include "system/talk.h"

namespace attnviz::app {

/// Chooses the SIMD target that was asked for, and tells it when asked to be verbose. Throws
/// Error{kUsage} listing the available ones.
void choose_engine(const AttentionOptions& options);

/// A TEXT that may have been meant as a command or as a file's name is a text like any other; that
/// is told.
void tell_slip(const AttentionOptions& options);

/// What of the model is random for this text, unless quiet. Random weights are told once.
void tell_randomness(const AttentionOptions& options, const ModelSource& source, const Model& model,
                     const TokenizedText& text, Teller& teller);

/// Much of a text in words that the embedded model has hardly met becomes a note of the text, and
/// is told once; of other models that is not known.
void note_far_words(const ModelSource& source, const Model& model, TokenizedText& text,
                    Teller& teller);

/// The files that the options read, which must not be written over.
std::vector<std::filesystem::path> read_files(const AttentionOptions& options,
                                              const ModelSource& source);

/// The tokenizer that was asked for, or the model's own; the model is told its name. Throws as
/// open_tokenizer does.
std::unique_ptr<Tokenizer> chosen_tokenizer(const AttentionOptions& options, ModelSource& source,
                                            Model& model);

/// The tokens of a text for this model, cut to its context when that was asked for; that is told,
/// also with the text. Throws as tokenize() does.
TokenizedText chosen_tokens(const AttentionOptions& options, const Model& model,
                            const Tokenizer& tokenizer, const InputText& input);

/// The request, with the seed that dropout takes.
AttentionRequest request_of(const AttentionOptions& options);

/// run(), with a line of progress on a terminal that says `what` is under way.
void attend(std::string_view what, const Model& model, const TokenizedText& text,
            const AttentionRequest& request, RunObserver& observer, const TalkOptions& talk);

/// The same for the weights alone.
void attend(std::string_view what, const Model& model, const TokenizedText& text,
            const AttentionRequest& request, PatternSink& sink, const TalkOptions& talk);

/// The same for the attention of `heads`, all that `sink` wants, and for `observer`. When it is to
/// be verbose it says in a few numbers what each of the heads does.
void attend_to(const std::vector<HeadId>& heads, const Model& model, const TokenizedText& text,
               const AttentionRequest& request, PatternSink& sink, RunObserver& observer,
               const TalkOptions& talk);

}  // namespace attnviz::app
