// A text read token by token: what comes next, from the keys and values of what came before. An
// encoder-decoder's first half: what its decoder looks at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "attnviz/attention/interventions.h"
#include "attnviz/attention/key_value_cache.h"
#include "attnviz/attention/layer.h"
#include "attnviz/attention/request.h"
#include "attnviz/attention/run_observer.h"
#include "attnviz/core/tensor.h"
#include "attnviz/model/model.h"

namespace attnviz {

/// Throws Error{kUsage}, saying why, when the model cannot continue a text under the request: it
/// predicts no tokens, or its tokens look at those behind them.
void check_continues(const Model& model, const AttentionRequest& request);

/// The forward pass of a text that grows: each token is computed once, and attends to the kept keys
/// and values of those before it. The logits are those of run() and run_output_head() over the
/// whole text. An observer is told of the new tokens alone, and may change what becomes of them:
/// what it did to those before stays in their keys and values. So do interventions; the means that
/// stand in place of what they take out are those of the tokens that are fed first.
///
/// Rotary frequencies that change with the text's length (dynamic scaling, longrope) change what
/// all tokens before would have had: where they do, the whole text is computed anew. So the logits
/// are right there, too; other libraries keep what they have. An observer is told of all tokens
/// again then. So are states (gated delta nets, Mamba-2) that a text goes back from: those of where
/// it went back to are kept for the next time.
class Decoding {
 public:
  /// Memory for keys and values of `max_tokens` is touched as they come. `model` must outlive it;
  /// so must `observer`, unless it is null, and what encode() gave of the text that a decoder looks
  /// at. Throws as check_continues(), and what MatrixBuffer throws.
  Decoding(const Model& model, AttentionRequest request, std::size_t max_tokens,
           RunObserver* observer = nullptr, ConstMatrix encoded = {});
  Decoding(const Decoding&) = delete;
  Decoding& operator=(const Decoding&) = delete;

  /// Appends tokens, at least one, to the text. Returns the logits of the token that follows,
  /// [n_vocab]; valid until the next call. Throws what embed() and run_layer() throw, and
  /// Error{kUsage} past max_tokens; the text is as it was then.
  std::span<const float> feed(std::span<const std::uint32_t> ids);

  /// Told the place of a token among those that are fed, and the logits of the one that follows it,
  /// [n_vocab]; valid during the call.
  using EachLogits = std::function<void(std::size_t index, std::span<const float> logits)>;
  /// The same, with the logits behind each of the tokens, in their order. Throws what `each`
  /// throws, and then the text has grown.
  void feed(std::span<const std::uint32_t> ids, const EachLogits& each);

  std::size_t n_tokens() const noexcept { return ids_.size(); }

  /// Forgets the tokens from `n_tokens` on, of n_tokens(): other ones can follow those before.
  void rewind(std::size_t n_tokens);

 private:
  // The text with `ids` behind it; returns the last layer's stream of at least these.
  MatrixBuffer append(std::span<const std::uint32_t> ids);
  // The tokens of the text that are not in the cache.
  MatrixBuffer run_behind(std::span<const std::uint32_t> text);

  const Model& model_;
  AttentionRequest request_;
  RunObserver nobody_;
  RunObserver& observer_;
  std::unique_ptr<Intervener> changes_;  // made of the first tokens that are fed
  KeyValueCache cache_;
  std::size_t turned_for_ = 0;  // the length of the text whose rotations the cached keys have
  LayerMemory memory_;
  std::vector<std::uint32_t> ids_;
  MatrixBuffer logits_;
};

/// Why a text goes on no further.
enum class ContinuationEnd {
  kLength,     // as long as was asked for
  kEndOfText,  // the model says that the text ends
  kContext,    // the model's context is full
  kStop,       // before a token that was not wanted
};

struct ContinuedIds {
  std::vector<std::uint32_t> ids;  // what follows, without a token that ends the text
  ContinuationEnd end = ContinuationEnd::kLength;
  std::optional<std::uint32_t> end_of_text;  // the token that ended it
};

/// Asked of each token before it is taken, in order.
using StopsText = std::function<bool(std::uint32_t id)>;

/// Up to `n_tokens` tokens after `prompt`, each the most probable one (of several the one with the
/// smallest id), before one that `stops` (empty: none does). request.report gets the share that is
/// done, `observer` what Decoding gives it. `encoded` as for Decoding. Ids that the model never
/// writes are not chosen; the token that it is forced to begin with is chosen first. Throws as
/// Decoding does, and Error{kUsage} for an empty prompt.
ContinuedIds continue_greedily(const Model& model, std::span<const std::uint32_t> prompt,
                               std::size_t n_tokens, const AttentionRequest& request,
                               RunObserver* observer = nullptr, const StopsText& stops = {},
                               ConstMatrix encoded = {});

/// Bytes that continue_greedily takes, with `n_source` tokens in `encoded`; an estimate.
double continuation_bytes(const Model& model, std::size_t n_prompt, std::size_t n_tokens,
                          std::size_t n_source = 0);

/// What the encoder of `model` makes of a text, [n_source, d]: what leaves its last layer, normed
/// where it norms that. The decoder is then run with it: `input.encoded` for run(), or Decoding.
/// Layers and heads that `observer`, unless it is null, is told of are the encoder's.
///
/// Precondition: the model has an encoder. Throws as run() does.
MatrixBuffer encode(const Model& model, const ModelInput& source, const AttentionRequest& request,
                    RunObserver* observer = nullptr);

}  // namespace attnviz
