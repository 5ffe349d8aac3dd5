#include "show.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/attention/head_selection.h"
#include "attnviz/attention/pattern_store.h"
#include "attnviz/core/parallel_for.h"
#include "attnviz/kernels/simd.h"
#include "attnviz/text/tokenizer.h"
#include "input.h"
#include "memory.h"
#include "model_choice.h"
#include "picture.h"
#include "show_outputs.h"
#include "talk.h"

namespace attnviz::app {

namespace {

// The patterns, and beside them one layer's residual stream, queries, keys, values and output.
double attention_bytes(const Model& model, std::size_t n_heads, std::size_t n_tokens) {
  constexpr double kStreams = 3.0;
  double widest = 0.0;
  for (const LayerWeights& layer : model.layers) {
    double width = kStreams * static_cast<double>(model.config.d_model);
    for (const HeadWeights& head : layer.heads) {
      width += static_cast<double>(2 * head.d_head() + head.d_value());
    }
    widest = std::max(widest, width);
  }
  const auto n = static_cast<double>(n_tokens);
  return (static_cast<double>(n_heads) * n * n + n * widest) * static_cast<double>(sizeof(float));
}

void require_memory_for(const Model& model, const std::vector<HeadId>& heads,
                        std::size_t n_tokens) {
  require_memory(attention_bytes(model, heads.size(), n_tokens),
                 fmt::format("the attention of {} head{} over {} tokens", heads.size(),
                             heads.size() == 1 ? "" : "s", n_tokens),
                 heads.size() == 1 ? "take a shorter text"
                                   : "take fewer heads (--head 0.0) or a shorter text");
}

std::vector<std::string_view> pieces_of(const TokenizedText& text) {
  std::vector<std::string_view> pieces;
  pieces.reserve(text.size());
  for (const Token& token : text.tokens) {
    pieces.push_back(token.text);
  }
  return pieces;
}

AttentionRequest request_of(const ShowOptions& options) {
  AttentionRequest request = options.request;
  request.dropout_seed = options.model.seed.value_or(kDefaultSeed);
  return request;
}

void tell_engine(const ShowOptions& options) {
  if (!options.talk.verbose) {
    return;
  }
  say(fmt::format("simd {} (of {}), threads {}", kernels::active_simd_target(),
                  fmt::join(kernels::simd_targets(), " "), options.request.n_threads));
}

}  // namespace

void run_show(const ShowOptions& options) {
  Phases phases(options.talk);
  if (options.simd != "auto") {
    kernels::force_simd_target(options.simd);
  }
  tell_engine(options);
  TextSource source(options.input, options.talk);
  ShowOutputs outputs(options);
  const Model model = open_model(options.model);
  phases.done("model");
  const auto tokenizer =
      make_tokenizer(options.tokenizer.value_or(model.config.tokenizer), model.vocabulary);
  const std::vector<HeadId> heads = select_heads(model, options.heads, options.layers);
  const AttentionRequest request = request_of(options);
  bool warn = !options.talk.quiet;
  while (const auto input = source.next()) {
    const TokenizedText text = tokenize(*tokenizer, *input);
    phases.done("tokenize");
    if (warn && model.config.random_weights) {
      say(model_title(model) + ": the pattern means nothing; -m FILE takes real ones");
      warn = false;
    } else if (warn) {
      const std::string note = random_embeddings_note(model, text);
      if (!note.empty()) {
        say(note);
      }
    }
    require_memory_for(model, heads, text.size());
    PatternStore patterns(heads, text.size());
    run_attention(model, pieces_of(text), request, patterns);
    phases.done("attention");
    const Heatmap picture = attention_picture(model, text, request, patterns);
    const Result result{model, text, request, patterns, picture};
    outputs.write_files(result);
    if (!options.input.many_texts()) {
      outputs.commit();
    }
    outputs.write_to_standard_output(result);
    phases.done("render");
  }
  if (options.input.many_texts()) {
    outputs.commit();
  }
}

}  // namespace attnviz::app
