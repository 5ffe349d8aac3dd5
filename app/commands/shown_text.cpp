#include "commands/shown_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "attnviz/analysis/pooled_patterns.h"
#include "attnviz/analysis/run_stores.h"
#include "attnviz/attention/head_math.h"
#include "attnviz/attention/head_selection.h"
#include "attnviz/attention/layer.h"
#include "attnviz/attention/run_observer.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/document/attention_document.h"
#include "attnviz/document/drawing_choice.h"
#include "attnviz/document/weight_notes.h"
#include "commands/attention_run.h"
#include "commands/show_parts.h"
#include "options/advice.h"
#include "outputs/overview_choice.h"
#include "outputs/streamed_picture.h"
#include "system/memory.h"

namespace attnviz::app {

namespace {

std::optional<Continuation> go_on(ShowSetup& setup, const AttentionRequest& request,
                                  TokenizedText& text) {
  auto continuation = continue_text(setup.options, setup.options.generate, setup.model,
                                    *setup.tokenizer, request, text);
  if (continuation) {
    setup.phases.done("generate");
  }
  return continuation;
}

// Layers may have experts and no heads.
std::vector<HeadId> chosen_routers(const HeadOptions& asked, const Model& model) {
  if (!asked.heads.empty()) {
    throw Error(ErrorKind::kUsage,
                "--show router: a layer has one router, and no heads of it: choose with --layer");
  }
  std::vector<HeadId> all;
  for (std::size_t layer = 0; layer < model.n_layers(); ++layer) {
    const LayerWeights& weights = model.layers[layer];
    const std::size_t n_heads = weights.experts.present()
                                    ? std::max(weights.heads.size(), std::size_t{1})
                                    : weights.heads.size();
    for (std::size_t head = 0; head < n_heads; ++head) {
      all.push_back({layer, head});
    }
  }
  return select_heads(all, asked.heads, asked.layers);
}

// In place of heads of attention.
std::vector<HeadId> chosen_states(const HeadOptions& asked, const Model& model) {
  const std::vector<HeadId> all = state_heads(model);
  if (all.empty()) {
    throw Error(ErrorKind::kUsage,
                fmt::format("--show decay: {} has no states that forget: its layers are no gated "
                            "delta nets and no Mamba-2",
                            model.config.name));
  }
  return select_heads(all, asked.heads, asked.layers);
}

// Hundreds of panels are no picture: of states that nobody chose those of the first layer.
void choose_few_states(ShowSetup& setup) {
  constexpr std::size_t kMostStates = 64;
  const HeadOptions& asked = setup.options.heads;
  const Outputs& outputs = setup.outputs;
  const std::size_t n_states = setup.heads.size();
  const bool is_kept = outputs.writes(Content::kDocument) || outputs.writes(Content::kNumbers) ||
                       outputs.writes(Content::kPage);
  if (n_states <= kMostStates || !asked.heads.empty() || !asked.layers.empty() || is_kept) {
    return;
  }
  const std::size_t layer = setup.heads.front().layer;
  std::erase_if(setup.heads, [layer](HeadId head) { return head.layer != layer; });
  if (setup.heads.size() < n_states) {
    tell(setup.options.talk,
         fmt::format("--show decay: of {} states those of layer {} are drawn; --layer and --head "
                     "choose others",
                     n_states, layer));
  }
}

bool names_states(const HeadOptions& asked, const Model& model) {
  try {
    select_heads(state_heads(model), asked.heads, asked.layers);
    return true;
  } catch (const Error&) {
    return false;
  }
}

// Who asks for heads where there are states hears how these are drawn.
std::vector<HeadId> attending_heads(const ShowOptions& options, const Model& model) {
  const Model& stack =
      options.part == AttentionPart::kEncoder && model.encoder != nullptr ? *model.encoder : model;
  try {
    return chosen_heads(options.heads, stack, options.talk);
  } catch (const Error& error) {
    if (!names_states(options.heads, stack)) {
      throw;
    }
    throw Error(error.kind(), fmt::format("{}; --show decay draws its states", error.what()));
  }
}

}  // namespace

ShowSetup::ShowSetup(const ShowOptions& shown)
    : AttentionSetup(shown, shown.drawing, Result::kAttention, !shown.side_by_side.empty()),
      options(shown) {
  check_next_tokens(options, model);
  phases.done("model");
  tokenizer = chosen_tokenizer(options, origin, model);
  phases.done("tokenizer");
  check_stacks(options, model);
  name_heads(shown, *tokenizer, model);
  heads = options.kind == PatternKind::kDecay    ? chosen_states(options.heads, model)
          : options.kind == PatternKind::kRouter ? chosen_routers(options.heads, model)
                                                 : attending_heads(options, model);
  if (options.kind == PatternKind::kDecay) {
    choose_few_states(*this);
  }
}

ShownText::ShownText(ShowSetup& setup, const InputText& input)
    : tokens(read_text(setup, setup.options, *setup.tokenizer, input)),
      request(request_of(setup.options, setup.model, tokens, setup.options.side_by_side,
                         setup.options.generate)),
      continuation(go_on(setup, request, tokens)),
      folded(setup.options.fold ? std::optional(attnviz::folded(tokens, *setup.options.fold))
                                : std::nullopt),
      focus(chosen_focus(setup.options.pattern, shown(), setup.options.talk)),
      predictor(setup.options, setup.model, *setup.tokenizer, shown(),
                folded ? folded->numbers : std::span<const std::size_t>()) {}

void tell_flat(ShowSetup& setup, const ShownAttention& shown, const std::optional<PoolGrid>& grid) {
  const ShowOptions& options = setup.options;
  if (shown.arcs() || !setup.teller.is_due(Note::kFlatPicture) || options.drawing.request.scale) {
    return;
  }
  // Bars and masks have no colour scale.
  const bool has_cells = !options.pattern.focus && options.drawing.style != TerminalStyle::kMask;
  if (setup.outputs.writes(Content::kFigure) ||
      (has_cells && setup.outputs.writes(Content::kScreen))) {
    const std::string note = flat_note(shown.heatmap(), grid ? &*grid : nullptr);
    setup.teller.tell(Note::kFlatPicture, in_program_words(note, "scale"));
  }
}

namespace {

constexpr double kFloat = sizeof(float);

bool streams_overview(const ShowSetup& setup) {
  const ShowOptions& options = setup.options;
  return draws_overview(setup.heads, options.heads, options.pattern, options.drawing.style,
                        setup.outputs);
}

// Everything that is made of one text.
class StreamedShow {
 public:
  StreamedShow(ShowSetup& setup, ShownText& text)
      : setup_(setup),
        text_(text),
        request_(text.request),
        document_(attention_document(setup.model, text.tokens, request_, setup.heads)),
        picture_(setup.heads, streams_overview(setup), setup.outputs) {
    document_.continuation = text.continuation;
    if (has_sinks(setup.model)) {
      document_.notes.emplace_back(
          "learned sinks: rows sum to 1 with what goes to no token, which is not drawn here");
    }
  }

  // Everything that can be refused is refused before the long part begins.
  void plan() {
    for (const Format& format : all_formats()) {
      if (format.check_rows != nullptr && setup_.outputs.writes(format)) {
        format.check_rows(document_);
      }
    }
    plan_drawing({});
    require_memory(bytes(),
                   fmt::format("the attention of {} over {}", counted(setup_.heads.size(), "head"),
                               counted(text_.tokens.size(), "token")),
                   "take fewer heads (--head 0.0) or a shorter text");
    const bool has_range = setup_.outputs.writes(Content::kFigure) ||
                           setup_.outputs.writes(Content::kScreen) ||
                           setup_.outputs.writes(Content::kDocument);
    if (has_range && needs_values(setup_.options.drawing.request)) {
      LargestWeight largest(setup_.heads, setup_.options.drawing.request.drop_sink);
      attend("largest weight", setup_.model, text_.tokens, request_, largest, talk());
      plan_drawing({0.0f, largest.value()});
    }
  }

  const ShownAttention& run() {
    std::vector<PatternSink*> sinks;
    picture_.begin(sinks);
    std::vector<RowFile> files;
    for (const Format& format : all_formats()) {
      if (format.begin_rows != nullptr && setup_.outputs.writes(format)) {
        files.push_back(
            format.begin_rows(document_, setup_.outputs.line(), setup_.outputs.all(format)));
        sinks.push_back(files.back().sink.get());
      }
    }
    SinkStore learned(setup_.model, setup_.heads, text_.tokens.size());
    if (has_sinks(setup_.model)) {
      sinks.push_back(&learned);
    }
    SinkGroup group(std::move(sinks));
    RouterStore router(setup_.outputs.writes(Content::kDocument) ? expert_layers(setup_.model)
                                                                 : std::vector<std::size_t>());
    ObserverGroup observers({&router, &text_.predictor.observer()});
    document_.turn_attention =
        attend_to(setup_.heads, setup_.model, text_.tokens, request_, group, observers, talk());
    document_.router = router.take();
    for (DocumentPattern& pattern : document_.patterns) {
      pattern.sink = learned.mean(std::span(&pattern.head, 1));
    }
    text_.predictor.add_to(document_);
    for (const RowFile& file : files) {
      file.finish();
    }
    return picture_.finish([this](PatternSink& sink) {
      attend("large head", setup_.model, text_.tokens, request_, sink, talk());
    });
  }

  // What is not written yet.
  void write(const ShownAttention& shown) {
    tell_flat(setup_, shown, picture_.grid());
    setup_.outputs.write([&](const Format& format, const Look& look, const ByteSink& sink) {
      if (format.begin_rows == nullptr) {
        format.attention(shown, look, sink);
      }
    });
  }

 private:
  // The picture, for weights in this range.
  void plan_drawing(const ValueRange& values) {
    document_.drawing = choose_drawing(setup_.options.drawing.request, request_.dropout, values);
    picture_.plan(document_);
  }

  // A line of progress would stand in the middle of a document on the same screen.
  TalkOptions talk() const {
    TalkOptions talk = setup_.options.talk;
    talk.quiet = talk.quiet || setup_.outputs.streams_to_screen();
    return talk;
  }

  // An estimate of what run() takes.
  double bytes() const {
    const std::size_t n = text_.tokens.size();
    const auto n_weights = static_cast<double>(attending_rows(n) * request_.n_threads * n);
    double sum = layer_bytes(setup_.model, n) + n_weights * kFloat + picture_.bytes();
    for (const Format& format : all_formats()) {
      sum += setup_.outputs.writes(format) ? n_weights * format.row_bytes : 0.0;
    }
    return sum;
  }

  ShowSetup& setup_;
  ShownText& text_;
  const AttentionRequest& request_;
  AttentionDocument document_;
  StreamedPicture picture_;
};

}  // namespace

bool should_stream(const ShowSetup& setup, const ShownText& text) {
  constexpr double kKeptAtMost = 64e6;  // more would mostly be fresh memory, which is slow
  const ShowOptions& options = setup.options;
  if (options.pattern.average || options.rollout || options.fold || options.pattern.focus ||
      options.drawing.request.no_special || !options.side_by_side.empty() ||
      (options.drawing.request.drop_sink && has_sinks(setup.model)) ||
      options.kind != PatternKind::kWeights || writes_arcs(options.drawing.style, setup.outputs) ||
      setup.outputs.writes(Content::kPage)) {
    return false;
  }
  const auto n = static_cast<double>(text.tokens.size());
  return static_cast<double>(setup.heads.size()) * n * n * kFloat > kKeptAtMost ||
         (streams_overview(setup) && !has_sinks(setup.model));
}

void show_streamed(ShowSetup& setup, ShownText& text) {
  StreamedShow show(setup, text);
  show.plan();
  show.write(show.run());
}

}  // namespace attnviz::app
