#include "attnviz/analysis/heads/retrieval_heads.h"

#include "attnviz/analysis/heads/probe.h"
#include "attnviz/analysis/heads/score_means.h"
#include "attnviz/analysis/heads/score_run.h"
#include "attnviz/attention/head_selection.h"

namespace attnviz {

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
