// Reads a text token by token: predicts the next token from the keys and values of the tokens
// before it. Also runs the encoder whose output a decoder attends to.
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

/// Throws Error{kUsage} with the reason when the model cannot continue a text under the request: it
/// does not predict tokens, or its tokens attend to later ones.
void check_continues(const Model& model, const AttentionRequest& request);

/// The forward pass of a text that grows: each token is computed once, and attends to the cached
/// keys and values of the tokens before it. The logits equal those of run() and run_output_head()
/// over the whole text. An observer sees only the new tokens, and may change them; its changes to
/// earlier tokens remain in their keys and values. Interventions work the same way; mean ablation
/// uses the means over the tokens that are fed first.
///
/// Some rotary frequencies change with the text's length (dynamic scaling, longrope), and with them
/// the keys of all earlier tokens. When that happens the whole text is computed anew and an
/// observer sees all tokens again, so the logits are right there, too; other libraries keep the old
/// keys. The same happens to models with states (gated delta nets, Mamba-2) after rewind(); the
/// states at the point of return are then kept for the next time.
class Decoding {
 public:
  /// Reserves memory for the keys and values of `max_tokens`, which is touched only as tokens
  /// arrive. `model` must outlive the object; so must `observer`, unless it is null, and `encoded`,
  /// the output of encode() for the text that a decoder attends to. Throws as check_continues() and
  /// MatrixBuffer do.
  Decoding(const Model& model, AttentionRequest request, std::size_t max_tokens,
           RunObserver* observer = nullptr, ConstMatrix encoded = {});
  Decoding(const Decoding&) = delete;
  Decoding& operator=(const Decoding&) = delete;

  /// Appends tokens, at least one, to the text. Returns the logits of the token that follows,
  /// [n_vocab]; valid until the next call. Throws what embed() and run_layer() throw, and
  /// Error{kUsage} past max_tokens; then the text is unchanged.
  std::span<const float> feed(std::span<const std::uint32_t> ids);

  /// Receives the index of a token among those that are fed, and the logits of the token that
  /// follows it, [n_vocab]; valid during the call.
  using EachLogits = std::function<void(std::size_t index, std::span<const float> logits)>;
  /// The same, with the logits after each of the tokens, in order. Throws what `each` throws; the
  /// text has grown by then.
  void feed(std::span<const std::uint32_t> ids, const EachLogits& each);

  std::size_t n_tokens() const noexcept { return ids_.size(); }

  /// Removes the tokens from `n_tokens` on, so that others can follow the remaining ones.
  /// `n_tokens` is at most n_tokens().
  void rewind(std::size_t n_tokens);

 private:
  // Runs the text extended by `ids`; returns the last layer's stream of at least these tokens.
  MatrixBuffer append(std::span<const std::uint32_t> ids);
  // Runs the tokens of the text that are not yet in the cache.
  MatrixBuffer run_uncached(std::span<const std::uint32_t> text);

  const Model& model_;
  AttentionRequest request_;
  RunObserver no_observer_;
  RunObserver& observer_;
  std::unique_ptr<Intervener> changes_;  // made from the first tokens that are fed
  KeyValueCache cache_;
  std::size_t turned_for_ = 0;  // length of the text that the cached keys are rotated for
  LayerMemory memory_;
  std::vector<std::uint32_t> ids_;
  MatrixBuffer logits_;
};

/// Why a continuation ends.
enum class ContinuationEnd {
  kLength,     // the requested length is reached
  kEndOfText,  // the model predicts the end of the text
  kContext,    // the model's context is full
  kStop,       // the next token is a stop token
};

struct ContinuedIds {
  std::vector<std::uint32_t> ids;  // the continuation, without a token that ends the text
  ContinuationEnd end = ContinuationEnd::kLength;
  std::optional<std::uint32_t> end_of_text;  // the token that ended it
};

/// Whether to stop before this token. Called for each token before it is appended, in order.
using StopsText = std::function<bool(std::uint32_t id)>;

/// Continues `prompt` by up to `n_tokens` tokens, each the most probable one (in a tie, the one
/// with the smallest id), and ends before a token for which `stops` is true (empty: no token).
/// request.report receives the share of the work that is done, and `observer` sees what it sees in
/// Decoding. `encoded` as for Decoding. Ids that the model never writes are not chosen; a token
/// that it is forced to begin with comes first. Throws as Decoding does, and Error{kUsage} for an
/// empty prompt.
ContinuedIds continue_greedily(const Model& model, std::span<const std::uint32_t> prompt,
                               std::size_t n_tokens, const AttentionRequest& request,
                               RunObserver* observer = nullptr, const StopsText& stops = {},
                               ConstMatrix encoded = {});

/// Bytes that continue_greedily() needs, with `n_source` tokens in `encoded`; an estimate.
double continuation_bytes(const Model& model, std::size_t n_prompt, std::size_t n_tokens,
                          std::size_t n_source = 0);

/// Runs the encoder of `model` on a text. Returns the output of its last layer, [n_source, d],
/// after the final norm where the encoder has one. Pass it to the decoder as `input.encoded` for
/// run(), or to Decoding. `observer`, unless it is null, sees the layers and heads of the encoder.
///
/// Precondition: the model has an encoder. Throws as run() does.
MatrixBuffer encode(const Model& model, const ModelInput& source, const AttentionRequest& request,
                    RunObserver* observer = nullptr);

}  // namespace attnviz
