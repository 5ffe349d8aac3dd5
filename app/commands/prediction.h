// What --generate writes behind a text, and what --predict asks a model for.
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

/// As it stands in documents; a model may have more ids than its tokenizer. Valid UTF-8.
std::string token_text(const Tokenizer& tokenizer, TokenId id);

/// Throws Error{kUsage} that begins with `option` for a model without an output head.
void require_predictions(std::string_view option, const Model& model);

/// Throws Error{kUsage}, saying why, when the model cannot do what the options ask for.
void check_next_tokens(const ShowOptions& options, const Model& model);

/// Appends up to `n_tokens` tokens, as continue_greedily chooses them, to the text, marked as
/// generated; nothing without any. Says why there are fewer, unless quiet. `encoded` is what a
/// decoder looks at. Throws what continue_greedily throws, Error{kUsage} when memory is short, and
/// Error{kMalformed} for a token that the tokenizer does not have.
std::optional<Continuation> continue_text(const AttentionOptions& options, std::size_t n_tokens,
                                          const Model& model, const Tokenizer& tokenizer,
                                          const AttentionRequest& request, TokenizedText& text,
                                          const StopsText& stops = {}, ConstMatrix encoded = {});

/// What --at calls all places.
inline constexpr std::string_view kEveryPlace = "all";

/// What --predict asks for of one text; nothing without it.
class Predictor {
 public:
  /// Chooses the place among the tokens that are shown, or every place, and says so where there are
  /// several, unless quiet. `words` has the number of each token's word where these are shown, and
  /// is empty where tokens are: a word stands for its last token. All must outlive it. Throws
  /// Error{kUsage} when there is no such token, and for every place of words. Precondition: the
  /// text has tokens.
  Predictor(const ShowOptions& options, const Model& model, const Tokenizer& tokenizer,
            const TokenizedText& shown, std::span<const std::size_t> words);

  /// What must look at a run before add_to().
  RunObserver& observer() noexcept { return output_ ? *output_ : nobody_; }

  /// What the last run that was looked at predicts, as the document's.
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
  RunObserver nobody_;
  std::optional<OutputRows> output_;  // of the token among the model's that is asked
};

}  // namespace attnviz::app
