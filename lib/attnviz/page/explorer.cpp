#include "attnviz/page/explorer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "attnviz/color/colormap.h"
#include "attnviz/core/demo_files.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/page/page_file.h"
#include "attnviz/picture/fonts/glyphs.h"
#include "attnviz/picture/layout/figure_style.h"
#include "attnviz/report/attention_heatmap.h"
#include "attnviz/report/figures.h"
#include "attnviz/report/json/datum.h"
#include "attnviz/report/patterns/step_patterns.h"
#include "attnviz/text/units.h"

namespace attnviz {

namespace {

// Scores that can be seen in the pictures of one text.
constexpr Score kPageScores[] = {Score::kPrevious,   Score::kSelf,        Score::kFirst,
                                 Score::kDuplicate,  Score::kInduction,   Score::kEntropyFraction,
                                 Score::kConfidence, Score::kDistanceMean};

WeightCode code_for(std::size_t n_weights) {
  constexpr std::size_t kMostFloats = 262'144;    // 1 MB before compression
  constexpr std::size_t kMostShorts = 4'194'304;  // 8 MB
  return n_weights <= kMostFloats   ? WeightCode::kFloat
         : n_weights <= kMostShorts ? WeightCode::k16
                                    : WeightCode::k8;
}

std::string hex_of(Rgb color) {
  return fmt::format("#{:02x}{:02x}{:02x}", color.r, color.g, color.b);
}

class ExplorerWriter {
 public:
  ExplorerWriter(std::span<const AttentionDocument> documents, const ExplorerExtras& extras)
      : documents_(documents), extras_(extras) {
    std::vector<AttentionDocument> whole(documents.begin(), documents.end());
    for (AttentionDocument& document : whole) {
      document.drawing.drop_sink = false;   // the page does so itself
      document.drawing.no_special = false;  // the page shows all, as computed
      document.drawing.transposed = false;
      document.drawing.plain_labels = false;
      document.drawing.focus.reset();
      for (DocumentPattern& pattern : document.patterns) {
        pattern.sink.clear();  // the page draws tokens alone
      }
      pictures_.push_back(attention_heatmap(document));
    }
    const Heatmap together = attention_heatmap(whole);
    title_ = printable_message(together.title);
    notes_ = together.notes;
    if (documents.front().has_sinks()) {
      notes_.emplace_back(
          "learned sinks: rows sum to 1 together with the attention to the sink, which the page "
          "does not draw");
    }
    if (has_dropout()) {
      notes_.emplace_back("no steps are shown because dropout changes the weights");
    } else if (!has_steps() && !extras_.followed.empty()) {
      notes_.emplace_back("no steps are shown because learned sinks take part in softmax");
    }
    const Heatmap& picture = pictures_.front();
    const bool is_square = picture.n_queries() == picture.n_keys();
    std::size_t n_patterns = 0;
    triangle_ = is_square;
    for (const AttentionDocument& document : documents) {
      n_patterns += document.patterns.size();
      triangle_ = triangle_ && std::ranges::all_of(document.patterns, [](const auto& pattern) {
                    return is_triangle(pattern.weights);
                  });
    }
    const std::size_t n_weights =
        n_patterns * packed_size(picture.n_queries(), picture.n_keys(), triangle_);
    if (n_weights > kMostPageWeights) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("a page holds at most {} million weights, but these are {} million: "
                              "choose fewer heads or a shorter text",
                              kMostPageWeights / 1'000'000, n_weights / 1'000'000));
    }
    code_ = code_for(n_weights);
    std::ranges::transform(documents, std::back_inserter(scores_), scores_of);
  }

  const std::string& title() const noexcept { return title_; }

  void write(const ByteSink& sink) {
    const AttentionDocument& first = documents_.front();
    const Heatmap& picture = pictures_.front();
    Record record{{"schema", "attnviz.page/1"},
                  {"generator", "attnviz"},
                  {"title", title_},
                  {"command", extras_.command.words},
                  {"command_text", extras_.command.text},
                  {"commands", extras_.command.names},
                  {"text", first.text},
                  {"notes", notes_},
                  {"model", model_datum()}};
    record.add_all(tokens_record())
        .add_all(colors_record())
        .add("drawing", drawing_record())
        .add_all(heads_record())
        .add("shape", std::array{picture.n_queries(), picture.n_keys()})
        .add("triangle", triangle_)
        .add("steps", has_steps() ? page_steps(extras_.followed, blobs_) : Datum())
        .add("live", live_datum());
    JsonWriter json(sink);
    json.begin_object();
    write_members(json, record);
    json.member("blobs", blobs_.texts());
    json.end_object();
    json.finish();
  }

 private:
  bool has_dropout() const {
    return !extras_.followed.empty() && extras_.followed.front().request.dropout > 0.0f;
  }

  // Whether the page can compute the weights again from queries and keys.
  bool has_steps() const {
    return !extras_.followed.empty() && !has_dropout() && !documents_.front().has_sinks();
  }

  Datum model_datum() const {
    const auto& facts = documents_.front().model;
    if (!facts) {
      return {};
    }
    const std::vector<HeadId> heads = heads_of(documents_.front());
    return Record{
        {"name", facts->name},
        {"family", facts->family},
        {"n_layers", facts->n_layers},
        {"n_heads", facts->n_heads},
        {"n_kv_heads", facts->n_kv_heads},
        {"random", facts->random},
        {"blanks",
         list_of(blank_layers(documents_.front(), OverviewGrid(heads).layers), [](const BlankLayers&
                                                                                      blank) {
           return Record{{"numbers", blank.numbers()}, {"row", blank.row}, {"name", blank.name}};
         })}};
  }

  Record tokens_record() const {
    const AttentionDocument& first = documents_.front();
    const bool knows_text = extras_.text != nullptr && !first.words &&
                            extras_.text->size() == first.query_tokens.size();
    Record queries = axis_record(first.query_tokens, first.marks);
    queries.add("id", first.token_ids.empty() ? Datum() : Datum(first.token_ids))
        .add("word", knows_text ? Datum(word_numbers(*extras_.text)) : Datum())
        .add("sentence", knows_text ? Datum(sentence_numbers(*extras_.text)) : Datum())
        .add("turn", {});
    Record tokens{{"queries", std::move(queries)}};
    if (first.is_of_one_text()) {
      return tokens.add("keys", {});
    }
    Record keys = axis_record(first.key_tokens, first.marks_of_keys());
    for (const char* const name : {"id", "word", "sentence", "turn"}) {
      keys.add(name, {});
    }
    return tokens.add("keys", std::move(keys));
  }

  static Record axis_record(const std::vector<std::string>& tokens, const TokenMarks& marks) {
    return {
        {"text", tokens},
        {"label",
         list_of(tokens, [](const std::string& token) { return browser_label(printable(token)); })},
        {"special", marks.special},
        {"added", marks.added},
        {"generated", marks.generated}};
  }

  Record colors_record() {
    Record maps;
    for (const std::string_view name : colormap_names()) {
      const Colormap map(name);
      std::vector<Rgb> colors;
      for (std::size_t i = 0; i < Colormap::kColors; ++i) {
        colors.push_back(map((static_cast<float>(i) + 0.5f) / Colormap::kColors));
      }
      maps.add(name, blobs_.add(colors));
    }
    return {{"colormaps", std::move(maps)},
            {"bad", Record{{"masked", hex_of(kLightColors.masked)},
                           {"masked_dark", hex_of(kDarkColors.masked)},
                           {"nan", hex_of(kNanColor)}}}};
  }

  Record drawing_record() const {
    const Drawing& drawing = documents_.front().drawing;
    const Heatmap& picture = pictures_.front();
    return {{"kind", word_for(kPatternKinds, documents_.front().kind)},
            {"colormap", drawing.scale.colormap.name()},
            {"scale", word_for(kScales, drawing.scale.kind)},
            {"low", drawing.scale.low},
            {"high", drawing.scale.high},
            {"zero_centred", documents_.front().difference.has_value()},
            {"drop_sink", drawing.drop_sink && !documents_.front().has_sinks()},
            {"value_name", picture.value_name},
            {"query_axis", picture.query_axis},
            {"key_axis", picture.key_axis}};
  }

  Record heads_record() {
    const AttentionDocument& first = documents_.front();
    const std::vector<std::string>& names = first.drawing.side_by_side;
    Datum::List documents;
    for (std::size_t i = 0; i < documents_.size(); ++i) {
      documents.emplace_back(
          Record{{"name", i < names.size() ? names[i] : std::string()}, {"heads", heads_in(i)}});
    }
    const auto chosen = std::ranges::find_if(
        first.patterns, [this](const auto& pattern) { return is_chosen(pattern.head); });
    const bool found = chosen != first.patterns.end();
    Record record{{"documents", std::move(documents)},
                  {"masks", list_of(masks_,
                                    [](const auto& mask) {
                                      return Record{{"name", mask.first}, {"blob", mask.second}};
                                    })},
                  {"chosen", found ? static_cast<std::size_t>(chosen - first.patterns.begin()) : 0},
                  {"reason", found ? isolate_quotes(extras_.first->reason) : std::string()}};
    if (found) {
      record.add("focus", extras_.first->token).add("focus_as_key", extras_.first->as_key);
    }
    return record;
  }

  Datum::List heads_in(std::size_t document) {
    const std::map<HeadId, std::vector<std::string>> names = names_in(documents_[document]);
    Datum::List heads;
    for (std::size_t index = 0; index < documents_[document].patterns.size(); ++index) {
      const auto of_head = names.find(documents_[document].patterns[index].head);
      heads.emplace_back(head_record(
          document, index, of_head == names.end() ? std::vector<std::string>() : of_head->second));
    }
    return heads;
  }

  bool is_chosen(HeadId head) const { return extras_.first && extras_.first->head == head; }

  Record head_record(std::size_t document, std::size_t index,
                     const std::vector<std::string>& names) {
    const DocumentPattern& pattern = documents_[document].patterns[index];
    const auto& facts = documents_[document].model;
    const HeatmapPanel& panel = pictures_[document].panels[index];
    const bool is_head = !is_no_attention(documents_[document].kind);
    const std::size_t n_together =
        is_head && facts && facts->n_kv_heads > 0
            ? std::max<std::size_t>(facts->n_heads / facts->n_kv_heads, 1)
            : 1;
    Record record{{"layer", pattern.head.layer},
                  {"head", pattern.head.head},
                  {"title", printable_message(is_head ? pattern.title : panel.title)},
                  {"names", names},
                  {"group", pattern.head.head / n_together},
                  {"scores", scores_datum(document, index)},
                  {"mask", mask_of(panel)}};
    record.add("weights", weights_record(packed_pattern(pattern.weights, triangle_, code_)));
    constexpr std::size_t kMostExact = 1'048'576;
    const bool is_first = extras_.first ? is_chosen(pattern.head) : index == 0;
    if (is_first && code_ != WeightCode::kFloat &&
        packed_size(pattern.weights.rows, pattern.weights.cols, triangle_) <= kMostExact) {
      record.add("exact",
                 weights_record(packed_pattern(pattern.weights, triangle_, WeightCode::kFloat)));
    }
    return record;
  }

  // Empty unless attention is from a token to itself or another of the same text.
  static std::vector<ScoreValues> scores_of(const AttentionDocument& document) {
    if (!document.is_of_one_text() || document.difference || document.is_rollout() ||
        document.kind != PatternKind::kWeights) {
      return {};
    }
    const ScoredTokens tokens =
        document.token_ids.size() == document.query_tokens.size()
            ? ScoredTokens(document.token_ids)
            : ScoredTokens(document.query_tokens.size(), ScoredTokens::Options());
    try {
      return pattern_scores(document, tokens).heads;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kMalformed) {
        throw;
      }
      return {};  // the weights are drawn all the same
    }
  }

  Datum scores_datum(std::size_t document, std::size_t index) const {
    if (scores_[document].empty()) {
      return {};
    }
    Record record;
    for (const Score score : kPageScores) {
      record.add(word_for(kScoreNames, score), scores_[document][index][score]);
    }
    return record;
  }

  static std::map<HeadId, std::vector<std::string>> names_in(const AttentionDocument& document) {
    std::map<HeadId, std::vector<std::string>> names;
    if (is_no_attention(document.kind) || !document.model || !document.model->named_heads) {
      return names;
    }
    for (const NamedHead& named : *document.model->named_heads) {
      names[{named.layer, named.head}].push_back(named.name);
    }
    return names;
  }

  Record weights_record(const PackedPattern& packed) {
    constexpr std::string_view kCodes[] = {"f32", "u16", "u8"};
    return {
        {"blob", std::visit([this](const auto& values) { return blobs_.add(std::span(values)); },
                            packed.values)},
        {"code", kCodes[packed.values.index()]},
        {"low", packed.low},
        {"high", packed.high},
        {"curve", packed.squares ? "sqrt" : "linear"}};
  }

  // The number of the panel's mask; panels with the same mask name have the same visible cells.
  std::optional<std::size_t> mask_of(const HeatmapPanel& panel) {
    if (!panel.visible) {
      return std::nullopt;
    }
    const auto [known, is_new] = mask_numbers_.emplace(panel.mask, masks_.size());
    if (!is_new) {
      return known->second;
    }
    const Heatmap& picture = pictures_.front();
    std::vector<std::uint8_t> bits((picture.n_queries() * picture.n_keys() + 7) / 8);
    for (std::size_t query = 0; query < picture.n_queries(); ++query) {
      for (std::size_t key = 0; key < picture.n_keys(); ++key) {
        if (panel.visible(query, key)) {
          const std::size_t bit = query * picture.n_keys() + key;
          bits[bit / 8] = static_cast<std::uint8_t>(bits[bit / 8] | 1U << bit % 8);
        }
      }
    }
    masks_.emplace_back(panel.mask, blobs_.add(bits));
    return masks_.size() - 1;
  }

  // The model's own files.
  Datum live_datum() {
    if (!extras_.live) {
      return {};
    }
    return Record{{"model", blobs_.add(kDemoWeights)},
                  {"config", blobs_.add(kDemoConfig)},
                  {"tokenizer", blobs_.add(kDemoTokenizer)}};
  }

  std::span<const AttentionDocument> documents_;
  const ExplorerExtras& extras_;
  std::vector<Heatmap> pictures_;                 // of each document
  std::vector<std::vector<ScoreValues>> scores_;  // of each document's patterns; may be empty
  std::string title_;                             // common title of all documents
  std::vector<std::string> notes_;
  bool triangle_ = false;
  WeightCode code_ = WeightCode::kFloat;
  Blobs blobs_;
  std::vector<std::pair<std::string, std::size_t>> masks_;  // names and blobs
  std::map<std::string, std::size_t> mask_numbers_;         // by name
};

}  // namespace

void write_explorer(std::span<const AttentionDocument> documents, const ExplorerExtras& extras,
                    const ByteSink& sink) {
  if (is_before_softmax(documents.front().kind)) {
    throw Error(ErrorKind::kUsage, "a page shows weights, but these are scores");
  }
  ExplorerWriter writer(documents, extras);
  write_page(
      writer.title(), "", [&writer](const ByteSink& data) { writer.write(data); }, sink);
}

}  // namespace attnviz
