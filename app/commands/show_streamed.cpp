#include "commands/prepared_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "attnviz/analysis/pooled_patterns.h"
#include "attnviz/analysis/token_roles.h"
#include "attnviz/attention/head_math.h"
#include "attnviz/attention/layer.h"
#include "attnviz/attention/run_observer.h"
#include "attnviz/core/message.h"
#include "attnviz/report/attention_heatmap.h"
#include "attnviz/report/figures.h"
#include "attnviz/report/patterns/shown_tokens.h"
#include "outputs/formats/shown_attention.h"
#include "outputs/outputs.h"
#include "system/process.h"

namespace attnviz::app {

namespace {

constexpr double kFloat = sizeof(float);

// The cells of heads, on every grid that is drawn.
class DrawnCells {
 public:
  // Cells of thumbnails may be means when those of other pictures are not.
  explicit DrawnCells(bool of_thumbnails = false) : of_thumbnails_(of_thumbnails) {}

  // Adds a grid, unless its cells equal those of another.
  void add(const PoolGrid& grid, bool turned) {
    const PoolGrid cells = turned ? transposed(grid) : grid;
    if (std::ranges::none_of(grids_, [&](const PoolGrid& one) { return one.same_cells(cells); })) {
      grids_.push_back(cells);
    }
  }

  std::optional<PoolGrid> first_grid() const {
    return grids_.empty() ? std::nullopt : std::optional(grids_.front());
  }

  // The memory for the cells of `n_heads` heads.
  double bytes(std::size_t n_heads, const Drawing& drawing) const noexcept {
    double sum = 0.0;
    for (const PoolGrid& grid : grids_) {
      sum += PooledPatterns::bytes(n_heads, pooling(drawing, grid), grid);
    }
    return sum;
  }

  // Adds a sink for each grid, for `heads` of `document`.
  void begin(const std::vector<HeadId>& heads, const AttentionDocument& document,
             std::vector<PatternSink*>& sinks) {
    const std::vector<MaskedHeads> groups = heads_by_mask(document, heads);
    for (const PoolGrid& grid : grids_) {
      for (const MaskedHeads& group : groups) {
        cells_.push_back(std::make_shared<PooledPatterns>(group.heads, group.visibility,
                                                          pooling(document.drawing, grid), grid));
        sinks.push_back(cells_.back().get());
      }
    }
  }
  bool begun() const noexcept { return !cells_.empty(); }

  // Gives the panels of the document's picture their cells, after the last row.
  void set(Heatmap& picture, const AttentionDocument& document) const {
    set_cells(picture, document, {cells_.begin(), cells_.end()});
  }

 private:
  Pooling pooling(const Drawing& drawing, const PoolGrid& grid) const noexcept {
    return of_thumbnails_ ? thumbnail_pooling_of(drawing, grid) : pooling_of(drawing);
  }

  bool of_thumbnails_;
  std::vector<PoolGrid> grids_;
  std::vector<std::shared_ptr<PooledPatterns>> cells_;
};

bool streams_overview(const ShowSetup& setup) {
  const ShowOptions& options = setup.options;
  return draws_overview(setup.heads, options.heads, options.pattern, options.drawing.style,
                        setup.outputs);
}

// The output for one text: a panel for each head, or an overview. The overview keeps the thumbnails
// of all heads. If they need little memory, it also keeps the large picture of every head; else the
// large head is computed again.
class StreamedShow {
 public:
  StreamedShow(ShowSetup& setup, PreparedText& text)
      : setup_(setup),
        text_(text),
        document_(attention_document(setup.model, text.tokens, text.request, setup.heads)),
        is_overview_(streams_overview(setup)) {
    document_.continuation = text.continuation;
    if (has_sinks(setup.model)) {
      document_.notes.emplace_back(
          "learned sinks: rows sum to 1 together with the attention to the sink, which is not "
          "drawn here");
    }
  }

  // Checks everything that can be refused before the long part begins.
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
                   "choose fewer heads (--head 0.0) or a shorter text");
    const bool has_range = setup_.outputs.writes(Content::kFigure) ||
                           setup_.outputs.writes(Content::kScreen) ||
                           setup_.outputs.writes(Content::kDocument);
    if (has_range && needs_values(setup_.options.drawing.request)) {
      LargestWeight largest(setup_.heads, setup_.options.drawing.request.drop_sink);
      attend("largest weight", setup_.model, text_.tokens, text_.request, largest, verbosity());
      plan_drawing({0.0f, largest.value()});
    }
  }

  // Runs the model and writes the formats that take rows as they come.
  void run() {
    std::vector<PatternSink*> sinks;
    if (is_overview_) {
      informative_.emplace(informative_search(document_, setup_.heads));
      sinks.push_back(&*informative_);
    }
    panels_.begin(setup_.heads, document_, sinks);
    if (keeps_large()) {
      large_.begin(setup_.heads, document_, sinks);
    }
    std::vector<RowFile> files;
    for (const Format& format : all_formats()) {
      if (format.begin_rows != nullptr && setup_.outputs.writes(format)) {
        files.push_back(
            format.begin_rows(document_, setup_.outputs.line(), setup_.outputs.all(format)));
        sinks.push_back(files.back().sink.get());
      }
    }
    SinkGroup group(std::move(sinks));
    TextRun run(setup_, text_, text_.request);
    run.attend(group, verbosity());
    run.add_to(document_);
    text_.predictor.add_to(document_);
    for (const RowFile& file : files) {
      file.finish();
    }
  }

  // Writes the other formats.
  void write() {
    const ShownAttention shown(std::span(&document_, 1), drawn());
    note_flat(setup_, shown, panels_.first_grid());
    setup_.outputs.write([&](const Format& format, const Look& look, const ByteSink& sink) {
      if (format.begin_rows == nullptr) {
        format.attention(shown, look, sink);
      }
    });
  }

 private:
  // Plans the picture for weights in this range.
  void plan_drawing(const ValueRange& values) {
    document_.drawing =
        choose_drawing(setup_.options.drawing.request, text_.request.dropout, values);
    panels_ = DrawnCells(is_overview_);
    large_ = DrawnCells();
    InformativeHead any;  // grids do not depend on the choice
    any.head = setup_.heads.front();
    const ShownAttention shown(
        std::span(&document_, 1),
        is_overview_ ? AttentionFigure(overview_of(document_, any)) : attention_heatmap(document_));
    const bool turned = document_.drawing.transposed;
    for (const Format& format : all_formats()) {
      if (format.cells == nullptr) {
        continue;
      }
      for (const Look& look : setup_.outputs.looks(format)) {
        const OverviewCells cells = format.cells(shown, look);
        panels_.add(cells.thumbnails, turned);
        if (is_overview_) {
          large_.add(cells.large, turned);
        }
      }
    }
  }

  // The picture, after the last row.
  AttentionFigure drawn() {
    if (!is_overview_) {
      Heatmap picture = attention_heatmap(document_);
      panels_.set(picture, document_);
      return picture;
    }
    const InformativeHead choice = informative_->best();
    if (!large_.begun()) {
      std::vector<PatternSink*> sinks;
      large_.begin({choice.head}, document_, sinks);
      SinkGroup group(std::move(sinks));
      attend("large head", setup_.model, text_.tokens, text_.request, group, verbosity());
    }
    Overview overview = overview_of(document_, choice);
    panels_.set(overview.thumbnails, document_);
    large_.set(overview.large, document_of_head(document_, choice.head));
    return overview;
  }

  bool keeps_large() const {
    constexpr double kFewBytes = 256e6;
    return large_.bytes(setup_.heads.size(), document_.drawing) <= kFewBytes;
  }

  // Without a progress line, which would interrupt a document on the same screen.
  Verbosity verbosity() const {
    Verbosity verbosity = setup_.options.verbosity;
    verbosity.quiet = verbosity.quiet || setup_.outputs.streams_to_screen();
    return verbosity;
  }

  // An estimate of the memory that run() needs.
  double bytes() const {
    const std::size_t n = text_.tokens.size();
    const auto n_weights = static_cast<double>(attending_rows(n) * text_.request.n_threads * n);
    double sum = layer_bytes(setup_.model, n) + n_weights * kFloat;
    sum += panels_.bytes(setup_.heads.size(), document_.drawing) +
           large_.bytes(keeps_large() ? setup_.heads.size() : 1, document_.drawing) +
           (is_overview_ ? InformativeSearch::bytes(setup_.heads, n) : 0.0);
    for (const Format& format : all_formats()) {
      sum += setup_.outputs.writes(format) ? n_weights * format.row_bytes : 0.0;
    }
    return sum;
  }

  ShowSetup& setup_;
  PreparedText& text_;
  AttentionDocument document_;
  bool is_overview_;
  DrawnCells panels_;                             // or thumbnails
  DrawnCells large_;                              // of an overview
  std::optional<InformativeSearch> informative_;  // set by run()
};

}  // namespace

bool should_stream(const ShowSetup& setup, const PreparedText& text) {
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

void show_streamed(ShowSetup& setup, PreparedText& text) {
  StreamedShow show(setup, text);
  show.plan();
  show.run();
  show.write();
  setup.phases.done("attention and render");
}

}  // namespace attnviz::app
