#include "commands/prediction.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "attnviz/attention/decoding.h"
#include "attnviz/attention/engine.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "commands/attention_run.h"
#include "commands/input.h"
#include "system/diagnostics.h"
#include "system/process.h"
#include "system/terminal_info.h"

namespace attnviz::app {

namespace {

bool fills_gaps(const Model& model) noexcept {
  return model.config.mask.looks_ahead();
}

// Appends the decoded ids after those of the text; returns their text.
std::string append(const Tokenizer& tokenizer, const std::vector<TokenId>& ids,
                   TokenizedText& text) {
  const TokenizedText decoded = tokenizer.from_ids(ids);
  const std::size_t n_before = text.size();
  const std::size_t begin = decoded.tokens[n_before - 1].end;
  const std::size_t place = text.source.size();
  text.source += std::string_view(decoded.source).substr(begin);
  text.tokens.reserve(decoded.size());
  for (std::size_t i = n_before; i < decoded.size(); ++i) {
    Token token = decoded.tokens[i];
    token.begin = token.begin - begin + place;
    token.end = token.end - begin + place;
    token.generated = true;
    text.tokens.push_back(std::move(token));
  }
  return text.source.substr(place);
}

// The most likely position to ask a model that fills gaps about: a special token inside the text,
// such as [MASK], else the last word.
std::size_t likely_gap(const TokenizedText& text) {
  std::size_t last = text.size() - 1;
  while (last > 0 && text.tokens[last].special) {
    --last;
  }
  for (std::size_t i = text.size() - 1; i-- > 1;) {
    if (text.tokens[i].special && !text.tokens[i].added) {
      return i;
    }
  }
  return last;
}

}  // namespace

std::string token_text(const Tokenizer& tokenizer, TokenId id) {
  try {
    return valid_utf8(tokenizer.from_ids({&id, 1}).tokens.front().text);
  } catch (const Error&) {
    return fmt::format("<{}>", id);
  }
}

void require_predictions(std::string_view option, const Model& model) {
  if (!model.config.is_transformer()) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format("{}: {} no tokens: the model has attention, but no output head (unembedding) "
                    "over a vocabulary; the embedded demo model has one: leave out {}",
                    option,
                    model.config.random_weights ? "random weights predict"
                                                : model.config.name + " predicts",
                    model.config.random_weights ? "--random, --seed and sizes" : "--model"));
  }
  if (model.head.unembedding.weight.empty()) {
    throw Error(ErrorKind::kUsage,
                fmt::format("{}: {} has no output head (unembedding), so it predicts no tokens",
                            option, model.config.name));
  }
}

void check_next_tokens(const ShowOptions& options, const Model& model) {
  if (options.generate == 0 && options.predict == 0) {
    return;
  }
  require_predictions(options.generate > 0 ? "--generate" : "--predict", model);
  if (options.generate > 0 && fills_gaps(model)) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format(
            "--generate: {} is a {} model: its tokens also look at later tokens, so it fills gaps "
            "and does not continue texts; --predict K shows what it predicts at a token's position",
            model.config.name, model.config.family));
  }
}

std::optional<Continuation> continue_text(const AttentionOptions& options, std::size_t n_tokens,
                                          const Model& model, const Tokenizer& tokenizer,
                                          const AttentionRequest& request, TokenizedText& text,
                                          const StopsText& stops, ConstMatrix encoded) {
  if (n_tokens == 0) {
    return std::nullopt;
  }
  require_memory(continuation_bytes(model, text.size(), n_tokens, encoded.rows),
                 fmt::format("generating {}", counted(n_tokens, "token")),
                 "take fewer, or a shorter text");
  std::vector<TokenId> ids = InputColumns(text).ids;
  ContinuedIds continued;
  {
    ProgressLine progress("generating", options.verbosity);
    AttentionRequest reporting = request;
    reporting.report = progress.report();
    continued = continue_greedily(model, ids, n_tokens, reporting, nullptr, stops, encoded);
  }
  Continuation continuation;
  continuation.asked = n_tokens;
  continuation.end = continued.end;
  continuation.end_of_text = continued.end_of_text;
  if (continued.end_of_text) {
    continuation.end_token = token_text(tokenizer, *continued.end_of_text);
  }
  ids.insert(ids.end(), continued.ids.begin(), continued.ids.end());
  continuation.ids = std::move(continued.ids);
  try {
    continuation.text = valid_utf8(append(tokenizer, ids, text));
  } catch (const Error& error) {
    throw Error(ErrorKind::kMalformed,
                fmt::format("{}: the model continues with a token that its tokenizer lacks: {}",
                            model.config.name, error.what()));
  }
  inform(options.verbosity, continuation_note(continuation));
  if (request.interventions != nullptr &&
      std::ranges::any_of(request.interventions->ablations, &Ablation::by_mean)) {
    text.notes.emplace_back(
        "it was written with means over the text before it; here the means cover the whole text");
  }
  return continuation;
}

Predictor::Predictor(const ShowOptions& options, const Model& model, const Tokenizer& tokenizer,
                     const TokenizedText& shown, std::span<const std::size_t> words)
    : options_(options), model_(model), tokenizer_(tokenizer), shown_(shown) {
  if (options.predict == 0) {
    return;
  }
  if (is_of_all()) {
    if (!words.empty()) {
      throw Error(ErrorKind::kUsage,
                  "--at all predicts after tokens, not after words: leave out --merge");
    }
    output_.emplace(model, 0, shown.size());
    return;
  }
  if (options.at) {
    shown_at_ = chosen_token(shown, *options.at, "--at", options.verbosity);
  } else {
    shown_at_ = fills_gaps(model) ? likely_gap(shown) : shown.size() - 1;
  }
  const auto word = std::find(words.rbegin(), words.rend(), shown_at_);
  const std::size_t at =
      words.empty() ? shown_at_ : static_cast<std::size_t>(words.rend() - word) - 1;
  output_.emplace(model, at, 1);
}

Predictions Predictor::predictions_at(std::size_t shown_at, std::span<const float> logits) const {
  Predictions predictions;
  predictions.at = shown_at;
  predictions.token = valid_utf8(shown_.tokens[shown_at].text);
  predictions.replaces_it = fills_gaps(model_);
  for (const ProbableToken& token : most_probable(logits, options_.predict)) {
    predictions.top.push_back(
        {token_text(tokenizer_, token.id), token.id, token.probability, token.logit});
  }
  return predictions;
}

void Predictor::add_to(AttentionDocument& document) {
  if (!output_) {
    return;
  }
  const ConstMatrix rows = output_->rows();
  constexpr std::size_t kMostRows = 16;  // of logits at once, a logit for each token id
  for (std::size_t first = 0; first < rows.rows; first += kMostRows) {
    const std::size_t count = std::min(kMostRows, rows.rows - first);
    const MatrixBuffer logits =
        run_output_head(model_, rows.row_block(first, count), options_.request.n_threads);
    if (!is_of_all()) {
      document.predictions = predictions_at(shown_at_, logits.view().row(0));
      return;
    }
    for (std::size_t row = 0; row < count; ++row) {
      document.all_predictions.push_back(
          with_actual(predictions_at(first + row, logits.view().row(row)), logits.view().row(row)));
    }
  }
}

Predictions Predictor::with_actual(Predictions here, std::span<const float> logits) const {
  const std::size_t place = here.at + (here.replaces_it ? 0 : 1);
  if (place < shown_.size() && shown_.tokens[place].id < logits.size()) {
    const Token& token = shown_.tokens[place];
    here.actual =
        ActualToken{valid_utf8(token.text), token.id, std::exp(log_probability(logits, token.id)),
                    rank_of(logits, token.id)};
  }
  return here;
}

}  // namespace attnviz::app
