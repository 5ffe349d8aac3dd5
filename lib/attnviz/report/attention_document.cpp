#include "attnviz/report/attention_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include "attnviz/analysis/compare/compare.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/report/words/words.h"
#include "attnviz/text/units.h"

namespace attnviz {

namespace {

// Everything except the patterns.
AttentionDocument facts_of_run(const Model& model, const TokenizedText& text,
                               const AttentionRequest& request) {
  AttentionDocument document;
  document.text = valid_utf8(text.source);
  for (const Token& token : text.tokens) {
    document.query_tokens.push_back(valid_utf8(token.text));
    document.token_ids.push_back(token.id);
  }
  document.key_tokens = document.query_tokens;
  document.turns = token_turns(text);
  document.marks = token_marks(text);
  document.notes = text.notes;
  document.model = model_facts(model, text);
  document.run = run_facts(model, request);
  return document;
}

// Sets means of groups of heads as the document's patterns.
void take_means(AttentionDocument& document, const std::vector<std::vector<HeadId>>& groups,
                std::vector<MatrixBuffer> matrices, AverageOver over) {
  const auto owned = std::make_shared<std::vector<MatrixBuffer>>(std::move(matrices));
  document.average = DocumentAverage{over, {}};
  document.patterns.clear();
  for (std::size_t group = 0; group < groups.size(); ++group) {
    const std::vector<HeadId>& heads = groups[group];
    document.average->heads.insert(document.average->heads.end(), heads.begin(), heads.end());
    const HeadId head{over == AverageOver::kHeads ? heads.front().layer : 0,
                      over == AverageOver::kLayers ? heads.front().head : 0};
    document.patterns.push_back({head, (*owned)[group].view()});
  }
  std::sort(document.average->heads.begin(), document.average->heads.end());
  document.storage = owned;
  name_means(document);
}

// The weight that each query puts on learned sinks, averaged over these heads; empty if none has
// one.
std::vector<float> mean_sink(const std::map<HeadId, std::span<const float>>& sinks,
                             const std::vector<HeadId>& heads) {
  std::vector<double> sums;
  for (const HeadId head : heads) {
    const std::span<const float> sink = sinks.at(head);
    sums.resize(std::max(sums.size(), sink.size()));
    std::ranges::transform(sink, sums, sums.begin(), [](float weight, double sum) {
      return sum + static_cast<double>(weight);
    });
  }
  std::vector<float> means;
  means.reserve(sums.size());
  for (const double sum : sums) {
    means.push_back(static_cast<float>(sum / static_cast<double>(heads.size())));
  }
  return means;
}

// Turns hidden edges between tokens into hidden edges between words: an edge stays if it is hidden
// between all tokens of both words; none stay if the words' tokens are unknown.
class WordEdges {
 public:
  explicit WordEdges(const DocumentWords& words) {
    for (const DocumentWords::Source& source : words.sources) {
      starts_.push_back(starts_.back() + source.ids.size());
    }
  }

  std::vector<KnockOut> operator()(std::vector<KnockOut> edges) const {
    const HiddenEdges tokens(edges, starts_.back(), starts_.back());
    for (KnockOut& one : edges) {
      one.queries = words_in(one.queries);
      one.keys = words_in(one.keys);
    }
    // Edges that are hidden only by several knock-outs together.
    const HiddenEdges alone(edges);
    EdgeRows rows(alone);
    for (std::size_t word = 0; word + 1 < starts_.size(); ++word) {
      const IndexRange queries{starts_[word], starts_[word + 1]};
      if (queries.first == queries.end) {
        continue;
      }
      std::vector<IndexRange> keys = tokens.from_all(queries);
      std::ranges::transform(keys, keys.begin(),
                             [this](const IndexRange& range) { return words_in(range); });
      std::erase_if(keys, [](const IndexRange& range) { return range.first == range.end; });
      rows.add({word, word + 1}, std::move(keys));
    }
    std::ranges::copy(rows.take(), std::back_inserter(edges));
    return edges;
  }

 private:
  // The words that lie entirely in a range of tokens.
  IndexRange words_in(const IndexRange& tokens) const {
    const auto first = std::ranges::lower_bound(starts_, tokens.first) - starts_.begin();
    const auto end = std::ranges::upper_bound(starts_, tokens.end) - starts_.begin() - 1;
    return {static_cast<std::size_t>(first), static_cast<std::size_t>(std::max(first, end))};
  }

  std::vector<std::size_t> starts_ = {0};  // first token of each word, then the end of the last
};

VisibilityCache::Change edges_to_words(const AttentionDocument& document) {
  if (!document.words) {
    return {};
  }
  const auto words = std::make_shared<const WordEdges>(*document.words);
  return [words](std::vector<KnockOut> edges) { return (*words)(std::move(edges)); };
}

}  // namespace

Pooling pooling_of(const Drawing& drawing) noexcept {
  return {drawing.pool, drawing.scale.kind == ScaleKind::kRowMax};
}

Pooling thumbnail_pooling_of(const Drawing& drawing, const PoolGrid& grid) noexcept {
  return is_coarse(drawing.pool, drawing.scale, std::max(grid.queries.block, grid.keys.block))
             ? Pooling{PoolKind::kMean}
             : pooling_of(drawing);
}

std::optional<Mask> AttentionDocument::mask_of(HeadId head) const {
  if (is_before_mask(kind)) {
    return std::nullopt;
  }
  if (is_rollout() && run.mask) {
    return through_layers(*run.mask);
  }
  const bool of_one_layer = !average || average->over == AverageOver::kHeads;
  const auto layer = std::ranges::lower_bound(run.layers, head.layer, {}, &LayerFacts::layer);
  if (words || !of_one_layer || layer == run.layers.end() || layer->layer != head.layer ||
      !layer->mask()) {
    return run.mask;
  }
  return layer->mask();
}

std::vector<KnockOut> AttentionDocument::edges_hidden_in(std::span<const HeadId> heads) const {
  if (is_rollout() || is_before_mask(kind) || is_no_attention(kind) ||
      run.interventions.knock_outs.empty()) {
    return {};
  }
  return attnviz::edges_hidden_in(run.interventions, source_heads(heads));
}

std::vector<HeadId> AttentionDocument::source_heads(std::span<const HeadId> heads) const {
  if (!average) {
    return {heads.begin(), heads.end()};
  }
  std::set<std::size_t> means;
  for (const HeadId head : heads) {
    means.insert(mean_of(head));
  }
  std::vector<HeadId> averaged;
  std::ranges::copy_if(average->heads, std::back_inserter(averaged),
                       [&](HeadId head) { return means.contains(mean_of(head)); });
  return averaged;
}

Visibility AttentionDocument::visibility_of(std::span<const HeadId> heads) const {
  return DocumentVisibilities(*this).of(heads);
}

DocumentVisibilities::DocumentVisibilities(const AttentionDocument& document)
    : document_(document),
      cache_(document.query_tokens.size(), document.key_tokens.size(), edges_to_words(document)),
      numbers_(document.run.interventions.knock_outs) {
  if (document.average && !document.run.interventions.knock_outs.empty()) {
    for (const HeadId head : document.average->heads) {
      numbers_of_means_[document.mean_of(head)].insert(numbers_.number(head));
    }
  }
}

Visibility DocumentVisibilities::of(std::span<const HeadId> heads) {
  const Mask mask = document_.mask_of(heads.front()).value_or(Mask{MaskKind::kNone});
  return hidden(heads).visibility.under(mask);
}

const DocumentVisibilities::Hidden& DocumentVisibilities::hidden(std::span<const HeadId> heads) {
  std::set<std::size_t> numbers;
  if (!document_.run.interventions.knock_outs.empty()) {
    for (const HeadId head : heads) {
      if (document_.average) {
        const std::set<std::size_t>& mean = numbers_of_means_[document_.mean_of(head)];
        numbers.insert(mean.begin(), mean.end());
      } else {
        numbers.insert(numbers_.number(head));
      }
    }
  }
  const auto [known, is_new] = hidden_.try_emplace(std::move(numbers));
  if (is_new) {
    std::vector<KnockOut> edges = document_.edges_hidden_in(heads);
    known->second.note = joined_by(intervention_notes({{}, edges}), "; ");
    known->second.visibility = cache_.of({}, std::move(edges));
  }
  return known->second;
}

std::vector<MaskedHeads> heads_by_mask(const AttentionDocument& document,
                                       const std::vector<HeadId>& heads) {
  DocumentVisibilities visibilities(document);
  std::vector<MaskedHeads> groups;
  std::map<std::tuple<MaskKind, std::size_t, const HiddenEdges*>, std::size_t> places;
  for (const HeadId head : heads) {
    const Visibility seen = visibilities.of(head);
    const auto [place, is_new] = places.try_emplace(
        {seen.mask().kind, seen.mask().size, seen.hidden_edges()}, groups.size());
    if (is_new) {
      groups.push_back({seen, {}});
    }
    groups[place->second].heads.push_back(head);
  }
  return groups;
}

AttentionDocument attention_document(const Model& model, const TokenizedText& text,
                                     const AttentionRequest& request,
                                     const PatternStore& patterns) {
  AttentionDocument document = facts_of_run(model, text, request);
  std::vector<HeadId> heads(patterns.heads().begin(), patterns.heads().end());
  std::sort(heads.begin(), heads.end());
  for (const HeadId head : heads) {
    document.patterns.push_back({head, patterns.pattern(head)});
  }
  return document;
}

AttentionDocument attention_document(const Model& model, const TokenizedText& text,
                                     const AttentionRequest& request,
                                     const std::vector<HeadId>& heads) {
  AttentionDocument document = facts_of_run(model, text, request);
  document.patterns.reserve(heads.size());
  for (const HeadId head : heads) {
    document.patterns.push_back({head, {}});
  }
  return document;
}

AttentionDocument attention_document(const Model& model, const TokenizedText& text,
                                     const AttentionRequest& request, AverageSink& means,
                                     AverageOver over) {
  AttentionDocument document = facts_of_run(model, text, request);
  std::vector<MatrixBuffer> matrices;
  matrices.reserve(means.groups().size());
  for (std::size_t group = 0; group < means.groups().size(); ++group) {
    matrices.push_back(means.take_mean(group));
  }
  take_means(document, means.groups(), std::move(matrices), over);
  return document;
}

AttentionDocument attention_document(const Model& model, const TokenizedText& text,
                                     const AttentionRequest& request,
                                     const std::vector<HeadId>& heads,
                                     const RolloutRequest& rollout, MatrixBuffer pattern) {
  AttentionDocument document = facts_of_run(model, text, request);
  std::vector<MatrixBuffer> patterns;
  patterns.push_back(std::move(pattern));
  take_means(document, {heads}, std::move(patterns), AverageOver::kAll);
  document.average->rollout = rollout;
  name_means(document);
  std::set<std::size_t> bare;
  for (const HeadId head : document.average->heads) {
    if (!has_residual(model, head.layer)) {
      bare.insert(head.layer);
    }
  }
  if (!bare.empty() && rollout.residual > 0.0f) {
    document.notes.push_back(
        fmt::format("no residual connection in layer{} {}: only attention counts there",
                    bare.size() == 1 ? "" : "s", joined_by(bare, ", ")));
  }
  return document;
}

AttentionDocument attention_document(const Model& model, const TokenizedText& text,
                                     const AttentionRequest& request, const PatternStore& a,
                                     const PatternStore& b, DocumentDifference difference) {
  AttentionDocument document = attention_document(model, text, request, a);
  const auto changes = std::make_shared<std::vector<MatrixBuffer>>();
  for (DocumentPattern& pattern : document.patterns) {
    changes->push_back(pattern_change(pattern.weights, b.pattern(pattern.head)));
    pattern.weights = std::as_const(changes->back()).view();
  }
  document.storage = changes;
  document.difference = std::move(difference);
  return document;
}

void name_words(AttentionDocument& document, const TokenizedText& text, const FoldedText& folded) {
  const TokenizedText& merged = folded.text;
  DocumentWords words;
  words.fold = folded.by;
  document.query_tokens.clear();
  document.token_ids.clear();
  for (const Token& word : merged.tokens) {
    document.query_tokens.push_back(valid_utf8(word.text));
    words.sources.push_back({word.begin, word.end, {}});
  }
  document.key_tokens = document.query_tokens;
  document.turns = token_turns(merged);
  document.marks = token_marks(merged);
  for (std::size_t i = 0; i < text.size(); ++i) {
    words.sources[folded.numbers[i]].ids.push_back(text.tokens[i].id);
  }
  std::optional<Mask>& mask = document.run.mask;
  if (mask && mask->kind != MaskKind::kNone && mask->kind != MaskKind::kCausal) {
    words.mask = std::exchange(mask, AttentionDocument::through_layers(*mask));
  }
  document.words = std::move(words);
}

void average_patterns(AttentionDocument& document, AverageOver over) {
  if (document.average) {
    throw Error(ErrorKind::kUsage,
                fmt::format("average: the pattern{} already",
                            document.is_rollout() ? " is a rollout" : "s are means"),
                "average");
  }
  std::map<HeadId, ConstMatrix> weights;
  std::map<HeadId, std::span<const float>> given_sinks;
  std::vector<HeadId> all;
  for (const DocumentPattern& pattern : document.patterns) {
    weights.emplace(pattern.head, pattern.weights);
    given_sinks.emplace(pattern.head, pattern.sink);
    all.push_back(pattern.head);
  }
  const auto groups = average_groups(all, over);
  std::vector<std::vector<float>> sinks;
  sinks.reserve(groups.size());
  for (const std::vector<HeadId>& heads : groups) {
    sinks.push_back(mean_sink(given_sinks, heads));
  }
  std::vector<MatrixBuffer> matrices;
  for (const std::vector<HeadId>& heads : groups) {
    std::vector<ConstMatrix> patterns;
    patterns.reserve(heads.size());
    for (const HeadId head : heads) {
      patterns.push_back(weights.at(head));
    }
    matrices.push_back(mean_pattern(patterns));
  }
  take_means(document, groups, std::move(matrices), over);
  for (std::size_t i = 0; i < sinks.size(); ++i) {
    document.patterns[i].sink = std::move(sinks[i]);
  }
}

void name_means(AttentionDocument& document) {
  if (!document.average) {
    return;
  }
  std::set<std::size_t> layers;
  std::set<std::size_t> heads;
  for (const HeadId head : document.average->heads) {
    layers.insert(head.layer);
    heads.insert(head.head);
  }
  for (DocumentPattern& pattern : document.patterns) {
    switch (document.average->over) {
      case AverageOver::kHeads:
        pattern.title =
            fmt::format("L{}, average of {}", pattern.head.layer, counted(heads.size(), "head"));
        break;
      case AverageOver::kLayers:
        pattern.title =
            fmt::format("H{}, average of {}", pattern.head.head, counted(layers.size(), "layer"));
        break;
      case AverageOver::kAll:
        pattern.title = document.is_rollout()
                            ? fmt::format("rollout L{}-L{}", *layers.begin(), *layers.rbegin())
                            : "average of " + counted(document.average->heads.size(), "head");
        break;
    }
  }
}

std::vector<HeadId> heads_of(const AttentionDocument& document) {
  std::vector<HeadId> heads;
  heads.reserve(document.patterns.size());
  for (const DocumentPattern& pattern : document.patterns) {
    heads.push_back(pattern.head);
  }
  return heads;
}

void keep_patterns(AttentionDocument& document, std::span<const HeadId> heads) {
  const std::set<HeadId> kept(heads.begin(), heads.end());
  std::erase_if(document.patterns,
                [&kept](const DocumentPattern& pattern) { return !kept.contains(pattern.head); });
  if (!document.average || document.average->over == AverageOver::kAll) {
    return;
  }
  const bool by_layer = document.average->over == AverageOver::kHeads;
  const auto group_of = [by_layer](HeadId head) { return by_layer ? head.layer : head.head; };
  std::set<std::size_t> groups;
  for (const DocumentPattern& pattern : document.patterns) {
    groups.insert(group_of(pattern.head));
  }
  std::erase_if(document.average->heads,
                [&](HeadId head) { return !groups.contains(group_of(head)); });
  name_means(document);
}

}  // namespace attnviz
