#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/analysis/compare/compare.h"
#include "attnviz/analysis/informative_heads.h"
#include "attnviz/analysis/run_stores.h"
#include "attnviz/attention/layer.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/attention/run_observer.h"
#include "attnviz/attention/visibility.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/report/attention_document.h"
#include "attnviz/report/attention_heatmap.h"
#include "attnviz/report/diff_document.h"
#include "attnviz/report/reports/reports.h"
#include "commands/attention_run.h"
#include "commands/commands.h"
#include "commands/prepared_text.h"
#include "outputs/formats/shown_attention.h"
#include "outputs/outputs.h"
#include "system/process.h"

namespace attnviz::app {

namespace {

constexpr std::size_t kUsualTop = 12;  // rows of the table

std::vector<std::filesystem::path> files_of(const std::optional<ModelSource>& source) {
  return source ? files_of(*source) : std::vector<std::filesystem::path>();
}

// Two models can be compared only on the same token ids.
void require_same_tokens(const TokenizedText& a, const TokenizedText& b) {
  const auto name = [](const TokenizedText& text, std::size_t i) {
    return i < text.size()
               ? fmt::format("{} (id {})", in_quotes(text.tokens[i].text), text.tokens[i].id)
               : std::string("no more");
  };
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    if (i >= a.size() || i >= b.size() || a.tokens[i].id != b.tokens[i].id) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("the models' tokenizers differ on this text: token {} is {} in A and "
                              "{} in B; only the same token ids can be compared (--ids gives them)",
                              i, name(a, i), name(b, i)));
    }
  }
}

// Notes that are true of both sides, and those of A or B alone.
std::vector<std::string> notes_of_sides(const std::vector<std::string>& a,
                                        const std::vector<std::string>& b) {
  const auto has = [](const std::vector<std::string>& notes, const std::string& note) {
    return std::ranges::find(notes, note) != notes.end();
  };
  std::vector<std::string> notes;
  notes.reserve(a.size() + b.size());
  for (const std::string& note : a) {
    notes.push_back((has(b, note) ? "" : "A: ") + note);
  }
  for (const std::string& note : b) {
    if (!has(a, note)) {
      notes.push_back("B: " + note);
    }
  }
  return notes;
}

// The opened sides A and B.
class Comparison {
 public:
  explicit Comparison(const DiffOptions& options)
      : options_(options),
        other_source_(options.second ? std::optional(model_source(*options.second)) : std::nullopt),
        setup_(options, options.drawing,
               options.draws_heads() ? Result::kAttention : Result::kReport, false,
               files_of(other_source_)) {
    const auto tokenizer = chosen_tokenizer(options, setup_.origin, setup_.model);
    if (other_source_) {
      other_ = open_model(*other_source_, *options.second);
      report_unread_keys(other_->config, options.verbosity);
      require_same_heads(setup_.model, *other_);
    }
    setup_.phases.done(other_ ? "models" : "model");
    heads_ = chosen_heads(options.heads, setup_.model, options.verbosity);
    read(*tokenizer);
    for (std::size_t side = 0; side < texts_.size(); ++side) {
      requests_[side] = request_of(options, model(side), texts_[side]);
    }
    alignment_ = align_tokens(texts_[0], texts_[1]);
    require_memory();
    warn_about_unused_options();
  }

  void run() {
    PatternStore first(heads_, alignment_.size());
    SinkStore first_sinks(setup_.model, heads_, alignment_.size());
    SinkGroup both({&first, &first_sinks});
    StreamStore streams;
    attend_to_side(0, both, other_ && !options_.draws_heads() ? &streams : nullptr);
    if (options_.draws_heads()) {
      PatternStore second(heads_, alignment_.size());
      attend_to_side(1, second, nullptr);
      setup_.phases.done("attention");
      return draw(first, second);
    }
    const auto compared = [this](std::size_t side) {
      return ComparedRun{side == 0 ? alignment_.first : alignment_.second,
                         visibilities(model(side), requests_[side], texts_[side].size())};
    };
    PatternComparison second(first, compared(0), compared(1), &first_sinks);
    StreamComparison departures(streams);
    attend_to_side(1, second, other_ ? &departures : nullptr);
    DiffDocument document = begun_document();
    document.heads = second.differences();
    setup_.phases.done("attention");
    if (other_) {
      ModelsDiff models;
      models.threshold = options_.threshold.value_or(models.threshold);
      models.departures = departures.departures();
      models.settings = different_settings(setup_.model, *other_);
      models.kl_bits =
          prediction_kl_bits(setup_.model, std::as_const(streams.streams().back()).view(), *other_,
                             departures.last(), options_.request.n_threads);
      models.tensors = compare_tensors(setup_.model, *other_, options_.request.n_threads);
      document.of_models = std::move(models);
      setup_.phases.done("weights and predictions");
    }
    write(document);
  }

 private:
  const Model& model(std::size_t side) const {
    return side == 1 && other_ ? *other_ : setup_.model;
  }

  void read(const Tokenizer& tokenizer) {
    if (!other_) {
      for (std::size_t side = 0; side < texts_.size(); ++side) {
        texts_[side] =
            read_text(setup_, options_, tokenizer, {options_.texts[side], options_.input.pair});
      }
      return;
    }
    const std::optional<InputText> input = setup_.source.next();
    if (!input) {
      throw Error(ErrorKind::kUsage, "diff: two models need a text to be compared on");
    }
    const auto other_tokenizer = open_tokenizer(options_.tokenizer, *other_source_, *other_);
    other_->config.tokenizer = other_tokenizer->name();
    report_unread_keys(other_->config, *other_tokenizer, options_.verbosity);
    require_same_tokens(tokenize(tokenizer, *input, options_.input),
                        tokenize(*other_tokenizer, *input, options_.input));
    texts_[0] = read_text(setup_, options_, tokenizer, *input);
    texts_[1] = texts_[0];
  }

  void require_memory() const {
    const std::size_t n_tokens = std::max(texts_[0].size(), texts_[1].size());
    const double kept = options_.draws_heads() ? 3.0 : 1.0;  // A, B and the change
    const auto bytes = [&](std::size_t n_heads, std::size_t n_compared) {
      const std::size_t n = std::min(alignment_.size(), n_compared);
      return kept * PatternStore::bytes(n_heads, n, n) +
             (other_ ? stream_bytes(setup_.model, n_compared) : 0.0) +
             std::max(layer_bytes(model(0), n_compared), layer_bytes(model(1), n_compared));
    };
    require_memory_for_heads(bytes, "comparing", heads_.size(), n_tokens);
  }

  // Passes the patterns between the tokens that both sides have to `patterns`.
  void attend_to_side(std::size_t side, PatternSink& patterns, RunObserver* streams) {
    const std::vector<std::size_t>& tokens = side == 0 ? alignment_.first : alignment_.second;
    RestrictSink restricted(patterns, tokens, texts_[side].size());
    RunObserver weights(alignment_.by_position ? patterns : restricted);
    std::vector<RunObserver*> observers = {&weights};
    if (streams != nullptr) {
      observers.push_back(streams);
    }
    ObserverGroup all(observers);
    attend(side == 0 ? "attention of A" : "attention of B", model(side), texts_[side],
           requests_[side], all, options_.verbosity);
  }

  std::string name(std::size_t side) const {
    if (!other_) {
      return valid_utf8(texts_[side].source);
    }
    return side < options_.models.size() ? options_.models[side] : model(side).config.name;
  }

  DiffDocument begun_document() const {
    DiffDocument document;
    for (std::size_t side = 0; side < texts_.size(); ++side) {
      document.names[side] = name(side);
      document.models[side] = model_facts(model(side), texts_[side]);
      document.texts[side] = texts_[side];
    }
    document.notes =
        notes_of_sides(model_notes(document.models[0]), model_notes(document.models[1]));
    for (std::string& note : notes_of_sides(texts_[0].notes, texts_[1].notes)) {
      document.notes.push_back(std::move(note));
    }
    document.run = facts_of_each(options_, setup_.model);
    if (const std::string note = masks_note(); !note.empty()) {
      document.notes.push_back(note);
    }
    if (!has_same_masks()) {
      document.run.mask.reset();
    }
    for (std::string& note : run_notes(document.run)) {
      document.notes.push_back(std::move(note));
    }
    if (!alignment_.by_position && (has_sinks(model(0)) || has_sinks(model(1)))) {
      document.notes.emplace_back(
          "learned sinks are left out: rows sum to 1 over the tokens that both texts share");
    }
    document.alignment = alignment_;
    return document;
  }

  // Warns about options that affect something that is not drawn.
  void warn_about_unused_options() const {
    const Verbosity& verbosity = options_.verbosity;
    if (options_.draws_heads()) {
      return warn_unused_drawing(setup_.outputs, options_.drawing, verbosity);
    }
    if (!other_) {
      warn_unused(verbosity, {"--threshold"},
                  "residual streams are compared only between two models");
    }
    warn_unused(verbosity,
                {"--drop-sink", "--no-special", "--plain-labels", "--transpose", "--pool"},
                "no head was drawn (--head)");
    if (options_.map || !setup_.outputs.writes(Content::kScreen)) {
      warn_unused(verbosity, Effect::kTable, "no table was drawn");
    }
    if (!options_.map && !setup_.outputs.writes(Content::kFigure)) {
      warn_unused(verbosity, Effect::kMap, "no map was drawn (--map, -o FILE.png)");
    }
  }

  void write(const DiffDocument& document) {
    DrawingRequest request = options_.drawing.request;
    Heatmap map = diff_map(document, !request.range);  // ranges are in bits
    request.automatic_range = true;
    map.scale = choose_drawing(request, 0.0f, {0.0f, map.scale.high}).scale;
    map.title = request.title.value_or(map.title);
    Report report = diff_report(document, options_.top.value_or(kUsualTop));
    if (options_.map) {
      show_only(report, std::move(map));
    } else {
      report.draw(Figure{std::move(map), /*on_screen=*/false});
    }
    setup_.outputs.write(report);
    setup_.phases.done("render");
  }

  // A's tokens that are compared; "cat/dog" if B has a different one.
  TokenizedText shown_text() const {
    TokenizedText shown;
    shown.source = texts_[0].source;
    for (std::size_t row = 0; row < alignment_.size(); ++row) {
      Token token = texts_[0].tokens[alignment_.first[row]];
      if (!alignment_.is_same[row]) {
        token.text += "/";
        token.text += without_spaces_before(texts_[1].tokens[alignment_.second[row]].text);
      }
      shown.tokens.push_back(std::move(token));
    }
    return shown;
  }

  // Sets what the document shows as masked: keys that neither side sees. After tokens are left out,
  // the distances of windows are lost, and tokens of two texts may have moved.
  void set_visible_keys(AttentionDocument& document) const {
    bool hides_later_keys = true;
    for (const HeadId head : heads_) {
      hides_later_keys =
          hides_later_keys && sees_no_later_key(0, head) && sees_no_later_key(1, head);
    }
    const bool same_masks = has_same_masks();
    if (!same_masks || !alignment_.by_position) {
      if (!same_masks) {
        document.notes.push_back(masks_note());
      }
      document.run.mask = hides_later_keys ? Mask{} : Mask{MaskKind::kNone};
      forget_layer_masks(document.run);
    }
    const auto edges = [this](std::size_t side) {
      const auto& what = requests_[side].interventions;
      return what == nullptr ? std::vector<KnockOut>() : what->knock_outs;
    };
    if (!alignment_.by_position || edges(0) != edges(1)) {
      document.run.interventions.knock_outs.clear();
      document.run.hidden_in_each = facts_of_each(options_, model(0)).hidden_in_each;
    }
  }

  Mask mask(std::size_t side, HeadId head) const {
    return mask_of(model(side), head.layer, requests_[side]);
  }
  bool sees_no_later_key(std::size_t side, HeadId head) const {
    return !mask(side, head).looks_ahead();
  }
  bool has_same_masks() const {
    return std::ranges::all_of(heads_,
                               [this](HeadId head) { return mask(0, head) == mask(1, head); });
  }

  // The masks of all compared heads; nothing if all are causal.
  std::string masks_note() const {
    if (!has_same_masks()) {
      return fmt::format("mask of A: {}; of B: {}", masks(0), masks(1));
    }
    const std::string both = masks(0);
    return both == Mask{}.name() ? std::string() : "mask " + both;
  }

  // "causal", "causal and window:4".
  std::string masks(std::size_t side) const {
    std::vector<std::string> names;
    for (const HeadId head : heads_) {
      const std::string name = mask(side, head).name();
      if (std::ranges::find(names, name) == names.end()) {
        names.push_back(name);
      }
    }
    return joined(names, "and");
  }

  void draw(const PatternStore& first, const PatternStore& second) {
    AttentionDocument document = attention_document(setup_.model, shown_text(), requests_[0], first,
                                                    second, {name(0), name(1), other_.has_value()});
    const bool is_one_text =
        alignment_.by_position &&
        std::ranges::find(alignment_.is_same, false) == alignment_.is_same.end();
    if (!is_one_text) {
      document.text.reset();
      document.token_ids.clear();
    }
    document.notes = notes_of_sides(texts_[0].notes, texts_[1].notes);
    if (other_) {
      const std::vector<std::string> of_a = model_notes(model_facts(model(0), texts_[0]));
      for (const std::string& note : model_notes(model_facts(model(1), texts_[1]))) {
        if (std::ranges::find(of_a, note) == of_a.end()) {
          document.notes.push_back("B: " + note);
        }
      }
    }
    if (!alignment_.by_position) {
      document.notes.push_back(alignment_note(begun_document()));
    }
    set_visible_keys(document);
    DrawingRequest request = options_.drawing.request;
    request.automatic_range = !request.range;
    document.drawing = choose_drawing(request, document);
    ShownAttention shown = shown_attention(std::span(&document, 1), options_.heads, {},
                                           options_.drawing.style, setup_.outputs);
    shown.set_extras(
        {.command = {.words = options_.output.command.words}, .first = first_shown(shown)});
    setup_.outputs.write(shown);
    setup_.phases.done("render");
  }

  const DiffOptions& options_;
  std::optional<ModelSource> other_source_;
  AttentionSetup setup_;
  std::optional<Model> other_;  // B, if models are compared
  std::vector<HeadId> heads_;
  std::array<TokenizedText, 2> texts_;
  std::array<AttentionRequest, 2> requests_;
  TokenAlignment alignment_;
};

}  // namespace

void run(const DiffOptions& options) {
  Comparison(options).run();
}

}  // namespace attnviz::app
