#include "streamed_show.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "attention_run.h"
#include "attnviz/analysis/largest_weight.h"
#include "attnviz/attention/attention_block.h"
#include "attnviz/attention/layer.h"
#include "attnviz/attention/row_stream.h"
#include "attnviz/attention/sink_group.h"
#include "attnviz/formats/json_numbers.h"
#include "attnviz/formats/npy.h"
#include "attnviz/render/attention_document.h"
#include "attnviz/render/attention_heatmap.h"
#include "attnviz/render/attention_json.h"
#include "attnviz/render/drawing_choice.h"
#include "attnviz/render/png.h"
#include "drawing_notes.h"
#include "memory.h"
#include "show_formats.h"

namespace attnviz::app {

namespace {

constexpr double kFloat = sizeof(float);

// Everything that is made of one text.
class StreamedShow {
 public:
  StreamedShow(const ShowOptions& options, const StreamedText& shown, Predictor& predictor,
               const FigureStyle& figure, Outputs& outputs)
      : options_(options),
        model_(shown.model),
        text_(shown.text),
        heads_(shown.heads),
        continuation_(shown.continuation),
        predictor_(predictor),
        figure_(figure),
        outputs_(outputs),
        request_(request_of(options)) {}

  // Everything that can be refused is refused before the long part begins.
  void plan() {
    document_ = attention_document(model_, text_, request_, heads_);
    document_.continuation = continuation_;
    if (outputs_.writes(OutputFormat::kNpy)) {
      npy_header_ = npy_header_of(document_);
    }
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
    std::vector<std::shared_ptr<PooledPatterns>> pictures;
    std::vector<PatternSink*> sinks;
    pictures.reserve(grids_.size());
    for (const PoolGrid& grid : grids_) {
      pictures.push_back(std::make_shared<PooledPatterns>(
          heads_, document_.run.mask.value_or(Mask{}), document_.drawing, grid));
      sinks.push_back(pictures.back().get());
    }
    std::optional<AttentionJsonStream> json;
    std::optional<RowStream> json_rows;
    if (outputs_.writes(OutputFormat::kJson)) {
      json.emplace(document_, outputs_.all(OutputFormat::kJson));
      json_rows.emplace(
          heads_, text_.size(), append_json_row,
          [&json](std::size_t n_rows, std::string_view rows) { json->rows(n_rows, rows); });
      sinks.push_back(&*json_rows);
    }
    std::optional<RowStream> npy_rows;
    if (outputs_.writes(OutputFormat::kNpy)) {
      const ByteSink npy = outputs_.all(OutputFormat::kNpy);
      npy(npy_header_);
      npy_rows.emplace(heads_, text_.size(), append_npy_row,
                       [npy](std::size_t /*n_rows*/, std::string_view rows) { npy(rows); });
      sinks.push_back(&*npy_rows);
    }
    SinkGroup group(std::move(sinks));
    attend_to(heads_, model_, text_, request_, group, talk(), predictor_.output());
    predictor_.add_to(document_);
    if (json) {
      json->finish();
    }
    set_cells(picture_, document_, {pictures.begin(), pictures.end()});
  }

  bool tell_flat() const {
    return !grids_.empty() && app::tell_flat(picture_, options_, outputs_, grids_.front());
  }

  // What is not written yet.
  void write() {
    const FormatWriter write = [this](OutputFormat format, const TerminalOptions& terminal,
                                      const ByteSink& sink) {
      if (format == OutputFormat::kPng || format == OutputFormat::kText) {
        write_attention(format, std::span(&document_, 1), picture_, figure_, terminal, sink);
      }
    };
    outputs_.write_files(write);
    if (!options_.input.many_texts()) {
      outputs_.commit();
    }
    outputs_.write_to_standard_output(write);
  }

 private:
  // The picture and its grids, for weights in this range.
  void plan_drawing(const ValueRange& values) {
    document_.drawing = choose_drawing(options_.drawing.request, request_.dropout, values);
    picture_ = attention_heatmap(document_);
    grids_.clear();
    if (outputs_.writes(OutputFormat::kPng)) {
      add_grid(figure_grid(picture_, figure_));
    }
    for (const TerminalOptions& drawing : outputs_.drawings()) {
      add_grid(terminal_grid(picture_, drawing));
    }
  }

  // A line of progress would stand in the middle of a document on the same screen.
  TalkOptions talk() const {
    TalkOptions talk = options_.talk;
    talk.quiet = talk.quiet || outputs_.shows(OutputFormat::kJson);
    return talk;
  }

  void add_grid(const PoolGrid& grid) {
    if (std::none_of(grids_.begin(), grids_.end(),
                     [&grid](const PoolGrid& other) { return other.same_cells(grid); })) {
      grids_.push_back(grid);
    }
  }

  // An estimate of what run() takes.
  double bytes() const {
    constexpr double kNumberAsText = 14.0;
    const auto n = static_cast<double>(text_.size());
    const double rows = static_cast<double>(attending_rows(text_.size()) * request_.n_threads) * n;
    double sum = layer_bytes(model_, text_.size()) + rows * kFloat;
    if (outputs_.writes(OutputFormat::kJson)) {
      sum += 2.0 * rows * kNumberAsText;  // made ready, and on the way
    }
    if (outputs_.writes(OutputFormat::kNpy)) {
      sum += rows * kFloat;
    }
    for (const PoolGrid& grid : grids_) {
      sum += PooledPatterns::bytes(heads_.size(), document_.drawing, grid);
    }
    return sum;
  }

  const ShowOptions& options_;
  const Model& model_;
  const TokenizedText& text_;
  const std::vector<HeadId>& heads_;
  const std::optional<Continuation>& continuation_;
  Predictor& predictor_;
  const FigureStyle& figure_;
  Outputs& outputs_;
  AttentionRequest request_;
  AttentionDocument document_;
  Heatmap picture_;
  std::string npy_header_;
  std::vector<PoolGrid> grids_;
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
                   const FigureStyle& figure, bool tells_flat, Outputs& outputs) {
  StreamedShow show(options, shown, predictor, figure, outputs);
  show.plan();
  show.run();
  const bool told = tells_flat && show.tell_flat();
  show.write();
  return told;
}

}  // namespace attnviz::app
