// The tokens that --generate adds after a text, and those that --predict lists.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "attnviz/attention/decoding.h"
#include "attnviz/attention/run_observer.h"
#include "attnviz/model/model.h"
#include "attnviz/report/attention_document.h"
#include "attnviz/report/run_facts.h"
#include "attnviz/text/tokenized_text.h"
#include "attnviz/text/tokenizer.h"
#include "options/command_options.h"

namespace attnviz::app {

/// The token's text for documents, as valid UTF-8; a model may have more ids than its tokenizer.
std::string token_text(const Tokenizer& tokenizer, TokenId id);

/// Throws Error{kUsage} that begins with `option` for a model without an output head.
void require_predictions(std::string_view option, const Model& model);

/// Throws Error{kUsage}, saying why, when the model cannot do what the options ask for.
void check_next_tokens(const ShowOptions& options, const Model& model);

/// Appends up to `n_tokens` tokens, chosen by continue_greedily and marked as generated, to the
/// text; returns nothing if `n_tokens` is 0. Reports why there are fewer, unless quiet. `encoded`:
/// the encoder output that a decoder attends to. Throws what continue_greedily throws,
/// Error{kUsage} when memory is short, and Error{kMalformed} for a token that the tokenizer does
/// not have.
std::optional<Continuation> continue_text(const AttentionOptions& options, std::size_t n_tokens,
                                          const Model& model, const Tokenizer& tokenizer,
                                          const AttentionRequest& request, TokenizedText& text,
                                          const StopsText& stops = {}, ConstMatrix encoded = {});

/// The value of --at for all positions.
inline constexpr std::string_view kEveryPlace = "all";

/// The predictions of --predict for one text; nothing without the option.
class Predictor {
 public:
  /// Chooses one of the positions that are shown, or all, and reports the choice among several,
  /// unless quiet. If words are shown, `words` has the word number of each token, and a word stands
  /// for its last token; it is empty if tokens are shown. All arguments must outlive it. Throws
  /// Error{kUsage} if there is no such token, and for all positions of words. Precondition: the
  /// text has tokens.
  Predictor(const ShowOptions& options, const Model& model, const Tokenizer& tokenizer,
            const TokenizedText& shown, std::span<const std::size_t> words);

  /// The observer that must see a run before add_to().
  RunObserver& observer() noexcept { return output_ ? *output_ : no_observer_; }

  /// Adds the predictions of the last observed run to the document.
  void add_to(AttentionDocument& document);

 private:
  bool is_of_all() const { return options_.at == kEveryPlace; }
  Predictions predictions_at(std::size_t shown_at, std::span<const float> logits) const;
  Predictions with_actual(Predictions here, std::span<const float> logits) const;

  const ShowOptions& options_;
  const Model& model_;
  const Tokenizer& tokenizer_;
  const TokenizedText& shown_;
  std::size_t shown_at_ = 0;
  RunObserver no_observer_;
  std::optional<OutputRows> output_;  // of the queried tokens
};

}  // namespace attnviz::app
