#include "attnviz/report/heads_document.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <string_view>

#include "attnviz/attention/interventions.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/model/mask.h"
#include "attnviz/report/figures.h"

namespace attnviz {

namespace {

std::string words_for(const ProbeSource& probes) {
  const std::string count = counted(probes.texts.size(), "sequence");
  if (probes.is_given) {
    return fmt::format("{} given by ids", count);
  }
  return fmt::format("{} ({}{} random tokens {} times; seed {})", count,
                     probes.texts.size() > 1 ? "each " : "", probes.shape.length,
                     probes.shape.repeats, probes.shape.seed);
}
std::string words_for(const ScoredText& source) {
  return fmt::format("a text of {}", counted(source.text.size(), "token"));
}
std::string words_for(const CorpusSource& source) {
  return counted(source.n_texts, "text");
}
std::string words_for(const FileSource& source) {
  return fmt::format("a pattern of {}", counted(source.n_tokens, "token"));
}

// The score as a multiple of the name's threshold; below 1 the head does not get the name.
double share_of(const HeadName& name, const ScoreValues& scores) {
  return scores[name.score].value_or(0.0) / name.at_least;
}

bool has_score(const HeadsDocument& document, Score score) {
  for (std::size_t i = 0; i < document.heads.size(); ++i) {
    if (document.raw.estimate(i, score)) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::optional<std::size_t> HeadsDocument::interrupted_after() const noexcept {
  const auto* const corpus = std::get_if<CorpusSource>(&source);
  return corpus == nullptr ? std::nullopt : corpus->interrupted_after;
}

std::vector<std::string_view> HeadsDocument::names(std::size_t index) const {
  const auto* const probes = std::get_if<ProbeSource>(&source);
  return probes == nullptr ? std::vector<std::string_view>()
                           : earned_names(raw.means(index), probes->texts, uniform);
}

bool HeadsDocument::judges(const HeadName& name) const {
  const auto* const probes = std::get_if<ProbeSource>(&source);
  return probes != nullptr && is_judged(name, probes->texts, uniform);
}

bool HeadsDocument::is_like_random() const {
  const auto* const probes = std::get_if<ProbeSource>(&source);
  return probes != nullptr && probes->texts.size() >= kUsualProbes;
}

double HeadsDocument::sink_rate() const {
  std::size_t n_sinks = 0;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    n_sinks += raw.means(i)[Score::kSinkAlpha].value_or(0.0) > kSinkEpsilon ? 1U : 0U;
  }
  return static_cast<double>(n_sinks) / static_cast<double>(std::max<std::size_t>(heads.size(), 1));
}

const HeadName* nearest_name(const HeadsDocument& document, const ScoreValues& scores) {
  const HeadName* nearest = nullptr;
  for (const HeadName& name : kHeadNames) {
    if (document.judges(name) &&
        (nearest == nullptr || share_of(name, scores) > share_of(*nearest, scores))) {
      nearest = &name;
    }
  }
  return nearest;
}

std::string random_baseline_note(const HeadsDocument& document) {
  const auto* const probes = std::get_if<ProbeSource>(&document.source);
  if (probes == nullptr) {
    return "heads are identified only on random tokens (attnviz heads without a text)";
  }
  if (std::ranges::any_of(probes->texts,
                          [](const auto& text) { return text.size() < kShortestNamedProbe; })) {
    return fmt::format(
        "heads are identified on sequences of at least {} tokens: on shorter ones, heads with "
        "random weights would pass, too",
        kShortestNamedProbe);
  }
  std::vector<std::string> alike, unseen;
  for (const HeadName& name : kHeadNames) {
    if (!document.judges(name)) {
      alike.emplace_back(name.name);
    } else if (!has_score(document, name.score)) {
      unseen.emplace_back(name.name);
    }
  }
  std::string reasons;
  if (!alike.empty()) {
    reasons = fmt::format(
        "{} (so few keys are visible that a head that spreads its attention evenly scores as high "
        "as the best head with random weights)",
        joined(alike, "and"));
  }
  if (!unseen.empty()) {
    reasons += fmt::format("{}{} (the tokens that these heads look for are not visible)",
                           reasons.empty() ? "" : "; ", joined(unseen, "and"));
  }
  return reasons.empty() ? "" : "not judged here: " + reasons;
}

std::string visibility_note(const RunFacts& run, std::span<const HeadId> heads,
                            std::size_t n_tokens) {
  std::map<std::size_t, Mask> own;
  for (const LayerFacts& layer : run.layers) {
    if (const auto mask = layer.mask()) {
      own.emplace(layer.layer, *mask);
    }
  }
  // Tokens that the last token sees.
  const auto n_seen = [&](HeadId head) {
    const auto found = own.find(head.layer);
    const Mask mask =
        found != own.end() ? found->second : run.mask.value_or(Mask{MaskKind::kNone, 0});
    return mask.n_visible(std::max<std::size_t>(n_tokens, 1) - 1, 0, n_tokens);
  };
  const std::size_t n_of_first = n_seen(heads.front());
  const auto other =
      std::ranges::find_if(heads, [&](HeadId head) { return n_seen(head) != n_of_first; });
  return other == heads.end()
             ? ""
             : fmt::format(
                   "uniform scores and names assume what layer {} sees, {} at the end, but layer "
                   "{} sees {}: score these layers separately",
                   heads.front().layer, counted(n_of_first, "token"), other->layer, n_seen(*other));
}

std::string heads_title(const HeadsDocument& document) {
  const std::string where =
      std::visit([](const auto& source) { return words_for(source); }, document.source);
  const auto* const file = std::get_if<FileSource>(&document.source);
  const std::string what = document.model    ? model_title(*document.model)
                           : file != nullptr ? file->name
                                             : "attention";
  return fmt::format("{}, {} on {}", what, counted(document.heads.size(), "head"), where);
}

std::vector<std::size_t> ranked_heads(const HeadsDocument& document, const HeadRanking& ranking) {
  std::vector<std::size_t> indices;
  std::vector<double> keys;
  for (std::size_t i = 0; i < document.heads.size(); ++i) {
    const ScoreValues scores = document.raw.means(i);
    const HeadName* const nearest = nearest_name(document, scores);
    keys.push_back(ranking.sort
                       ? scores[*ranking.sort].value_or(-std::numeric_limits<double>::infinity())
                   : nearest != nullptr ? share_of(*nearest, scores)
                                        : 0.0);
    const bool is_left_out = std::ranges::any_of(ranking.at_least, [&](const auto& bound) {
      return !(scores[bound.first] && *scores[bound.first] >= bound.second);
    });
    if (!is_left_out) {
      indices.push_back(i);
    }
  }
  std::ranges::stable_sort(indices, std::greater(), [&keys](std::size_t i) { return keys[i]; });
  return indices;
}

std::string largest_words(const HeadsDocument& document, Score score) {
  const std::size_t best = ranked_heads(document, {score, {}}).front();
  const auto estimate = document.raw.estimate(best, score);
  if (!estimate) {
    return "this score could not be measured for any head";
  }
  std::string words = fmt::format("the largest: head {} with {:.3g}",
                                  head_name(document.heads[best]), estimate->mean);
  if (const std::optional<double>& uniform = document.uniform[score]) {
    words += fmt::format("; a head that spreads its attention evenly has {:.3g}", *uniform);
  }
  const auto* const name = std::ranges::find(kHeadNames, score, &HeadName::score);
  if (name != kHeadNames.end() && document.judges(*name)) {
    words += fmt::format("; {}: from {}", name->name, name->at_least);
  }
  return words;
}

namespace {

// Replaces score names that only programs read well.
constexpr std::array kPlainNames = {
    Choice{"first token", Score::kFirst},
    Choice{"largest sink alpha", Score::kSinkAlphaMax},
    Choice{"induction, latest copy", Score::kInductionLatest},
    Choice{"entropy (bits)", Score::kEntropyBits},
    Choice{"entropy, as a share of the maximum", Score::kEntropyFraction},
    Choice{"mean distance", Score::kDistanceMean},
    Choice{"largest distance", Score::kDistanceMax},
    Choice{"distance to the largest weight", Score::kDistanceOfLargest},
    Choice{"JS divergence from uniform (bits)", Score::kJsUniform}};

std::string plain_name(Score score) {
  const std::string_view plain = word_for(kPlainNames, score);
  std::string name(plain.empty() ? word_for(kScoreNames, score) : plain);
  std::ranges::replace(name, '_', ' ');
  return name;
}

}  // namespace

Heatmap heads_map(const HeadsDocument& document, Score score) {
  std::vector<std::optional<double>> values;
  for (std::size_t i = 0; i < document.heads.size(); ++i) {
    const std::optional<Estimate> found = document.raw.estimate(i, score);
    values.push_back(found ? std::optional(found->mean) : std::nullopt);
  }
  const std::string_view name = word_for(kScoreNames, score);
  if (std::ranges::none_of(values, [](const auto& value) { return value.has_value(); })) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format(
            "score {}: no head has it on {}{}", name, heads_title(document),
            score == Score::kRetrieval ? "; it needs sequences with exactly two copies" : ""),
        "score");
  }
  Heatmap map = head_map(document.heads, values, plain_name(score));
  map.masked_name = "no score";
  constexpr float kShares = 1.0F;
  map.scale.high = std::max(map.scale.high, kShares);
  map.title = "heads: " + heads_title(document);
  map.notes = document.notes;
  map.notes.push_back(largest_words(document, score));
  return map;
}

}  // namespace attnviz
