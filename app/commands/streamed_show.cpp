#include "commands/streamed_show.h"

#include <optional>
#include <utility>
#include <vector>

#include "attnviz/analysis/largest_weight.h"
#include "attnviz/attention/attention_block.h"
#include "attnviz/attention/layer.h"
#include "attnviz/attention/sink_group.h"
#include "attnviz/document/attention_document.h"
#include "attnviz/document/drawing_choice.h"
#include "attnviz/terminal/page/terminal_options.h"
#include "commands/attention_run.h"
#include "outputs/streamed_files.h"
#include "system/memory.h"

namespace attnviz::app {

namespace {

constexpr double kFloat = sizeof(float);

// Everything that is made of one text.
class StreamedShow {
 public:
  StreamedShow(const ShowOptions& options, const StreamedText& shown, Predictor& predictor,
               StreamedPicture& picture, Outputs& outputs)
      : options_(options),
        model_(shown.model),
        text_(shown.text),
        heads_(shown.heads),
        predictor_(predictor),
        picture_(picture),
        outputs_(outputs),
        request_(request_of(options)),
        document_(attention_document(model_, text_, request_, heads_)) {
    document_.continuation = shown.continuation;
  }

  // Everything that can be refused is refused before the long part begins.
  void plan() {
    files_.emplace(document_, outputs_);
    plan_drawing({});
    require_memory_for_heads(bytes(), "the attention of", heads_.size(), text_.size());
    const bool has_range = outputs_.writes(OutputFormat::kPng) ||
                           outputs_.writes(OutputFormat::kText) ||
                           outputs_.writes(OutputFormat::kJson);
    if (has_range && needs_values(options_.drawing.request)) {
      LargestWeight largest(heads_);
      attend("largest weight", model_, text_, request_, largest, talk());
      plan_drawing({0.0f, largest.value()});
    }
  }

  void run() {
    std::vector<PatternSink*> sinks;
    picture_.begin(sinks);
    files_->begin(sinks);
    SinkGroup group(std::move(sinks));
    attend_to(heads_, model_, text_, request_, group, predictor_.observer(), talk());
    predictor_.add_to(document_);
    files_->finish();
    picture_.finish(
        [this](PatternSink& sink) { attend("large head", model_, text_, request_, sink, talk()); });
  }

  // What is not written yet.
  void write() {
    const FormatWriter write = [this](OutputFormat format, const TerminalOptions& terminal,
                                      const ByteSink& sink) {
      if (format == OutputFormat::kPng || format == OutputFormat::kText) {
        picture_.write(format, terminal, sink);
      }
    };
    outputs_.write_files(write);
    if (!options_.input.many_texts()) {
      outputs_.commit();
    }
    outputs_.write_to_standard_output(write);
  }

 private:
  // The picture, for weights in this range.
  void plan_drawing(const ValueRange& values) {
    document_.drawing = choose_drawing(options_.drawing.request, request_.dropout, values);
    picture_.plan(document_);
  }

  // A line of progress would stand in the middle of a document on the same screen.
  TalkOptions talk() const {
    TalkOptions talk = options_.talk;
    talk.quiet = talk.quiet || outputs_.shows(OutputFormat::kJson);
    return talk;
  }

  // An estimate of what run() takes.
  double bytes() const {
    const auto n = static_cast<double>(text_.size());
    const double rows = static_cast<double>(attending_rows(text_.size()) * request_.n_threads) * n;
    return layer_bytes(model_, text_.size()) + rows * kFloat + files_->bytes(rows) +
           picture_.bytes();
  }

  const ShowOptions& options_;
  const Model& model_;
  const TokenizedText& text_;
  const std::vector<HeadId>& heads_;
  Predictor& predictor_;
  StreamedPicture& picture_;
  Outputs& outputs_;
  AttentionRequest request_;
  AttentionDocument document_;
  std::optional<StreamedFiles> files_;  // of the document, once it is planned
};

}  // namespace

bool should_stream(const ShowOptions& options, std::size_t n_heads, std::size_t n_tokens) noexcept {
  constexpr double kKeptAtMost = 64e6;  // more would mostly be fresh memory, which is slow
  const auto n = static_cast<double>(n_tokens);
  return !options.pattern.average && !options.merge_words && !options.pattern.focus &&
         options.side_by_side.empty() &&
         static_cast<double>(n_heads) * n * n * kFloat > kKeptAtMost;
}

bool show_streamed(const ShowOptions& options, const StreamedText& shown, Predictor& predictor,
                   StreamedPicture& picture, bool tells_flat, Outputs& outputs) {
  StreamedShow show(options, shown, predictor, picture, outputs);
  show.plan();
  show.run();
  const bool told = tells_flat && picture.tell_flat();
  show.write();
  return told;
}

}  // namespace attnviz::app
