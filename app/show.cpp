#include "show.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "attnviz/attention/head_selection.h"
#include "attnviz/attention/pattern_store.h"
#include "attnviz/core/message.h"
#include "attnviz/core/suggest.h"
#include "attnviz/kernels/simd.h"
#include "attnviz/render/attention_document.h"
#include "attnviz/render/attention_heatmap.h"
#include "attnviz/render/drawing_choice.h"
#include "attnviz/text/tokenizer.h"
#include "command_line.h"
#include "input.h"
#include "memory.h"
#include "model_choice.h"
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

// A word that may have been meant as a command or as a file's name is drawn like any other text.
void tell_slip(const ShowOptions& options) {
  if (options.talk.quiet || !options.input.text) {
    return;
  }
  const std::string& word = *options.input.text;
  std::vector<std::string> commands = command_names();
  commands.emplace_back("--help");
  std::error_code ignored;  // a text need not be a possible file name
  const auto command = closest_word(word, commands);
  if (command && *command != word) {
    say(fmt::format("drawing the text {} (did you mean attnviz {}?)", attnviz::quoted(word),
                    *command));
  } else if (std::filesystem::is_regular_file(word, ignored)) {
    say(fmt::format("drawing the text {}; a file is read with -f, weights with -m",
                    attnviz::quoted(word)));
  }
}

// Random weights are told once, random embeddings text by text.
void tell_randomness(const ShowOptions& options, const Model& model, const TokenizedText& text,
                     bool is_first) {
  if (options.talk.quiet) {
    return;
  }
  const ModelFacts facts = model_facts(model, text);
  if (facts.random && is_first) {
    say(options.model.weights
            ? fmt::format("{}: \"random\" says that the weights mean nothing; delete that key once "
                          "they are your own",
                          options.model.weights->string())
            : model_title(facts) + " mean nothing; -m FILE takes real ones");
  }
  if (const std::string note = random_embeddings_note(facts); !note.empty()) {
    say(note);
  }
}

}  // namespace

void run_show(const ShowOptions& options) {
  Phases phases(options.talk);
  if (options.simd != "auto") {
    kernels::force_simd_target(options.simd);
  }
  tell_engine(options);
  tell_slip(options);
  TextSource source(options.input, options.talk);
  ShowOutputs outputs(options);
  const Model model = open_model(options.model);
  phases.done("model");
  const auto tokenizer =
      make_tokenizer(options.tokenizer.value_or(model.config.tokenizer), model.vocabulary);
  const std::vector<HeadId> heads = select_heads(model, options.heads, options.layers);
  const AttentionRequest request = request_of(options);
  bool is_first = true;
  while (const auto input = source.next()) {
    const TokenizedText text = tokenize(*tokenizer, *input);
    phases.done("tokenize");
    tell_randomness(options, model, text, std::exchange(is_first, false));
    require_memory_for(model, heads, text.size());
    PatternStore patterns(heads, text.size());
    run_attention(model, text.pieces(), request, patterns);
    phases.done("attention");
    AttentionDocument document = attention_document(model, text, request, patterns);
    document.drawing = choose_drawing(options.drawing.request, document);
    const Result result{document, attention_heatmap(document)};
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
