#include "commands/streamed_show.h"

#include <fmt/core.h>

#include <utility>
#include <vector>

#include "attnviz/analysis/largest_weight.h"
#include "attnviz/analysis/router_store.h"
#include "attnviz/analysis/sink_store.h"
#include "attnviz/attention/attention_block.h"
#include "attnviz/attention/layer.h"
#include "attnviz/attention/run_observer.h"
#include "attnviz/core/message.h"
#include "attnviz/document/attention_document.h"
#include "attnviz/document/drawing_choice.h"
#include "commands/attention_run.h"
#include "outputs/arcs_choice.h"
#include "outputs/overview_choice.h"
#include "outputs/streamed_picture.h"
#include "system/memory.h"

namespace attnviz::app {

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
