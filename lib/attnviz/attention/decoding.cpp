#include "attnviz/attention/decoding.h"

#include <fmt/core.h>

#include <algorithm>
#include <cassert>
#include <utility>
#include <vector>

#include "attnviz/attention/engine.h"
#include "attnviz/attention/head_math.h"
#include "attnviz/attention/layer.h"
#include "attnviz/attention/parts/cross_attention.h"
#include "attnviz/attention/parts/layer_parts.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"

namespace attnviz {

namespace {

bool turns_alike(const Model& model, std::size_t n_tokens, std::size_t other) {
  return std::all_of(model.layers.begin(), model.layers.end(), [&](const LayerWeights& layer) {
    return !layer.rope || layer.rope->turns_alike(n_tokens, other);
  });
}

// Tokens that end up with keys and values: the last chosen token is only returned. A prompt that is
// too long is refused as a text, not for lack of room.
std::size_t longest_text(const Model& model, std::size_t n_prompt, std::size_t n_tokens) {
  const std::size_t longest = n_prompt + n_tokens - std::min<std::size_t>(n_tokens, 1);
  const std::size_t n_ctx = std::max(model.config.n_ctx, n_prompt);
  return model.config.n_ctx == 0 ? longest : std::min(longest, n_ctx);
}

// Returns the id with the largest logit, the first in a tie; none of `never`.
std::uint32_t most_probable_id(std::span<const float> logits,
                               const std::vector<std::uint32_t>& never) {
  std::size_t best = logits.size();
  for (std::size_t id = 0; id < logits.size(); ++id) {
    if ((best == logits.size() || logits[id] > logits[best]) &&
        std::ranges::find(never, id) == never.end()) {
      best = id;
    }
  }
  return static_cast<std::uint32_t>(best == logits.size() ? 0 : best);
}

KeyValueCache checked_cache(const Model& model, const AttentionRequest& request,
                            std::size_t max_tokens) {
  check_continues(model, request);
  return {model, max_tokens};
}

}  // namespace

void check_continues(const Model& model, const AttentionRequest& request) {
  if (model.head.unembedding.weight.empty()) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format("{}: the model has no output head: it predicts no tokens", model.config.name));
  }
  if (model.config.mask.looks_ahead()) {
    throw Error(ErrorKind::kUsage, fmt::format("{}: a {} model fills gaps and does not continue "
                                               "texts: its tokens also look at later ones",
                                               model.config.name, model.config.family));
  }
  for (std::size_t layer = 0; layer < model.n_layers(); ++layer) {
    if (const Mask mask = mask_of(model, layer, request); mask.looks_ahead()) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("mask \"{}\": expected one that hides later tokens: otherwise {} "
                              "would have to read the whole text again for every token",
                              mask.name(), model.config.name));
    }
  }
}

Decoding::Decoding(const Model& model, AttentionRequest request, std::size_t max_tokens,
                   RunObserver* observer, ConstMatrix encoded)
    : model_(model),
      request_(std::move(request)),
      observer_(observer == nullptr ? no_observer_ : *observer),
      cache_(checked_cache(model, request_, max_tokens)) {
  memory_.cache = &cache_;
  memory_.cross.encoded = encoded;
}

MatrixBuffer Decoding::append(std::span<const std::uint32_t> ids) {
  if (cache_.max_tokens() - ids_.size() < ids.size()) {
    throw Error(ErrorKind::kUsage,
                fmt::format("{}: the cache has room for at most {}", model_.config.name,
                            counted(cache_.max_tokens(), "token")));
  }
  std::vector<std::uint32_t> text = ids_;  // becomes ids_ if nothing fails
  text.insert(text.end(), ids.begin(), ids.end());
  if (cache_.n_tokens() > 0 && !turns_alike(model_, turned_for_, text.size())) {
    cache_.set_tokens(0);
  }
  if (!cache_.continues() && !cache_.return_to_mark()) {
    const std::size_t n_before = cache_.n_tokens();
    cache_.set_tokens(0);
    run_uncached(std::span(text).first(n_before));
    cache_.mark();
  }
  MatrixBuffer stream = run_uncached(text);
  ids_ = std::move(text);
  turned_for_ = ids_.size();
  return stream;
}

MatrixBuffer Decoding::run_uncached(std::span<const std::uint32_t> text) {
  ModelInput input;
  input.first_position = cache_.n_tokens();
  input.ids = text.subspan(input.first_position);
  input.encoded = memory_.cross.encoded;
  check_request(model_, input, request_);
  memory_.rotations.clear();
  if (request_.interventions != nullptr && ids_.empty()) {
    changes_ = std::make_unique<Intervener>(model_, input, request_, *request_.interventions);
  }
  std::vector<RunObserver*> observers{&observer_};
  if (changes_ != nullptr) {
    observers.insert(observers.begin(), changes_.get());
  }
  ObserverGroup all(std::move(observers));
  const RunEnd end{model_.n_layers() - 1, LayerReach::kWhole};
  MatrixBuffer embedded = embed(model_, input);
  memory_.layer_inputs = embed_for_layers(model_, input, std::as_const(embedded).view());
  MatrixBuffer stream =
      run_layers(model_, 0, enter_layers(model_, std::move(embedded), request_.n_threads), end,
                 request_, all, memory_);
  cache_.set_tokens(text.size());
  return stream;
}

std::span<const float> Decoding::feed(std::span<const std::uint32_t> ids) {
  const MatrixBuffer stream = append(ids);
  logits_ =
      run_output_head(model_, stream.view().row_block(stream.rows() - 1, 1), request_.n_threads);
  return std::as_const(logits_).view().row(0);
}

void Decoding::feed(std::span<const std::uint32_t> ids, const EachLogits& each) {
  constexpr std::size_t kRows = 32;  // with a vocabulary of 256 K: 32 MB
  const MatrixBuffer stream = append(ids);
  const std::size_t n_before = stream.rows() - ids.size();
  for (std::size_t first = 0; first < ids.size(); first += kRows) {
    const std::size_t count = std::min(kRows, ids.size() - first);
    const MatrixBuffer logits = run_output_head(
        model_, stream.view().row_block(n_before + first, count), request_.n_threads);
    for (std::size_t row = 0; row < count; ++row) {
      each(first + row, logits.view().row(row));
    }
  }
}

void Decoding::rewind(std::size_t n_tokens) {
  ids_.resize(std::min(n_tokens, ids_.size()));
  cache_.set_tokens(std::min(n_tokens, cache_.n_tokens()));
}

ContinuedIds continue_greedily(const Model& model, std::span<const std::uint32_t> prompt,
                               std::size_t n_tokens, const AttentionRequest& request,
                               RunObserver* observer, const StopsText& stops, ConstMatrix encoded) {
  ContinuedIds continued;
  Decoding decoding(model, request, longest_text(model, prompt.size(), n_tokens), observer,
                    encoded);
  std::span<const std::uint32_t> next = prompt;
  while (continued.ids.size() < n_tokens) {
    const std::size_t length = prompt.size() + continued.ids.size();
    if (model.config.n_ctx != 0 && length == model.config.n_ctx) {
      continued.end = ContinuationEnd::kContext;
      break;
    }
    const std::span<const float> logits = decoding.feed(next);
    const std::uint32_t id = model.config.forced_token && length == 1
                                 ? *model.config.forced_token
                                 : most_probable_id(logits, model.config.never_written);
    const std::vector<std::uint32_t>& ends = model.config.end_of_text;
    if (std::find(ends.begin(), ends.end(), id) != ends.end()) {
      continued.end = ContinuationEnd::kEndOfText;
      continued.end_of_text = id;
      break;
    }
    if (stops && stops(id)) {
      continued.end = ContinuationEnd::kStop;
      break;
    }
    continued.ids.push_back(id);
    next = std::span(continued.ids).last(1);
    if (request.report) {
      request.report(static_cast<double>(continued.ids.size()) / static_cast<double>(n_tokens));
    }
  }
  return continued;
}

double continuation_bytes(const Model& model, std::size_t n_prompt, std::size_t n_tokens,
                          std::size_t n_source) {
  return KeyValueCache::bytes(model, longest_text(model, n_prompt, n_tokens)) +
         layer_bytes(model, n_prompt) + cross_bytes(model, n_prompt, n_source);
}

MatrixBuffer encode(const Model& model, const ModelInput& source, const AttentionRequest& request,
                    RunObserver* observer) {
  assert(model.encoder != nullptr);
  const Model& encoder = *model.encoder;
  OutputRows output(encoder, 0, source.size());
  std::vector<RunObserver*> observers{&output};
  if (observer != nullptr) {
    observers.push_back(observer);
  }
  ObserverGroup all(std::move(observers));
  run(encoder, source, request, all);
  MatrixBuffer encoded = output.take();
  apply_norm(encoder.head.norm, encoded.view(), encoded.view());
  return encoded;
}

}  // namespace attnviz
