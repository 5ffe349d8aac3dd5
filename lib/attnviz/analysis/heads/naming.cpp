#include "attnviz/analysis/heads/naming.h"

#include <algorithm>
#include <string>

#include "attnviz/analysis/heads/probe.h"
#include "attnviz/analysis/heads/score_means.h"
#include "attnviz/analysis/heads/score_run.h"
#include "attnviz/attention/head_selection.h"
#include "attnviz/attention/visibility.h"

namespace attnviz {

bool is_judged(const HeadName& name, std::span<const TokenizedText> probes,
               const ScoreValues& uniform) {
  return uniform[name.score].value_or(0.0) < name.largest_random &&
         std::ranges::all_of(probes, [](const TokenizedText& probe) {
           return probe.size() >= kShortestNamedProbe;
         });
}

std::vector<std::string_view> earned_names(const ScoreValues& scores,
                                           std::span<const TokenizedText> probes,
                                           const ScoreValues& uniform) {
  std::vector<std::string_view> names;
  for (const HeadName& name : kHeadNames) {
    if (is_judged(name, probes, uniform) && name.is_earned_by(scores)) {
      names.push_back(name.name);
    }
  }
  return names;
}

std::vector<NamedHead> measured_names(const Model& model, const ModelTokenizer* tokenizer,
                                      const AttentionRequest& request) {
  AttentionRequest silent = request;
  silent.report = nullptr;
  const ProbeShape shape;
  const std::vector<TokenizedText> probes = make_probes(model, tokenizer, shape);
  const std::vector<HeadId> heads = select_heads(model, "", "");
  ScoreMeans means(heads.size());
  ScoreMeans uniform(1);
  double n_done = 0.0;
  for (const TokenizedText& probe : probes) {
    const ScoredTokens tokens = probe_tokens(probe, shape, kUsualBand);
    means.add(
        score_heads(model, probe, tokens, heads, {.attention = silent, .weighted = false}).raw);
    const ScoreValues alike =
        uniform_scores(tokens, shared_visibility(model, heads, request, tokens.size()));
    uniform.add(std::span(&alike, 1));
    if (request.report) {
      request.report(++n_done / static_cast<double>(probes.size()));
    }
  }
  const ScoreValues alike = uniform.means(0);
  std::vector<NamedHead> named;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    for (const std::string_view name : earned_names(means.means(i), probes, alike)) {
      named.push_back({heads[i].layer, heads[i].head, std::string(name)});
    }
  }
  return named;
}

}  // namespace attnviz
