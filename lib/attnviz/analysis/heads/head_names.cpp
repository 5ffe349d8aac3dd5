#include "attnviz/analysis/heads/head_names.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "attnviz/analysis/heads/probe.h"
#include "attnviz/analysis/heads/score_means.h"
#include "attnviz/analysis/heads/score_run.h"
#include "attnviz/attention/head_selection.h"
#include "attnviz/attention/visibility.h"
#include "attnviz/core/error.h"

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

namespace {

struct KnownHead {
  HeadId head;
  std::string_view name;
};

constexpr KnownHead kGpt2Heads[] = {{{2, 2}, "previous-token"},
                                    {{4, 11}, "previous-token"},
                                    {{0, 1}, "duplicate-token"},
                                    {{0, 10}, "duplicate-token"},
                                    {{3, 0}, "duplicate-token"},
                                    {{5, 5}, "induction"},
                                    {{5, 8}, "induction"},
                                    {{5, 9}, "induction"},
                                    {{6, 9}, "induction"},
                                    {{7, 3}, "S-inhibition"},
                                    {{7, 9}, "S-inhibition"},
                                    {{8, 6}, "S-inhibition"},
                                    {{8, 10}, "S-inhibition"},
                                    {{9, 6}, "name mover"},
                                    {{9, 9}, "name mover"},
                                    {{10, 0}, "name mover"},
                                    {{10, 7}, "negative name mover"},
                                    {{11, 10}, "negative name mover"},
                                    {{9, 0}, "backup name mover"},
                                    {{9, 7}, "backup name mover"},
                                    {{10, 1}, "backup name mover"},
                                    {{10, 2}, "backup name mover"},
                                    {{10, 6}, "backup name mover"},
                                    {{10, 10}, "backup name mover"},
                                    {{11, 2}, "backup name mover"},
                                    {{11, 9}, "backup name mover"}};

}  // namespace

void require_known(const Model& model, KnownModel /*known*/) {
  constexpr std::size_t kLayers = 12, kHeads = 12, kWidth = 768;
  const auto has_heads = [](const LayerWeights& layer) { return layer.heads.size() == kHeads; };
  if (model.config.family != "gpt2" || model.config.d_model != kWidth ||
      model.n_layers() != kLayers || !std::ranges::all_of(model.layers, has_heads)) {
    throw Error(ErrorKind::kUsage,
                fmt::format("known heads of gpt2: expected GPT-2 small (family gpt2, {} layers of "
                            "{} heads, d_model {}), found {}{} with {} layers of {} heads, "
                            "d_model {}",
                            kLayers, kHeads, kWidth, model.config.name,
                            model.config.family.empty() ? "" : " (" + model.config.family + ")",
                            model.n_layers(), model.n_heads(), model.config.d_model),
                "known");
  }
}

std::optional<std::string_view> known_name(KnownModel /*known*/, HeadId head) noexcept {
  const auto* const found = std::ranges::find(kGpt2Heads, head, &KnownHead::head);
  return found == std::end(kGpt2Heads) ? std::nullopt : std::optional(found->name);
}

std::string_view known_source(KnownModel /*known*/) noexcept {
  return "known heads: Wang et al. 2022, \"Interpretability in the Wild\"";
}

std::vector<HeadId> retrieval_heads(const Model& model, const ModelTokenizer* tokenizer,
                                    const AttentionRequest& request) {
  AttentionRequest silent = request;
  silent.report = nullptr;
  ProbeShape shape;
  shape.repeats = 2;
  const std::vector<TokenizedText> probes = make_probes(model, tokenizer, shape);
  const std::vector<HeadId> heads = select_heads(model, "", "");
  ScoreMeans means(heads.size());
  double n_done = 0.0;
  for (const TokenizedText& probe : probes) {
    means.add(score_heads(model, probe, probe_tokens(probe, shape, kUsualBand), heads,
                          {.attention = silent, .weighted = false})
                  .raw);
    if (request.report) {
      request.report(++n_done / static_cast<double>(probes.size()));
    }
  }
  std::vector<HeadId> found;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    if (means.means(i)[Score::kRetrieval].value_or(0.0) >= kLeastRetrieval) {
      found.push_back(heads[i]);
    }
  }
  return found;
}

}  // namespace attnviz
