// What the heads of a model are called.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "attnviz/analysis/heads/score_table.h"
#include "attnviz/attention/request.h"
#include "attnviz/model/model.h"
#include "attnviz/text/tokenized_text.h"
#include "attnviz/text/tokenizers/model_tokenizer.h"

namespace attnviz {

/// Whether heads can earn a name on these texts: on probes of kShortestNamedProbe tokens or more,
/// on which a head that looks at all it sees alike stays below what random heads have. A narrow
/// window brings it to the bound. `uniform`: the scores of such a head.
bool is_judged(const HeadName& name, std::span<const TokenizedText> probes,
               const ScoreValues& uniform);

/// The names that a head with these scores earns there, in the order of kHeadNames.
std::vector<std::string_view> earned_names(const ScoreValues& scores,
                                           std::span<const TokenizedText> probes,
                                           const ScoreValues& uniform);

/// The names that all heads earn on the usual probes, by layer, head and kHeadNames. `tokenizer`
/// may be null. Throws what make_probes() and run() throw.
std::vector<NamedHead> measured_names(const Model& model, const ModelTokenizer* tokenizer,
                                      const AttentionRequest& request);

}  // namespace attnviz
