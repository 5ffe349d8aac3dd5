#include "attnviz/html/explorer.h"

#include <fmt/format.h>

#include <algorithm>
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
#include "attnviz/document/attention_heatmap.h"
#include "attnviz/document/overview.h"
#include "attnviz/document/patterns/pattern_scores.h"
#include "attnviz/formats/json_writer.h"
#include "attnviz/html/blobs.h"
#include "attnviz/html/page_file.h"
#include "attnviz/picture/fonts/text_box.h"
#include "attnviz/picture/layout/figure_style.h"
#include "attnviz/text/fold.h"
#include "attnviz/text/sentences.h"

namespace attnviz {

namespace {

// Those that a reader of one text can see in its pictures.
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
      document.drawing.no_special = false;  // it shows all, as it was computed
      document.drawing.transposed = false;
      document.drawing.plain_labels = false;
      document.drawing.focus.reset();
      for (DocumentPattern& pattern : document.patterns) {
        pattern.sink.clear();  // it draws tokens alone
      }
      pictures_.push_back(attention_heatmap(document));
    }
    const Heatmap together = attention_heatmap(whole);
    title_ = printable_message(together.title);
    notes_ = together.notes;
    if (documents.front().has_sinks()) {
      notes_.emplace_back(
          "learned sinks: rows sum to 1 with what goes to no token, which the page does not draw");
    }
    if (has_dropout()) {
      notes_.emplace_back("no steps are shown: dropout changes the weights behind them");
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
                  fmt::format("a page holds {} million weights, and these are {} million: take "
                              "fewer heads or a shorter text",
                              kMostPageWeights / 1'000'000, n_weights / 1'000'000));
    }
    code_ = code_for(n_weights);
    std::ranges::transform(documents, std::back_inserter(scores_), scores_of);
  }

  const std::string& title() const noexcept { return title_; }

  void write(const ByteSink& sink) {
    json_ = JsonWriter(sink);
    json_.begin_object();
    json_.member("schema", "attnviz.page/1");
    json_.member("generator", "attnviz");
    json_.member("title", title_);
    json_.member("command", extras_.command.words);
    json_.member("command_text", extras_.command.text);
    json_.member("commands", extras_.command.names);
    const AttentionDocument& first = documents_.front();
    json_.member("text", first.text);
    json_.member("notes", notes_);
    write_model();
    write_tokens();
    write_colors();
    write_drawing();
    write_heads();
    json_.begin_array("shape");
    json_.value(pictures_.front().n_queries());
    json_.value(pictures_.front().n_keys());
    json_.end_array();
    json_.member("triangle", triangle_);
    write_steps();
    write_live();
    json_.member("blobs", blobs_.texts());
    json_.end_object();
    json_.finish();
  }

 private:
  bool has_dropout() const {
    return !extras_.followed.empty() && extras_.followed.front().request.dropout > 0.0f;
  }

  void write_model() {
    json_.key("model");
    const auto& facts = documents_.front().model;
    if (!facts) {
      return json_.null();
    }
    json_.begin_object();
    json_.member("name", facts->name);
    json_.member("family", facts->family);
    json_.member("n_layers", facts->n_layers);
    json_.member("n_heads", facts->n_heads);
    json_.member("n_kv_heads", facts->n_kv_heads);
    json_.member("random", facts->random);
    const std::vector<HeadId> heads = heads_of(documents_.front());
    json_.objects("blanks", blank_layers(documents_.front(), OverviewGrid(heads).layers),
                  [&](const BlankLayers& blank) {
                    json_.member("numbers", blank.numbers());
                    json_.member("row", blank.row);
                    json_.member("name", blank.name);
                  });
    json_.end_object();
  }

  void write_tokens() {
    const AttentionDocument& first = documents_.front();
    const bool knows_text = extras_.text != nullptr && !first.words &&
                            extras_.text->size() == first.query_tokens.size();
    json_.begin_object("queries");
    write_axis(first.query_tokens, first.marks);
    json_.key("id");
    first.token_ids.empty() ? json_.null() : json_.value(first.token_ids);
    json_.member("word", knows_text ? std::optional(word_numbers(*extras_.text)) : std::nullopt);
    json_.member("sentence",
                 knows_text ? std::optional(sentence_numbers(*extras_.text)) : std::nullopt);
    json_.key("turn");
    json_.null();
    json_.end_object();
    json_.key("keys");
    if (first.is_of_one_text()) {
      return json_.null();
    }
    json_.begin_object();
    write_axis(first.key_tokens, first.marks_of_keys());
    for (const char* const name : {"id", "word", "sentence", "turn"}) {
      json_.key(name);
      json_.null();
    }
    json_.end_object();
  }

  void write_axis(const std::vector<std::string>& tokens, const TokenMarks& marks) {
    json_.member("text", tokens);
    json_.list("label", tokens,
               [](const std::string& token) { return browser_label(printable(token)); });
    json_.member("special", marks.special);
    json_.member("added", marks.added);
    json_.member("generated", marks.generated);
  }

  void write_colors() {
    json_.begin_object("colormaps");
    for (const std::string_view name : colormap_names()) {
      const Colormap map(name);
      std::vector<Rgb> colors;
      for (std::size_t i = 0; i < Colormap::kColors; ++i) {
        colors.push_back(map((static_cast<float>(i) + 0.5f) / Colormap::kColors));
      }
      json_.member(name, blobs_.add(colors));
    }
    json_.end_object();
    json_.begin_object("bad");
    json_.member("masked", hex_of(kLightColors.masked));
    json_.member("masked_dark", hex_of(kDarkColors.masked));
    json_.member("nan", hex_of(kNanColor));
    json_.end_object();
  }

  void write_drawing() {
    const Drawing& drawing = documents_.front().drawing;
    json_.begin_object("drawing");
    json_.member("kind", word_for(kPatternKinds, documents_.front().kind));
    json_.member("colormap", drawing.scale.colormap.name());
    json_.member("scale", word_for(kScales, drawing.scale.kind));
    json_.member("low", drawing.scale.low);
    json_.member("high", drawing.scale.high);
    json_.member("zero_centred", documents_.front().difference.has_value());
    json_.member("drop_sink", drawing.drop_sink && !documents_.front().has_sinks());
    json_.member("value_name", pictures_.front().value_name);
    json_.member("query_axis", pictures_.front().query_axis);
    json_.member("key_axis", pictures_.front().key_axis);
    json_.end_object();
  }

  void write_heads() {
    json_.begin_array("documents");
    const AttentionDocument& first = documents_.front();
    for (std::size_t i = 0; i < documents_.size(); ++i) {
      json_.begin_object();
      json_.member("name", i < first.drawing.side_by_side.size() ? first.drawing.side_by_side[i]
                                                                 : std::string());
      json_.begin_array("heads");
      const std::map<HeadId, std::vector<std::string>> names = names_in(documents_[i]);
      for (std::size_t index = 0; index < documents_[i].patterns.size(); ++index) {
        const auto of_head = names.find(documents_[i].patterns[index].head);
        write_head(i, index, of_head == names.end() ? std::vector<std::string>() : of_head->second);
      }
      json_.end_array();
      json_.end_object();
    }
    json_.end_array();
    json_.begin_array("masks");
    for (const auto& [name, blob] : masks_) {
      json_.begin_object();
      json_.member("name", name);
      json_.member("blob", blob);
      json_.end_object();
    }
    json_.end_array();
    const auto chosen = std::ranges::find_if(
        first.patterns, [this](const auto& pattern) { return is_chosen(pattern.head); });
    const bool found = chosen != first.patterns.end();
    json_.member("chosen", found ? static_cast<std::size_t>(chosen - first.patterns.begin())
                                 : std::size_t{0});
    json_.member("reason", found ? isolate_quotes(extras_.first->reason) : std::string());
    if (found) {
      json_.member("focus", extras_.first->token);
      json_.member("focus_as_key", extras_.first->as_key);
    }
  }

  bool is_chosen(HeadId head) const { return extras_.first && extras_.first->head == head; }

  void write_head(std::size_t document, std::size_t index, const std::vector<std::string>& names) {
    const DocumentPattern& pattern = documents_[document].patterns[index];
    const auto& facts = documents_[document].model;
    const bool is_head = !is_no_attention(documents_[document].kind);
    json_.begin_object();
    json_.member("layer", pattern.head.layer);
    json_.member("head", pattern.head.head);
    json_.member("title", printable_message(is_head ? pattern.title
                                                    : pictures_[document].panels[index].title));
    json_.member("names", names);
    const std::size_t n_together =
        is_head && facts && facts->n_kv_heads > 0
            ? std::max<std::size_t>(facts->n_heads / facts->n_kv_heads, 1)
            : 1;
    json_.member("group", pattern.head.head / n_together);
    write_scores(document, index);
    json_.member("mask", mask_of(pictures_[document].panels[index]));
    write_weights("weights", packed_pattern(pattern.weights, triangle_, code_));
    constexpr std::size_t kMostExact = 1'048'576;
    const bool is_first = extras_.first ? is_chosen(pattern.head) : index == 0;
    if (is_first && code_ != WeightCode::kFloat &&
        packed_size(pattern.weights.rows, pattern.weights.cols, triangle_) <= kMostExact) {
      write_weights("exact", packed_pattern(pattern.weights, triangle_, WeightCode::kFloat));
    }
    json_.end_object();
  }

  // None but of attention from a token to itself or another of the same text.
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
      return {};  // what these weights are is drawn all the same
    }
  }

  void write_scores(std::size_t document, std::size_t index) {
    json_.key("scores");
    if (scores_[document].empty()) {
      return json_.null();
    }
    json_.begin_object();
    for (const Score score : kPageScores) {
      json_.member(word_for(kScoreNames, score), scores_[document][index][score]);
    }
    json_.end_object();
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

  void write_weights(std::string_view name, const PackedPattern& packed) {
    constexpr std::string_view kCodes[] = {"f32", "u16", "u8"};
    json_.begin_object(name);
    json_.member("blob",
                 std::visit([this](const auto& values) { return blobs_.add(std::span(values)); },
                            packed.values));
    json_.member("code", kCodes[packed.values.index()]);
    json_.member("low", packed.low);
    json_.member("high", packed.high);
    json_.member("curve", packed.squares ? "sqrt" : "linear");
    json_.end_object();
  }

  // The number of the panel's mask; panels that share its name have the same visible cells.
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

  void write_steps() {
    json_.key("steps");
    if (extras_.followed.empty() || has_dropout()) {
      return json_.null();
    }
    write_page_steps(extras_.followed, json_, blobs_);
  }

  // The model's own files.
  void write_live() {
    json_.key("live");
    if (!extras_.live) {
      return json_.null();
    }
    json_.begin_object();
    json_.member("model", blobs_.add(kDemoWeights));
    json_.member("config", blobs_.add(kDemoConfig));
    json_.member("tokenizer", blobs_.add(kDemoTokenizer));
    json_.end_object();
  }

  std::span<const AttentionDocument> documents_;
  const ExplorerExtras& extras_;
  JsonWriter json_{[](std::string_view) {}};
  std::vector<Heatmap> pictures_;                 // of each document
  std::vector<std::vector<ScoreValues>> scores_;  // of each document's patterns; may be empty
  std::string title_;                             // of all together
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
    throw Error(ErrorKind::kUsage, "a page shows weights, and these are scores");
  }
  ExplorerWriter writer(documents, extras);
  write_page(
      writer.title(), "", [&writer](const ByteSink& data) { writer.write(data); }, sink);
}

}  // namespace attnviz
