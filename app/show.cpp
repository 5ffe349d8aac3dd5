#include "show.h"

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "attention_run.h"
#include "attnviz/attention/head_selection.h"
#include "attnviz/attention/layer.h"
#include "attnviz/attention/pattern_store.h"
#include "attnviz/render/attention_document.h"
#include "attnviz/render/attention_heatmap.h"
#include "attnviz/render/drawing_choice.h"
#include "attnviz/text/tokenizer.h"
#include "input.h"
#include "memory.h"
#include "model_choice.h"
#include "outputs.h"
#include "show_formats.h"
#include "system_fonts.h"
#include "talk.h"

namespace attnviz::app {

namespace {

// The patterns, and beside them what one layer takes.
double attention_bytes(const Model& model, std::size_t n_heads, std::size_t n_tokens) {
  const auto n = static_cast<double>(n_tokens);
  return static_cast<double>(n_heads) * n * n * static_cast<double>(sizeof(float)) +
         layer_bytes(model, n_tokens);
}

void require_memory_for(const Model& model, const std::vector<HeadId>& heads,
                        std::size_t n_tokens) {
  require_memory(attention_bytes(model, heads.size(), n_tokens),
                 fmt::format("the attention of {} head{} over {} tokens", heads.size(),
                             heads.size() == 1 ? "" : "s", n_tokens),
                 heads.size() == 1 ? "take a shorter text"
                                   : "take fewer heads (--head 0.0) or a shorter text");
}

}  // namespace

void run_show(const ShowOptions& options) {
  Phases phases(options.talk);
  choose_engine(options);
  tell_slip(options);
  TextSource source(options.input, options.talk);
  const auto fonts = open_fonts(options.drawing.fonts);
  FigureStyle figure = options.drawing.figure;
  figure.fonts = fonts.get();
  Outputs outputs({options.output,
                   options.talk,
                   kEveryFormat,
                   {options.drawing.style, options.drawing.color},
                   read_files(options),
                   options.input.many_texts()});
  const Model model = open_model(options.model);
  phases.done("model");
  const auto tokenizer =
      make_tokenizer(options.tokenizer.value_or(model.config.tokenizer), model.vocabulary);
  const std::vector<HeadId> heads = select_heads(model, options.heads.heads, options.heads.layers);
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
    const Heatmap picture = attention_heatmap(document);
    const FormatWriter write = [&](OutputFormat format, const TerminalOptions& terminal,
                                   const ByteSink& sink) {
      write_attention(format, document, picture, figure, terminal, sink);
    };
    outputs.write_files(write);
    if (!options.input.many_texts()) {
      outputs.commit();
    }
    outputs.write_to_standard_output(write);
    phases.done("render");
  }
  if (options.input.many_texts()) {
    outputs.commit();
  }
}

}  // namespace attnviz::app
